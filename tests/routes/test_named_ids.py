"""Ids in bodies and queries: another's reads like one that nothing has.

Generated from the table.
"""

import copy
import json
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from tests.api import Api, Response
from tests.make import Make
from tests.routes.conftest import CURRENCY, Visitor
from tests.routes.hostile import Path, Schema, body_schema, places, resolved, right
from tests.routes.table import (
    MAKERS,
    WITH_A_QUERY,
    WRITES,
    body_for,
    every,
    examples,
    key_for,
    operation,
    path_for,
    without_request_id,
)
from tillhouse.app import App
from tillhouse.http.route import Route, Scope
from tillhouse.kit.ids import BookId

_TABLES = """
    SELECT i.table_name FROM information_schema.columns i
    JOIN information_schema.columns b USING (table_schema, table_name)
    WHERE i.table_schema = 'public' AND i.column_name = 'id' AND i.data_type = 'uuid'
        AND b.column_name = 'book_id'
"""
_BOOKS = "SELECT environment, id FROM books WHERE business_id = $1"

# A position in a list, which needs no row; of a line without a product, a note of the caller's.
_POSITIONS = {"cursor", "since"}
_NOTES = {"modifier_group_id", "modifier_option_id"}


def _places(route: Route) -> list[Path]:
    """Where in its body a route takes the id of something."""
    schema = body_schema(route)
    found = places(schema) if schema else ()
    ids = [path for path, part in found if resolved(part).get("format") == "uuid"]
    return [path for path in ids if path[-1] not in _NOTES]


def _parameters(route: Route) -> list[str]:
    """The parameters of its query that are ids."""
    named = [p for p in operation(route).get("parameters", []) if p["in"] == "query"]
    ids = [p["name"] for p in named if '"uuid"' in json.dumps(p["schema"])]
    return [name for name in ids if name not in _POSITIONS]


NAMING = [route for route in WRITES if _places(route)]
ASKING = [route for route in WITH_A_QUERY if _parameters(route)]


# At each place an id of the kind that it is for, or the ids of one row of every table.
KINDS = pytest.mark.parametrize(
    "is_of_any_kind",
    [
        pytest.param(False, id="of its kind"),
        pytest.param(True, id="of any kind", marks=pytest.mark.proof),
    ],
)


class Things(NamedTuple):
    """Ids of what one book has: what was made, by the name that a path has for it, and all rows."""

    made: dict[str, str]
    rows: set[str]


class Foreign:
    """Ids of what the visitor may not see."""

    def __init__(self, strangers: Things, live: Things) -> None:
        self._strangers = strangers
        self._live = live

    def ids(self, route: Route, name: str, *, is_of_any_kind: bool) -> set[str]:
        """A stranger's; for a key, those of the environment that it is not for as well."""
        for_keys = (self._strangers, self._live)
        books = for_keys if isinstance(route.guard, Scope) else for_keys[:1]
        kind = next((kind for kind in _BY_LENGTH if name.removesuffix("s").endswith(kind)), None)
        if kind is None or is_of_any_kind:
            return {id_ for things in books for id_ in things.rows}
        return {things.made[kind] for things in books}


# People are of both environments: another's alone are foreign, and those are among the rows.
_BY_LENGTH = sorted(MAKERS.keys() - {"user_id"}, key=len, reverse=True)


@pytest.fixture(scope="module")
async def foreign(app: App, visitor: Visitor) -> Foreign:
    """Made once: nothing that a test sends changes them."""
    stranger = await (await Make(app, app.services).business(currency=CURRENCY)).step_up()
    made = {name: await make(stranger, "test") for name, make in MAKERS.items()}
    made_live = {name: await make(visitor.business, "live") for name, make in MAKERS.items()}
    async with app.services.pool.transaction() as db:
        theirs = dict(await db.fetch(_BOOKS, stranger.id))
        own = dict(await db.fetch(_BOOKS, visitor.business.id))
    strangers = await _ids(app, theirs["test"])
    assert len(strangers) > len(MAKERS)
    people = {stranger.id, stranger.user_id}
    live = await _ids(app, own["live"])
    return Foreign(Things(made, strangers | people), Things(made_live, live))


async def _ids(app: App, book_id: BookId) -> set[str]:
    """The id of one row of each table that has one in this book."""
    found: set[str] = set()
    async with app.services.pool.transaction() as db:
        for row in await db.fetch(_TABLES):
            query: Any = f"SELECT id FROM {row[0]} WHERE book_id = $1 LIMIT 1"  # noqa: S608 - a table
            if (id_ := await db.fetchval(query, book_id)) is not None:
                found.add(str(id_))
    return found


@KINDS
@every(NAMING)
async def test_a_foreign_id_in_a_body_reads_like_an_unknown_one(
    route: Route, visitor: Visitor, foreign: Foreign, is_of_any_kind: bool
) -> None:
    """At every place that takes an id: the same refusal, whatever it is the id of."""
    api, path = visitor.api(route), await path_for(route, visitor.business)
    schema = body_schema(route)
    assert schema is not None
    described = operation(route)["requestBody"]["content"]["application/json"]
    for base in (await body_for(route, visitor.business), *examples(described)):
        for place in _places(route):
            unknown = await _answer(api, route, path, _with(schema, base, place, str(uuid4())))
            name = next(step for step in reversed(place) if isinstance(step, str))
            for id_ in foreign.ids(route, name, is_of_any_kind=is_of_any_kind):
                body = _with(schema, base, place, id_)
                assert await _answer(api, route, path, body) == unknown, (place, id_)


@KINDS
@every(ASKING)
async def test_a_foreign_id_in_a_query_reads_like_an_unknown_one(
    route: Route, visitor: Visitor, foreign: Foreign, is_of_any_kind: bool
) -> None:
    """Nothing is found by it, or it is refused in the same words."""
    api, path = visitor.api(route), await path_for(route, visitor.business)
    for name in _parameters(route):
        unknown = _told(await api.get(f"{path}?{name}={(id_ := str(uuid4()))}"), id_)
        for id_ in foreign.ids(route, name, is_of_any_kind=is_of_any_kind):
            assert _told(await api.get(f"{path}?{name}={id_}"), id_) == unknown, (name, id_)


async def _answer(api: Api, route: Route, path: str, body: tuple[Any, str]) -> Any:
    answer = await api.request(route.method, path, body[0], headers=key_for(route))
    assert 400 <= answer.status < 500, (body, answer)
    return _told(answer, body[1])


def _told(answer: Response, id_: str) -> Any:
    """The answer without what differs from request to request."""
    text = json.dumps(without_request_id(answer)).replace(id_, "(id)")
    return answer.status, json.loads(text)


def _with(schema: Schema, base: Any, place: Path, id_: str) -> tuple[Any, str]:
    """A body with an id at a place, and the id; what is missing around it is made up."""
    body = copy.deepcopy(base)
    holder, part = body, schema
    for step, following in zip(place, (*place[1:], None), strict=True):
        part = resolved(part)
        part = part["items"] if step == 0 else part["properties"][step]
        if following is None:
            holder[step] = id_
        elif step == 0:
            holder = holder[0]
        else:
            if not holder.get(step):
                holder[step] = right(part)
            holder = holder[step]
    return body, id_
