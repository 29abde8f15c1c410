"""Availability: the rooms that are free, night by night."""

from datetime import date, timedelta

from asyncpg import Record

from tillhouse.access.call import Call
from tillhouse.hotel.availability import rules, store
from tillhouse.hotel.availability.types import Availability, AvailabilityQuery, TypeAvailability
from tillhouse.kit.errors import check

_NIGHTS = 14


async def show(call: Call, wanted: AvailabilityQuery) -> Availability:
    """How many rooms of each type are free each night."""
    asked = (
        wanted.since.day if wanted.since else None,
        wanted.until.day if wanted.until else None,
    )
    rows = await store.list_free(call.db, call.book.id, asked, wanted.room_type_id, call.now)
    today: date = rows[0]["today"]
    since = asked[0] or today
    until = asked[1] or since + timedelta(days=_NIGHTS)
    check(rules.day_errors(since, until, today))
    return Availability(
        check_in_date=since.isoformat(),
        check_out_date=until.isoformat(),
        room_types=[_shown(row, since, until) for row in rows if row["room_type_id"]],
    )


def _shown(row: Record, since: date, until: date) -> TypeAvailability:
    pairs = zip(row["check_ins"] or (), row["check_outs"] or (), row["counts"] or (), strict=True)
    stays = [stay for stay in pairs if stay[0] < until]
    rooms = row["rooms_count"] - row["out_of_service"]
    return TypeAvailability(
        room_type_id=row["room_type_id"],
        name=row["name"],
        capacity=row["capacity"],
        rate=row["rate"],
        rooms_count=row["rooms_count"],
        out_of_service=row["out_of_service"],
        nights=rules.free_nights(since, until, rooms, stays),
    )
