"""Ids in paths: what is not this caller's reads like what never was. Generated from the table."""

from uuid import uuid4

from tests.routes.conftest import Hidden, Visitor
from tests.routes.table import (
    WITH_IDS,
    WITH_NAMES,
    body_for,
    every,
    fill,
    without_request_id,
)
from tillhouse.http.route import Route, Scope
from tillhouse.kit.errors import Missing

NO_UUIDS = ["1", "x", "null", "%00", "{}", "..", uuid4().hex, f"{{{uuid4()}}}", f"{uuid4()}0"]


@every(WITH_IDS)
async def test_foreign_deleted_and_unknown_ids_read_alike(
    route: Route, visitor: Visitor, hidden: Hidden
) -> None:
    """Another business's, another environment's, a deleted and a random id: the same 404."""
    api, body = visitor.api(route), await body_for(route, visitor.business)
    name = next(s[1:-1] for s in route.path.split("/") if s.endswith("_id}"))
    ids = [str(uuid4()), *await hidden.ids(name)]
    if isinstance(route.guard, Scope):
        ids.append(await hidden.live(name))
    answers = [
        await api.request(route.method, fill(route, lambda _, i=i: i), body, status=404)
        for i in ids
    ]
    seen = [without_request_id(answer) for answer in answers]
    assert seen == [{"error": "not_found", "message": Missing().message}] * len(ids)


@every(WITH_NAMES)
async def test_an_id_that_is_no_uuid_is_not_found(route: Route, visitor: Visitor) -> None:
    """It names nothing: 404, the same as for an unknown one."""
    api, body = visitor.api(route), await body_for(route, visitor.business)
    for text in NO_UUIDS:
        path = fill(route, lambda _, text=text: text)
        answer = await api.request(route.method, path, body, status=404)
        assert without_request_id(answer) == {"error": "not_found", "message": Missing().message}
