"""The totals of the list of stays come from tallies, and are what a count of the stays says."""

import asyncio
import random
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import asyncpg
import pytest

from tests.hotel.house import STAYS, House, day
from tests.lists import read_all
from tillhouse.access.process import Services
from tillhouse.hotel.reservations.store.tallies import STAY_TALLIES
from tillhouse.jobs.chores import fold

_STATUSES = ("booked", "checked_in", "checked_out", "cancelled", "no_show")
# From yesterday back over two and a half years.
_MANY, _EARLIEST = 900, -930
_FITTING = """
    SELECT count(*) FROM hotel_reservations WHERE book_id = $1
        AND status = ANY(coalesce(string_to_array($2::text, ','), ARRAY[status]))
        AND check_in_on::text BETWEEN coalesce($3, check_in_on::text)
            AND coalesce($4, check_in_on::text)
        AND check_out_on::text BETWEEN coalesce($5, check_out_on::text)
            AND coalesce($6, check_out_on::text)
"""
_PARAMETERS = ("status", "from", "to", "departs_from", "departs_to")


async def _filled(house: House, sql: asyncpg.Connection) -> UUID:
    """Many stays of one room that are over, added and then changed by one statement each."""
    first = await house.book(ends=1)
    book_id = await sql.fetchval(
        "SELECT book_id FROM hotel_reservations WHERE id::text = $1", first["id"]
    )
    await sql.execute(_STAYS_OVER, book_id, _MANY)
    await sql.execute(_NO_SHOWS, book_id)
    await sql.execute(_LONGER, book_id)
    return book_id


def _queries() -> list[dict[str, str]]:
    """Days of arrival, of departure, and of both, each with statuses and without."""
    chance = random.Random(4)  # noqa: S311 - any ranges will do, but always the same
    queries: list[dict[str, str]] = [{}, {"to": "2200-12-31"}, {"from": "1900-01-01"}]
    for sides in (("",), ("departs_",), ("", "departs_")):
        for length in (0, 1, 20, 40, 100, 400, 2_000):
            query: dict[str, str] = {}
            for side in sides:
                begins = chance.randint(_EARLIEST, 5)
                until = f"{side}to"
                query[f"{side}from" if side else "from"] = day(begins)
                query[until] = day(begins + length)
            queries += [query, dict([*query.items()][:1]), dict([*query.items()][-1:])]
    queries.append({"from": day(3), "to": day(-3)})
    return [
        named
        for query in queries
        for named in (query, {**query, "status": ",".join(chance.sample(_STATUSES, 2))})
    ]


@pytest.mark.proof
async def test_totals_are_what_a_count_says(
    house: House, services: Services, sql: asyncpg.Connection
) -> None:
    """Before changes are folded, after, and with changes of both kinds together."""
    book_id = await _filled(house, sql)
    for _ in range(2):
        for query in _queries():
            wanted = await sql.fetchval(_FITTING, book_id, *map(query.get, _PARAMETERS))
            answer = await house.api.get(f"{STAYS}?{urlencode(query)}", status=200)
            assert answer.json["meta"]["total"] == wanted, query
        await fold(services.pool, STAY_TALLIES)
        await sql.execute(_LONGER, book_id)


async def test_every_step_of_a_stay_is_tallied(house: House, services: Services) -> None:
    """Each status has those that a look at all stays finds there, also when many come at once."""
    gone = await house.book(ends=1)
    await house.act(gone, "check-in")
    await house.act(gone, "undo-check-in")
    await house.act(gone, "cancel")
    missed = await house.book(ends=1)
    await house.act(missed, "no-show")
    await house.act(missed, "reinstate")
    here = await house.book(ends=1)
    await house.act(here, "check-in")
    await fold(services.pool, STAY_TALLIES)
    later = await house.book(10, 12)
    changed = {"check_in_date": day(40), "check_out_date": day(44)}
    await house.api.patch(f"{STAYS}/{later['id']}", changed, status=200)
    await asyncio.gather(*(house.book(100 + n, 101 + n) for n in range(12)))
    every = await read_all(house.api, STAYS, limit=7)
    assert len(every) == 16
    seen = {status: [stay for stay in every if stay["status"] == status] for status in _STATUSES}
    assert {status: len(stays) for status, stays in seen.items()} == {
        "booked": 14, "checked_in": 1, "checked_out": 0, "cancelled": 1, "no_show": 0,
    }  # fmt: skip
    for status, stays in seen.items():
        assert await read_all(house.api, f"{STAYS}?status={status}", limit=7) == stays
    [moved] = await read_all(house.api, f"{STAYS}?from={day(10)}&to={day(40)}")
    assert moved["id"] == later["id"]


async def test_pages_are_found_from_both_ends(house: House, sql: asyncpg.Connection) -> None:
    """Each stay is on one page, in the order of the list, also where a count finds them."""
    book_id = await _filled(house, sql)
    ids = [
        str(row["id"])
        for row in await sql.fetch(
            "SELECT id FROM hotel_reservations WHERE book_id = $1 ORDER BY id DESC", book_id
        )
    ]
    guest: dict[str, Any] = {"guest_id": house.guest_id}
    for query in ({}, guest):
        found = await read_all(house.api, f"{STAYS}?{urlencode(query)}", limit=97)
        assert [stay["id"] for stay in found] == ids


_STAYS_OVER = """
    INSERT INTO hotel_reservations (book_id, id, short_code, status, guest_id, guest_name,
        room_type_id, room_id, adults, children, check_in_on, check_out_on, nights, taxes,
        total_amount, deposit_amount, currency, source, created_at, updated_at)
    SELECT v.book_id, new_id(now() + interval '1 second' * n), 'N' || lpad(n::text, 7, '0'),
        CASE WHEN n % 5 = 0 THEN 'cancelled' ELSE 'checked_out' END, v.guest_id, v.guest_name,
        v.room_type_id, v.room_id, 1, 0, v.check_in_on - n, v.check_in_on - n + 1 + n % 9,
        v.nights, v.taxes, v.total_amount, 0, v.currency, v.source, now(), now()
    FROM (SELECT * FROM hotel_reservations WHERE book_id = $1 LIMIT 1) v
    CROSS JOIN generate_series(1, $2::integer) n
"""
_NO_SHOWS = """
    UPDATE hotel_reservations SET status = 'no_show'
    WHERE book_id = $1 AND status = 'checked_out' AND extract(day FROM check_in_on) = 3
"""
_LONGER = """
    UPDATE hotel_reservations SET check_out_on = check_out_on + 1, notes = 'One night more'
    WHERE book_id = $1 AND status = 'no_show'
"""
