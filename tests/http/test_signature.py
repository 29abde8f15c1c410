"""From a function of a room to an operation: its parameters, its faults, its result."""

from typing import Any, cast
from uuid import UUID, uuid4

import msgspec
import pytest

from tillhouse.access.call import AnonymousCall, Call
from tillhouse.http.answer import remarked
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.route import Method, Open, Reply, Route
from tillhouse.http.signature import NoBody, NoQuery, signature_of
from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import Page, PageOf, meta

NOTHING: Any = None
CALL = cast("Call", AnonymousCall(db=NOTHING, services=NOTHING, now=NOTHING, request_id="", ip=""))


class Thing(msgspec.Struct):
    """A struct to send or to ask with."""

    size: int = 1


async def show(call: Call, thing_id: UUID) -> Thing:
    """Give the thing itself."""
    return Thing(2)


async def find(call: Call, wanted: Thing) -> PageOf[Thing]:
    """Give a page."""
    return PageOf([wanted], meta(Page(), 7))


async def put(call: Call, thing_id: UUID, part_id: UUID, thing: Thing, loud: str = "") -> Thing:
    """Take two ids and a body; what has a default is for other callers."""
    return Thing(thing.size + 1)


async def answer(call: Call) -> Reply[Thing]:
    """Say more than the data."""
    return Reply(Thing(), message="Twice", extra={"success": True})


async def take_two(call: Call, first: Thing, second: Thing) -> Thing:
    """Take more than a request has."""
    return first


async def take_text(call: Call, text: str) -> str:
    """Take what is no struct."""
    return text


async def of_part(call: Call, part_id: UUID, thing: Thing) -> list[FieldError]:
    """Name what it was given."""
    return [FieldError(str(part_id), str(thing.size))]


async def of_other(call: Call, other_id: UUID, thing: Thing) -> list[FieldError]:
    """Want a name that the path lacks."""
    return []


def row(method: Method, path: str, handler: Any, **more: Any) -> Route:
    """A row of a table."""
    return Route(method, path, handler, Open(), "Do it", "Done", **more)


def test_a_struct_is_the_query_of_a_read_and_the_body_of_a_write() -> None:
    """The parameter may have any name."""
    read, write = (
        RouteHandler(row("GET", "/things", find)),
        RouteHandler(row("POST", "/things", find)),
    )
    assert (read.query_type, read.body_type) == (Thing, NoBody)
    assert (write.query_type, write.body_type) == (NoQuery, Thing)


async def test_what_a_handler_returns_becomes_a_reply() -> None:
    """Data as they are, a page with its meta, and a reply as it is."""
    plain = signature_of(row("GET", "/things/{thing_id}", show))
    assert plain.data is Thing
    assert await plain.reply(CALL, uuid4()) == Reply(Thing(2))
    page = signature_of(row("GET", "/things", find))
    assert page.data == list[Thing]
    assert await page.reply(CALL, Thing(5)) == Reply([Thing(5)], meta(Page(), 7))
    own = signature_of(row("GET", "/things", answer))
    assert own.data is Thing
    assert await own.reply(CALL) == await answer(CALL)


async def test_remarks_of_a_call_follow_the_message() -> None:
    """Each is said once, of the reply and of the one after the commit."""
    call = msgspec.structs.replace(CALL, remarks=[])
    call.remark("So it is.")
    call.remark("So it is.")

    async def after() -> Reply[Thing]:
        return Reply(Thing(), message="Paid.")

    told = remarked(Reply(Thing(), after=after), "Done", call.remarks)
    assert told.message == "Done. So it is."
    assert told.after is not None
    assert (await told.after()).message == "Paid. So it is."


async def test_faults_take_what_they_need_of_the_handlers_arguments() -> None:
    """The second of two names, and the body."""
    path = "/things/{thing_id}/parts/{part_id}"
    read = signature_of(row("PUT", path, put, faults=of_part))
    assert read.path == {"thing_id": UUID, "part_id": UUID}
    assert read.faults is not None
    part_id = uuid4()
    found = await read.faults(CALL, uuid4(), part_id, Thing(9))
    assert found == [FieldError(str(part_id), "9")]


@pytest.mark.parametrize("handler", [take_two, take_text, show])
def test_a_handler_that_a_request_can_not_serve_is_found_at_the_start(handler: Any) -> None:
    """Two structs, something else than a struct, a name that the path lacks."""
    with pytest.raises(TypeError, match="handler takes"):
        signature_of(row("POST", "/things", handler))


def test_faults_that_the_handler_can_not_serve_are_found_at_the_start() -> None:
    """A name that the path lacks would be missing only when a body is wrong."""
    path = "/things/{thing_id}/parts/{part_id}"
    with pytest.raises(TypeError, match="other_id"):
        signature_of(row("PUT", path, put, faults=of_other))
