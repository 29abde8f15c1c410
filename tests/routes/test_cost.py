"""No request holds the event loop: the most expensive ones of each route, made from the table."""

import asyncio

from tests.api import Api
from tests.held_loop import longest_stretch
from tests.routes.conftest import Visitor
from tests.routes.hostile import bodies, queries
from tests.routes.table import WITH_A_QUERY, WRITES, every, name_of, random_path
from tests.yardstick import slower_processor
from tillhouse.http.endpoint import Endpoint
from tillhouse.http.route import Route

HELD_S = 0.1
# The processor's own time differs as well: the best of these counts.
TRIES = 4


async def held_s(api: Api, route: Route, query: str, raw: bytes) -> float:
    """How long the request holds the loop, on a machine as quick as the yardstick's."""
    best_s = float("inf")
    path = random_path(route) + (f"?{query}" if query else "")
    for _ in range(TRIES):
        with longest_stretch() as longest:
            answer = await asyncio.create_task(api.request(route.method, path, raw=raw))
        assert answer.status < 500, answer
        is_slow = longest.seconds > HELD_S
        best_s = min(best_s, longest.seconds / (slower_processor() if is_slow else 1))
        if best_s <= HELD_S:
            break
    return best_s


@every(WRITES)
async def test_no_body_holds_the_loop(route: Route, visitor: Visitor) -> None:
    """Each text, list and number of the body, as long as a body can be."""
    api = visitor.api(route)
    slow = {
        kind: took_s
        for kind, raw in bodies(route)
        if (took_s := await held_s(api, route, "", raw)) > HELD_S
    }
    assert not slow, (name_of(route), slow)


@every(WITH_A_QUERY)
async def test_no_query_holds_the_loop(route: Route, visitor: Visitor) -> None:
    """Each parameter of the query, as long as a head can be."""
    names = list(Endpoint(route).query_type.__struct_fields__)
    slow = {
        kind: took_s
        for kind, query in queries(names)
        if (took_s := await held_s(visitor.api(route), route, query, b"")) > HELD_S
    }
    assert not slow, (name_of(route), slow)
