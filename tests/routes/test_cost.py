"""No request holds the event loop: the most expensive ones of each route, made from the table."""

import pytest

from tests.api import Api
from tests.held_loop import HELD_S, held_s, note
from tests.routes.conftest import Visitor
from tests.routes.hostile import bodies, queries
from tests.routes.table import WITH_A_QUERY, WRITES, every, name_of, random_path
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Route

pytestmark = pytest.mark.proof


async def asked_s(api: Api, route: Route, kind: str, query: str = "", raw: bytes = b"") -> float:
    """How long such a request of the route holds the loop."""
    path = random_path(route) + (f"?{query}" if query else "")
    seconds = await held_s(lambda: api.request(route.method, path, raw=raw))
    note(name_of(route), kind, seconds)
    return seconds


@every(WRITES)
async def test_no_body_holds_the_loop(route: Route, visitor: Visitor) -> None:
    """Each text, list and number of the body, as long as a body can be."""
    api = visitor.api(route)
    slow = {
        kind: took_s
        for kind, raw in bodies(route)
        if (took_s := await asked_s(api, route, kind, raw=raw)) > HELD_S
    }
    assert not slow, (name_of(route), slow)


@every(WITH_A_QUERY)
async def test_no_query_holds_the_loop(route: Route, visitor: Visitor) -> None:
    """Each parameter of the query, as long as a head can be."""
    names = list(RouteHandler(route).query_type.__struct_fields__)
    slow = {
        kind: took_s
        for kind, query in queries(names)
        if (took_s := await asked_s(visitor.api(route), route, kind, query)) > HELD_S
    }
    assert not slow, (name_of(route), slow)
