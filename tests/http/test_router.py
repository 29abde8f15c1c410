"""The router: from a path to its endpoint."""

from uuid import UUID

import pytest

from tillhouse.access.call import Call
from tillhouse.http.api import Router
from tillhouse.http.route import Method, Open, Route
from tillhouse.kit.errors import Missing, WrongMethod


async def plain(call: Call) -> str:
    """Take nothing."""
    return ""


async def one(call: Call, thing_id: UUID) -> str:
    """Take an id."""
    return str(thing_id)


async def two(call: Call, thing_id: UUID, part_id: UUID) -> str:
    """Take two ids."""
    return f"{thing_id} {part_id}"


def router() -> Router:
    """Things with parts, one fixed name among the ids, and a dead end."""
    return Router(
        [
            Route("GET", "/things", plain, Open(), "Do it", "Done"),
            Route("POST", "/things", plain, Open(), "Do it", "Done"),
            Route("GET", "/things/{thing_id}", one, Open(), "Do it", "Done"),
            Route("DELETE", "/things/{thing_id}", one, Open(), "Do it", "Done"),
            Route("GET", "/things/summary", plain, Open(), "Do it", "Done"),
            Route("POST", "/things/{thing_id}/parts/{part_id}", two, Open(), "Do it", "Done"),
            Route("GET", "/things/summary/parts/totals", plain, Open(), "Do it", "Done"),
            Route("GET", "/v1/parts", plain, Open(), "Do it", "Done"),
        ]
    )


@pytest.mark.parametrize(
    ("method", "path", "template", "values"),
    [
        ("GET", "/things", "/things", {}),
        ("POST", "/things", "/things", {}),
        ("GET", "/things/5", "/things/{thing_id}", {"thing_id": "5"}),
        ("GET", "/things/{}", "/things/{thing_id}", {"thing_id": "{}"}),
        ("GET", "/things/summary", "/things/summary", {}),
        (
            "POST",
            "/things/5/parts/6",
            "/things/{thing_id}/parts/{part_id}",
            {"thing_id": "5", "part_id": "6"},
        ),
        (
            "POST",
            "/things/summary/parts/6",
            "/things/{thing_id}/parts/{part_id}",
            {"thing_id": "summary", "part_id": "6"},
        ),
    ],
)
def test_a_path_finds_its_endpoint(
    method: str, path: str, template: str, values: dict[str, str]
) -> None:
    """A fixed name wins over a parameter, and a dead end is walked back."""
    endpoint, found = router().find(method, path)
    assert (endpoint.route.path, found) == (template, values)


@pytest.mark.parametrize(
    "path",
    ["", "/", "//", "/thing", "/things/", "/things//", "/things/5/", "/things/5/parts", "things",
     "/things/5/parts/", "//things", "/THINGS", "/{}", "/things/5/parts/6/7", "/things/summary/x"],
)  # fmt: skip
def test_other_paths_are_missing(path: str) -> None:
    """No slash is added or taken away, no case is guessed."""
    with pytest.raises(Missing):
        router().find("GET", path)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/things/", "/things"),
        ("//things", "/things"),
        ("/THINGS", "/things"),
        ("/thing", "/things"),
        ("/tihngs/5", "/things/{thing_id}"),
        ("/things/5/part/6", "/things/{thing_id}/parts/{part_id}"),
        ("/parts", "/v1/parts"),
        ("/things/5/parts", None),
        ("/things/5/part/6/7", None),
        ("/thing/5/part/6", None),
        ("/wp-login.php", None),
        ("/", None),
        ("/thing" + "/" * 10_000, None),
        ("/" + "things" * 10_000, None),
    ],
)
def test_a_mistyped_path_is_told_the_one_that_was_meant(path: str, meant: str | None) -> None:
    """One name of it, its slashes or its version; a far-fetched guess helps nobody."""
    with pytest.raises(Missing) as caught:
        router().find("GET", path)
    told = f" Did you mean {meant}?" if meant else ""
    assert caught.value.message == (
        f"There is nothing at this path.{told} The API is described at /docs."
    )


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "get", "", "DELETE"])
def test_a_wrong_method_names_the_right_ones(method: str) -> None:
    """For the header Allow."""
    with pytest.raises(WrongMethod) as caught:
        router().find(method, "/things")
    assert caught.value.allowed == ("GET", "HEAD", "POST")


def test_what_can_be_read_has_a_head() -> None:
    """It leads to the same endpoint; a path that only takes has none."""
    assert router().find("HEAD", "/things/5")[0].route.method == "GET"
    with pytest.raises(WrongMethod) as caught:
        router().find("HEAD", "/things/5/parts/6")
    assert caught.value.allowed == ("POST",)


def test_deep_paths_cost_no_more_than_their_length() -> None:
    """Ten thousand segments are walked off the tree at the first."""
    with pytest.raises(Missing):
        router().find("GET", "/things" * 10_000)


def test_a_route_stands_in_the_table_once() -> None:
    """Two handlers for one operation are a mistake of ours."""
    with pytest.raises(ValueError, match="twice"):
        Router([Route("GET", "/things", plain, Open(), "Do it", "Done")] * 2)
    with pytest.raises(ValueError, match="twice"):
        Router([Route("GET", "/things/{thing_id}", one, Open(), "Do it", "Done")] * 2)


@pytest.mark.parametrize("path", ["/things", "/things/{other_id}", "/things/{thing_id}/{x}"])
def test_a_handler_takes_what_its_path_names(path: str) -> None:
    """Found out at the start, not at the first request."""
    method: Method = "GET"
    with pytest.raises(TypeError, match="handler takes"):
        Router([Route(method, path, one, Open(), "Do it", "Done")])
