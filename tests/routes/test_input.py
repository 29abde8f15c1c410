"""The answers of a route to requests that it can't read. Generated from the route table."""

from typing import cast, get_origin

import pytest

from tests.make import Make
from tests.routes.conftest import Visitor
from tests.routes.table import (
    OF_KEYS,
    WITH_A_QUERY,
    WRITES,
    body_for,
    every,
    key_for,
    random_path,
)
from tillhouse.app import ROUTES
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.fields import fields_of, inner_type
from tillhouse.http.route import Route, Scope

PATHS = {route.path: route for route in ROUTES}
OTHER_TYPES = (
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/jsonp",
    "",
)
METHODS = ("GET", "POST", "PATCH", "PUT", "DELETE")


@every(WRITES)
async def test_an_unknown_body_field_is_named(route: Route, visitor: Visitor) -> None:
    """A typo must not pass in silence, also where no body is wanted."""
    api = visitor.api(route)
    body = {**await body_for(route, visitor.business), "surprise": 1}
    key = key_for(route)
    answer = await api.request(route.method, random_path(route), body, headers=key, status=422)
    assert answer.error == "validation_error"
    assert answer.wrong_fields == {"surprise"}


@every(ROUTES)
async def test_an_unknown_query_parameter_is_named(route: Route, visitor: Visitor) -> None:
    """The query is as strict as the body."""
    api = visitor.api(route)
    path = random_path(route) + "?surprise=1"
    body = await body_for(route, visitor.business)
    answer = await api.request(route.method, path, body, headers=key_for(route), status=422)
    assert answer.wrong_fields == {"surprise"}


@every(WITH_A_QUERY)
async def test_a_repeated_query_parameter_is_named(route: Route, visitor: Visitor) -> None:
    """Which of two values was meant, nobody can know; a list has both."""
    api = visitor.api(route)
    for name, field in fields_of(RouteHandler(route).query_type).items():
        path = f"{random_path(route)}?{name}=1&{name}=1"
        if get_origin(inner_type(field.type)) is list:
            once = await api.request(route.method, f"{random_path(route)}?{name}=1,1")
            twice = await api.request(route.method, path, status=once.status)
            assert twice.json.get("details") == once.json.get("details")
        else:
            answer = await api.request(route.method, path, status=422)
            assert answer.wrong_fields == {name}


@every([r for r in OF_KEYS if r.method != "GET" and not cast("Scope", r.guard).keys_only])
async def test_a_write_of_a_login_names_its_environment(route: Route, visitor: Visitor) -> None:
    """A sale that was meant as a test would count otherwise."""
    body = await body_for(route, visitor.business)
    owner, key = visitor.business.owner, key_for(route)
    answer = await owner.request(route.method, random_path(route), body, headers=key, status=422)
    assert answer.json["details"] == [
        {"field": "Service-Environment", "message": "is required: test or live"}
    ]


@every(WRITES)
async def test_a_body_that_is_no_json_is_refused(route: Route, visitor: Visitor) -> None:
    """Broken JSON is 400 with a place to look at."""
    api = visitor.api(route)
    for raw in (b'{"name": ', b"{'name': 1}", b"\xff", b"{} {}"):
        answer = await api.request(route.method, random_path(route), raw=raw, status=400)
        assert answer.error == "request_failed"


@every(WRITES)
async def test_a_body_of_another_type_is_refused(route: Route, visitor: Visitor) -> None:
    """Only application/json in UTF-8 is read."""
    api, body = visitor.api(route), await body_for(route, visitor.business)
    for declared in OTHER_TYPES:
        answer = await api.request(
            route.method, random_path(route), body, headers={"content-type": declared}, status=415
        )
        assert answer.error == "unsupported_media_type"


@pytest.mark.parametrize("path", sorted(PATHS))
async def test_a_wrong_method_is_told_the_right_ones(path: str, make: Make) -> None:
    """405 with Allow, before anybody asks for a credential."""
    known: set[str] = {route.method for route in ROUTES if route.path == path}
    known |= {"HEAD"} if "GET" in known else set()
    for method in (*METHODS, "HEAD", "OPTIONS"):
        if method not in known:
            answer = await make.anybody.request(method, random_path(PATHS[path]), status=405)
            assert method == "HEAD" or answer.error == "method_not_allowed"
            assert answer.headers["allow"] == ", ".join(sorted(known))


@pytest.mark.parametrize(
    "path",
    ["/v1", "/v2/voice/health", "/v1/voice/health/", "//v1/voice/health", "/api/developer", "/x"],
)
async def test_an_unknown_path_is_not_found(path: str, make: Make) -> None:
    """404 in the same envelope as everywhere."""
    answer = await make.anybody.get(path, status=404)
    assert answer.error == "not_found"
