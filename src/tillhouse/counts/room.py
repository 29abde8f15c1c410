"""The numbers that wait for somebody: the face of the room, and how they are counted."""

from typing import Any

import msgspec

from tillhouse.access.call import Call
from tillhouse.counts import store
from tillhouse.counts.types import Counts, readable
from tillhouse.http.route import Group, Route, Scope
from tillhouse.room import Room


async def show(call: Call) -> Counts:
    """The counts that the caller may read, in one statement."""
    names = sorted(readable(call.caller))
    row = await store.find_counts(call.db, call.book.id, names, call.now)
    told: dict[str, Any] = {
        name: msgspec.json.decode(value) if isinstance(value, str) else value
        for name, value in row.items()
        if value is not None
    }
    return msgspec.convert({_camel(name): value for name, value in told.items()}, Counts)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# Each role reads some of them.
_READ = Scope("orders:read", roles=("kitchen", "housekeeping"))

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/counts", show, _READ,
          "Count what waits for somebody, as far as the caller may read it", "Counts"),
)  # fmt: skip

ROOM = Room(
    name="counts",
    routes=ROUTES,
    groups=(Group("/v1/counts", "Counts", "The numbers that wait for somebody.", "orders"),),
)
