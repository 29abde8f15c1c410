"""HEAD: what GET would say, without its body."""

from typing import Any

import pytest

from tests.api import Api, Response
from tests.listening import Listening
from tests.make import Business, Make
from tests.routes.table import every, random_path
from tests.waiting import ended
from tillhouse.app import ROUTES
from tillhouse.http.route import Route

ORDERS = "/v1/orders"
GETS = [route for route in ROUTES if route.method == "GET"]
# Headers that differ from one answer to the next.
OWN = {"x-request-id"}


def lasting(answer: Response) -> dict[str, str]:
    """The headers that two equal requests have in common."""
    return {name: value for name, value in answer.headers.items() if name not in OWN}


async def compared(api: Api, path: str, **headers: str) -> Response:
    """The answer to HEAD, seen to be that of GET without its body."""
    got = await api.get(path, headers=headers)
    head = await api.request("HEAD", path, headers=headers)
    assert got.body
    assert head.body == b""
    assert head.status == got.status
    assert lasting(head) == lasting(got)
    return head


@every(GETS)
async def test_every_get_has_its_head(route: Route, make: Make) -> None:
    """Also who is refused hears so by status and headers."""
    await compared(make.anybody, random_path(route))


async def test_a_head_answers_as_get_would(business: Business) -> None:
    """Length and type of the body that GET would send; wrong queries and ids are refused."""
    client = await business.client("orders:read")
    head = await compared(client, ORDERS)
    assert head.status == 200
    assert int(head.headers["content-length"]) > 50
    assert head.headers["content-type"] == "application/json"
    assert (await compared(client, f"{ORDERS}?x=1")).status == 422
    assert (await compared(client, f"{ORDERS}/{business.id}")).status == 404
    assert (await compared(client, f"{ORDERS}/5")).status == 404


@pytest.mark.parametrize(
    "path", ["/", "/livez", "/readyz", "/docs", "/llms.txt", "/openapi.json", "/v1/nowhere"]
)
async def test_pages_and_what_is_nowhere_have_a_head(make: Make, path: str) -> None:
    """For every answer of a path."""
    await compared(make.anybody, path)


async def test_a_head_is_allowed_where_get_is(make: Make) -> None:
    """The header Allow says so, and a path without GET has no HEAD."""
    answer = await make.anybody.request("PUT", ORDERS, status=405)
    assert answer.headers["allow"] == "GET, HEAD, POST"
    answer = await make.anybody.request("HEAD", "/api/auth/login", status=405)
    assert answer.headers["allow"] == "POST"
    assert answer.body == b""


async def test_browsers_may_send_it(business: Business) -> None:
    """On the origins that a key lists, as with GET."""
    origin = {"origin": "https://shop.example.com"}
    asked = {**origin, "access-control-request-method": "HEAD"}
    answer = await business.anybody.request("OPTIONS", ORDERS, headers=asked, status=204)
    assert "HEAD" in answer.headers["access-control-allow-methods"].split(", ")
    client = await business.client("orders:read", allowed_origins=["shop.example.com"])
    head = await compared(client, ORDERS, **origin)
    assert head.headers["access-control-allow-origin"] == origin["origin"]


async def test_a_stream_has_a_head_that_ends(business: Business) -> None:
    """Its headers come at once, no event and no sign of life; no place is held."""
    client = await business.client("events:read")
    path = "/v1/events/stream"
    opened = Listening(client, path)
    assert await opened.status() == 200
    stream: dict[str, Any] = {"accept": "text/event-stream"}
    for _ in range(3):
        head = await ended(client.request("HEAD", path, headers=stream))
        assert (head.status, head.body) == (200, b"")
        assert lasting(head).keys() == opened.headers.keys() - OWN
        assert head.headers["content-type"] == "text/event-stream"
        assert "content-length" not in head.headers
    await opened.leave()
    assert (await compared(client, path)).headers["content-type"] == "application/json"
    wrong = await client.request("HEAD", f"{path}?since=1", headers=stream)
    assert wrong.status == 422


async def test_it_is_no_operation_of_the_description(make: Make) -> None:
    """Clients are made from it, and need no second way to read."""
    document = (await make.anybody.get("/openapi.json", status=200)).json
    assert not any("head" in operations for operations in document["paths"].values())
