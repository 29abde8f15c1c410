"""Books that a benchmark fills by statements: rows that could have come through the API."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import date
from typing import Any

import asyncpg
import pytest
from bench.bare_bookings import bookings

from bench import hotel_filling, inbox, kept, world

pytestmark = pytest.mark.proof

_HOUSE = hotel_filling.House(rooms=20, stays=400, days=3, past=10)
_HOTEL = kept.Plan("hotel", (), lambda db, book_id, _: hotel_filling.fill(db, book_id, _HOUSE))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A database with a hotel and an inbox."""
    with world.database() as address:
        asyncio.run(_fill(address))
        yield address


async def _fill(url: str) -> None:
    for plan in (_HOTEL, inbox.PLAN):
        async with world.services(url) as services:
            business = await world.business(services)
        await kept.fill(url, business["id"], plan, 1_000)


@pytest.fixture
async def filled(url: str) -> AsyncIterator[asyncpg.Connection]:
    """A look into it."""
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


_WRONG = """
    SELECT v.id FROM hotel_reservations v
    LEFT JOIN hotel_rooms r ON r.book_id = v.book_id AND r.id = v.room_id
        AND r.room_type_id = v.room_type_id
    LEFT JOIN hotel_guests g ON g.book_id = v.book_id AND g.id = v.guest_id
        AND g.name = v.guest_name
    LEFT JOIN customers c ON c.book_id = g.book_id AND c.id = g.customer_id
    WHERE r.id IS NULL OR c.id IS NULL
        OR jsonb_array_length(v.nights) <> v.check_out_on - v.check_in_on
        OR v.status = 'booked' AND v.check_in_on <= current_date
        OR v.status <> 'booked' AND v.check_in_on > current_date
"""


async def test_a_filled_hotel_could_be_one(filled: asyncpg.Connection) -> None:
    """Each stay has its room, guest and nights; each room one guest, and stays before and after."""
    assert await filled.fetch(_WRONG) == []
    found = await filled.fetchrow(
        """
        SELECT count(*) AS stays, count(*) FILTER (WHERE status = 'booked') AS booked,
            count(DISTINCT room_id) FILTER (WHERE status = 'checked_in') AS in_house,
            count(*) FILTER (WHERE status = 'checked_in') AS guests,
            count(DISTINCT check_in_on) FILTER (WHERE status = 'checked_in') AS days,
            count(*) FILTER (WHERE is_room_chosen) BETWEEN 1 AND 100 AS has_chosen
        FROM hotel_reservations
        """
    )
    assert found is not None
    assert dict(found) == {
        "stays": 400, "booked": 180, "in_house": 20, "guests": 20, "days": 3, "has_chosen": True,
    }  # fmt: skip
    assert await filled.fetchval("SELECT count(*) FROM hotel_service_requests") == 200


async def test_a_filled_inbox_could_be_one(filled: asyncpg.Connection) -> None:
    """Each conversation has its message, and what is unread is open."""
    found = await filled.fetchrow(
        """
        SELECT count(*) AS conversations, count(m.id) AS messages, count(DISTINCT status) AS kinds,
            count(*) FILTER (WHERE unread_count > 0 AND status <> 'open') AS wrong
        FROM conversations c
        LEFT JOIN messages m ON m.book_id = c.book_id AND m.conversation_id = c.id
        WHERE c.customer_phone LIKE '+234803%'
        """
    )
    assert found is not None
    assert dict(found) == {"conversations": 1_000, "messages": 1_000, "kinds": 3, "wrong": 0}


def test_no_two_bookings_that_are_measured_meet() -> None:
    """Types, guests and days go round, each at its own pace."""
    scene: dict[str, Any] = {
        "day": "2026-11-23",
        "types": ["one", "two"],
        "guests": ["a", "b", "c"],
    }
    every = bookings(scene)
    made = [next(every) for _ in range(6)]
    assert [(one["room_type_id"], one["guest_id"], one["check_in_date"]) for one in made] == [
        ("one", "a", "2026-11-23"), ("two", "b", "2026-11-23"),
        ("one", "c", "2026-11-24"), ("two", "a", "2026-11-24"),
        ("one", "b", "2026-11-25"), ("two", "c", "2026-11-25"),
    ]  # fmt: skip
    for one in made:
        nights = date.fromisoformat(one["check_out_date"]) - date.fromisoformat(
            one["check_in_date"]
        )
        assert nights.days == 1
