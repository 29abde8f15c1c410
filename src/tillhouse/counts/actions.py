"""Count open work."""

from typing import Any

import msgspec

from tillhouse.access.call import Call
from tillhouse.counts import store
from tillhouse.counts.rules import readable
from tillhouse.counts.types import Counts


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
