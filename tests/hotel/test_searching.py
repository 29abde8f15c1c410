"""A search of stays by names finds the newest thousand, and all where there are fewer."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.hotel.house import STAYS, House, day
from tests.lists import read_all
from tillhouse.access.process import Services
from tillhouse.hotel.reservations.store.reading import ReservationQuery
from tillhouse.hotel.reservations.store.searching import RESERVATION_SEARCH as SEARCH

MANY = 2_600
ADA = ReservationQuery(code="ADA", words="'ada':*", letters=["ada"])


@pytest.fixture
async def book_id(house: House, sql: asyncpg.Connection) -> UUID:
    """Half of the stays are of guests called Ada, seven old ones of a Zuri."""
    first = await house.book()
    book_id = await sql.fetchval(
        "SELECT book_id FROM hotel_reservations WHERE id::text = $1", first["id"]
    )
    await sql.execute(_STAYS, book_id, MANY)
    await sql.execute("ANALYZE hotel_reservations")
    return book_id


async def _named(sql: asyncpg.Connection, book_id: UUID, name: str, **fields: Any) -> list[str]:
    """The stays of guests of a name, the newest first: a plain look at all of them."""
    rows = await sql.fetch(
        """
        SELECT id FROM hotel_reservations WHERE book_id = $1 AND guest_name ILIKE $2
            AND status = ANY(coalesce($3, ARRAY[status]))
            AND check_in_on::text >= coalesce($4, check_in_on::text)
        ORDER BY id DESC
        """,
        book_id, f"%{name}%", fields.get("statuses"), fields.get("since"),
    )  # fmt: skip
    return [str(row["id"]) for row in rows]


async def _found(house: House, query: str) -> list[str]:
    return [stay["id"] for stay in await read_all(house.api, f"{STAYS}?{query}")]


async def test_frequent_words_find_the_newest_thousand(
    house: House, book_id: UUID, sql: asyncpg.Connection
) -> None:
    """Of all, and of those that fit otherwise."""
    every = await _named(sql, book_id, "ada")
    assert len(every) == MANY / 2
    assert await _found(house, "search=ada") == every[:1000]
    both = ["cancelled", "checked_out"]
    assert (
        await _found(house, "search=Ada&status=cancelled,checked_out,cancelled")
        == (await _named(sql, book_id, "ada", statuses=both))[:1000]
    )
    late = await _named(sql, book_id, "ada", statuses=["cancelled"], since=day(-100))
    assert 0 < len(late) < 100
    assert await _found(house, f"search=ada&status=cancelled&from={day(-100)}") == late
    assert await _found(house, "search=ada&status=no_show") == []


async def test_rare_words_find_all(house: House, book_id: UUID, sql: asyncpg.Connection) -> None:
    """Also where none of the newest stays has them; a code is found as before."""
    every = await _named(sql, book_id, "zuri")
    assert len(every) == 7
    assert await _found(house, "search=zuri") == every
    assert await _found(house, "search=obi+zuri") == (await _named(sql, book_id, "zuri obi"))
    assert await _found(house, f"search=zuri&to={day(-1)}") == every
    assert await _found(house, f"search=zuri&from={day(1)}") == []
    assert await _found(house, "search=nobody") == []
    assert await _found(house, "search=n0000003") == [
        str(await sql.fetchval(
            "SELECT id FROM hotel_reservations WHERE book_id = $1 AND short_code = 'N0000003'",
            book_id,
        ))
    ]  # fmt: skip


async def test_both_ways_find_the_same(
    book_id: UUID, services: Services, sql: asyncpg.Connection
) -> None:
    """By the words, and in the order of the list."""
    wanted = [UUID(one) for one in await _named(sql, book_id, "ada")][:1000]
    async with services.pool.reading() as db:
        for find in (SEARCH.find_among_newest, SEARCH.find_by_words):
            assert await find(db, book_id, ADA) == wanted


_STAYS = """
    INSERT INTO hotel_reservations (book_id, id, short_code, status, guest_id, guest_name,
        room_type_id, room_id, adults, children, check_in_on, check_out_on, nights, taxes,
        total_amount, deposit_amount, currency, source, created_at, updated_at)
    SELECT v.book_id, new_id(now() + interval '1 second' * n), 'N' || lpad(n::text, 7, '0'),
        CASE WHEN n % 4 < 2 THEN 'cancelled' ELSE 'checked_out' END, v.guest_id,
        CASE WHEN n % 2 = 0 THEN 'Ada' WHEN n < 14 THEN 'Zuri' ELSE 'Bola' END
            || CASE WHEN n % 3 = 0 THEN ' Obi' ELSE ' Eze' END,
        v.room_type_id, v.room_id, 1, 0, v.check_in_on - n, v.check_out_on - n, v.nights, v.taxes,
        v.total_amount, 0, v.currency, v.source, now(), now()
    FROM (SELECT * FROM hotel_reservations WHERE book_id = $1 LIMIT 1) v
    CROSS JOIN generate_series(1, $2::integer) n
"""
