"""The limits of a book's rooms hold where many come at once."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.hotel.house import HOTEL, House
from tillhouse.hotel.rates.rules import RATE_PLANS_MAX
from tillhouse.hotel.rooms.rules import ROOM_TYPES_MAX, ROOMS_MAX

AT_ONCE = 12
LEFT = 3

# So many rows more, of the same kind as the first one there is.
FILL = {
    "room-types": """
        INSERT INTO hotel_room_types
            SELECT (jsonb_populate_record(NULL::hotel_room_types, to_jsonb(t)
            || jsonb_build_object('id', gen_random_uuid(), 'name', 'Type ' || n))).*
        FROM (SELECT * FROM hotel_room_types WHERE book_id = $1 LIMIT 1) t,
            generate_series(1, $2) n
    """,
    "rooms": """
        INSERT INTO hotel_rooms SELECT (jsonb_populate_record(NULL::hotel_rooms, to_jsonb(t)
            || jsonb_build_object('id', gen_random_uuid(), 'number', 'N' || n))).*
        FROM (SELECT * FROM hotel_rooms WHERE book_id = $1 LIMIT 1) t, generate_series(1, $2) n
    """,
    "rate-plans": """
        INSERT INTO hotel_rate_plans
            SELECT (jsonb_populate_record(NULL::hotel_rate_plans, to_jsonb(t)
            || jsonb_build_object('id', gen_random_uuid(), 'name', 'Plan ' || n))).*
        FROM (SELECT * FROM hotel_rate_plans WHERE book_id = $1 LIMIT 1) t,
            generate_series(1, $2) n
    """,
}
MOST = {"room-types": ROOM_TYPES_MAX, "rooms": ROOMS_MAX, "rate-plans": RATE_PLANS_MAX}
Body = Callable[[list[str], int], dict[str, Any]]
BODIES: dict[str, Body] = {
    "room-types": lambda _, n: {"name": f"New {n}", "capacity": 2, "rate": 1},
    "rooms": lambda types, n: {"room_type_id": types[n % 2], "number": f"New {n}"},
    "rate-plans": lambda types, n: {"room_type_id": types[n % 2], "name": f"New {n}", "price": 1},
}


@pytest.mark.parametrize("what", FILL)
async def test_no_limit_is_passed_together(
    house: House, sql: asyncpg.Connection, what: str
) -> None:
    """Of twelve at once for whom three places are left, of two room types, three get in."""
    other = (await house.made("room-types", name="Suite", capacity=2, rate=1))["id"]
    types = [house.room_type_id, other]
    await house.made("rate-plans", room_type_id=other, name="Flex", price=1)
    business = UUID(house.business.id)
    query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'"
    book_id = await sql.fetchval(query, business)
    path = f"{HOTEL}/{what}"

    async def total() -> int:
        return (await house.api.get(f"{path}?limit=1", status=200)).json["meta"]["total"]

    await sql.execute(FILL[what], book_id, MOST[what] - LEFT - await total())
    body = BODIES[what]
    answers = await asyncio.gather(
        *(house.api.post(path, body(types, number)) for number in range(AT_ONCE))
    )
    assert sorted(answer.status for answer in answers) == [201] * LEFT + [409] * (AT_ONCE - LEFT)
    assert {answer.error for answer in answers if answer.status == 409} == {"limit_reached"}
    assert await total() == MOST[what]
