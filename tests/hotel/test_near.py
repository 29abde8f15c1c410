"""Stays near the days of a booking: enough of them are read, and no more."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.explaining import plan_of
from tests.hotel.house import House
from tests.make import Business
from tillhouse.access.process import Services
from tillhouse.hotel.assignment import store
from tillhouse.hotel.assignment.rules import WantedDays, assign, connected
from tillhouse.hotel.availability.rules import free_nights
from tillhouse.hotel.availability.store import list_free
from tillhouse.hotel.availability.types import FreeNight
from tillhouse.hotel.reservations.store.tallies import STAY_TALLIES
from tillhouse.jobs.chores import fold
from tillhouse.kit.ids import BookId, new_id

TODAY = datetime.now(UTC).date()
ROOMS = 4


class Corridor:
    """Four rooms of a type, with stays that follow each other for two years."""

    def __init__(self, sql: asyncpg.Connection, book_id: BookId, type_id: UUID) -> None:
        self.sql = sql
        self.book_id = book_id
        self.type_id = type_id

    @classmethod
    async def open(cls, business: Business, sql: asyncpg.Connection, seed: int) -> "Corridor":
        """Stays of one to six nights; two in ten keep their rooms."""
        house = await House.open(business, rooms=ROOMS)
        first = await house.book(0, 1)
        book_id = await sql.fetchval(
            "SELECT book_id FROM hotel_reservations WHERE id = $1::text::uuid", first["id"]
        )
        corridor = cls(sql, BookId(book_id), UUID(house.room_type_id))
        rng = random.Random(seed)  # noqa: S311 - the same draws every time
        for room_id in await corridor.rooms():
            day = 1 + rng.randrange(4)
            while day < 700:
                until = day + rng.randrange(1, 7)
                await corridor.add(room_id, day, until, is_room_chosen=rng.random() < 0.2)
                day = until + rng.randrange(3)
        return corridor

    async def rooms(self) -> list[UUID]:
        """The rooms, by number."""
        rows = await self.sql.fetch(
            "SELECT id FROM hotel_rooms WHERE book_id = $1 ORDER BY number", self.book_id
        )
        return [row["id"] for row in rows]

    async def add(self, room_id: UUID, begins: int, ends: int, *, is_room_chosen: bool) -> None:
        """A booking as it would have come through the API."""
        await self.sql.execute(
            _STAY, self.book_id, new_id(), str(new_id()), room_id,
            TODAY + timedelta(days=begins), TODAY + timedelta(days=ends), is_room_chosen,
        )  # fmt: skip


@pytest.mark.parametrize("near", [0, 1, 3, 40])
async def test_the_database_agrees_with_every_move(
    business: Business, services: Services, sql: asyncpg.Connection, near: int
) -> None:
    """However few stays are looked at: no stay that was not read is in the way."""
    corridor = await Corridor.open(business, sql, near)
    rng = random.Random(near)  # noqa: S311 - the same draws every time
    rooms, moved = await corridor.rooms(), 0
    for _ in range(60):
        since = rng.randrange(700)
        until = since + rng.randrange(1, 12)
        days = TODAY + timedelta(days=since), TODAY + timedelta(days=until)
        async with services.pool.reading() as db:
            stays = await store.list_near(db, corridor.book_id, {corridor.type_id: near}, *days)
        near_them = connected(stays.get(corridor.type_id, []), *days)
        found = assign(rooms, near_them, [WantedDays(*days)])
        if found is None:
            continue
        change = sql.transaction()
        await change.start()
        await store.update_rooms(
            sql,
            corridor.book_id,
            found.moves,
            datetime.now(UTC),  # type: ignore[arg-type]
        )
        await corridor.add(found.rooms[0], since, until, is_room_chosen=False)
        await change.rollback()
        moved += len(found.moves)
    assert moved or not near


async def test_nights_are_counted_as_stays_are_counted_one_by_one(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """Any days of two years: stays across either edge, of one night and beyond the last.

    Some of them are folded into the tallies, some were written, moved or cancelled since.
    """
    corridor = await Corridor.open(business, sql, 11)
    await fold(services.pool, STAY_TALLIES)
    await sql.execute(_CANCELLED, corridor.book_id)
    await sql.execute(_LONGER, corridor.book_id)
    rows = await sql.fetch(
        "SELECT check_in_on, check_out_on FROM hotel_reservations "
        "WHERE book_id = $1 AND status = 'booked'",
        corridor.book_id,
    )
    rng = random.Random(11)  # noqa: S311 - the same draws every time
    for length in (1, 2, 7, 30, 365):
        since = TODAY + timedelta(days=rng.randrange(700))
        days = [since + timedelta(days=number) for number in range(length)]
        async with services.pool.reading() as db:
            asked = since, since + timedelta(days=length)
            (row,) = await list_free(db, corridor.book_id, asked, 14, None, datetime.now(UTC))
        taken = [sum(begins <= day < ends for begins, ends in rows) for day in days]
        shown = [day.isoformat() for day in days]
        changes = zip(row["days"] or (), row["changes"] or (), strict=True)
        assert free_nights(shown, ROOMS, changes) == [
            FreeNight(day, count, ROOMS - count) for day, count in zip(shown, taken, strict=True)
        ]
        assert row["stays"] == sum(begins < asked[1] and ends > since for begins, ends in rows)


_CANCELLED = """
    UPDATE hotel_reservations SET status = 'cancelled', cancelled_at = now()
    WHERE book_id = $1 AND status = 'booked' AND hashtext(id::text) % 5 = 0
"""
_LONGER = """
    UPDATE hotel_reservations v SET check_out_on = check_out_on + 1
    WHERE book_id = $1 AND status = 'booked' AND hashtext(id::text) % 7 = 0 AND NOT EXISTS (
        SELECT FROM hotel_reservations n WHERE n.book_id = $1 AND n.room_id = v.room_id
            AND n.status = 'booked' AND n.check_in_on = v.check_out_on)
"""


async def test_stays_of_other_times_are_not_read(
    business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """Of two years those of some days and their neighbours, at either end and in the middle."""
    corridor = await Corridor.open(business, sql, 7)
    await sql.execute("VACUUM ANALYZE hotel_reservations")
    every = await sql.fetchval(
        "SELECT count(*) FROM hotel_reservations WHERE book_id = $1", corridor.book_id
    )
    for begins in (0, 350, 690):
        days = TODAY + timedelta(days=begins), TODAY + timedelta(days=begins + 7)
        async with services.pool.reading() as db:
            plan = await plan_of(
                db,
                lambda asked, days=days: store.list_near(
                    asked, corridor.book_id, {corridor.type_id: 10}, *days
                ),
            )
        assert rows_read(plan) < 100 < every / 4


def rows_read(node: dict[str, Any]) -> int:
    """How many stays a plan reads, over and over as it may."""
    own = (
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        if node.get("Relation Name") == "hotel_reservations"
        else 0
    )
    return own + sum(rows_read(child) for child in node.get("Plans", ()))


_STAY = """
    INSERT INTO hotel_reservations (book_id, id, short_code, status, guest_id, guest_name,
        room_type_id, room_id, adults, children, check_in_on, check_out_on, nights, taxes,
        total_amount, deposit_amount, currency, source, is_room_chosen, created_at, updated_at)
    SELECT book_id, $2, $3, 'booked', guest_id, guest_name, room_type_id, $4, 1, 0, $5, $6, nights,
        taxes, total_amount, 0, currency, source, $7, now(), now()
    FROM hotel_reservations WHERE book_id = $1 LIMIT 1
"""
