"""Availability: the rooms that are free, night by night, and throughout."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.hotel.assignment.actions import Unsure, count_throughout
from tillhouse.hotel.assignment.rules import stays_max
from tillhouse.hotel.availability import rules, store
from tillhouse.hotel.availability.types import (
    Availability,
    AvailabilityQuery,
    FreeNight,
    TypeAvailability,
)
from tillhouse.hotel.rates.rules import nights_between
from tillhouse.kit.errors import check

_NIGHTS = 14


async def show(call: Call, wanted: AvailabilityQuery) -> Availability:
    """How many rooms of each type are free each night, and on all of them."""
    asked = (
        wanted.since.day if wanted.since else None,
        wanted.until.day if wanted.until else None,
    )
    rows = await store.list_free(
        call.db, call.book.id, asked, _NIGHTS, wanted.room_type_id, call.now
    )
    since, until = rows[0]["since"], rows[0]["until"]
    check(rules.day_errors(since, until, rows[0]["today"]))
    types = [row for row in rows if row["room_type_id"]]
    shown = [night.isoformat() for night in nights_between(since, until)]
    nights = {row["room_type_id"]: _nights(row, shown) for row in types}
    throughout = await count_throughout(call, _unsure(types, nights), since, until)
    return Availability(
        check_in_date=since.isoformat(),
        check_out_date=until.isoformat(),
        room_types=[
            TypeAvailability(
                room_type_id=row["room_type_id"],
                name=row["name"],
                capacity=row["capacity"],
                rate=row["rate"],
                rooms_count=row["rooms_count"],
                out_of_service=row["out_of_service"],
                free_throughout=max(row["empty"], throughout.get(row["room_type_id"], 0)),
                nights=nights[row["room_type_id"]],
            )
            for row in types
        ],
    )


def _nights(row: Record, shown: Sequence[str]) -> list[FreeNight]:
    changes = zip(row["days"] or (), row["changes"] or (), strict=True)
    return rules.free_nights(shown, row["rooms_count"] - row["out_of_service"], changes)


def _unsure(types: Sequence[Record], nights: dict[UUID, list[FreeNight]]) -> dict[UUID, Unsure]:
    """The types of which more rooms might be had than are empty, with the most that might."""
    found: dict[UUID, Unsure] = {}
    for row in types:
        most = min(row["unkept"], *(night.free for night in nights[row["room_type_id"]]))
        rooms = row["rooms_count"] - row["out_of_service"]
        if most > row["empty"] and row["stays"] <= stays_max(rooms):
            found[row["room_type_id"]] = Unsure(rooms, most)
    return found
