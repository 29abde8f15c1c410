"""Quotes: a stay costs what was quoted, to the minor unit."""

import random
from typing import Any

import pytest

from tests.hotel.house import HOTEL, House, dated, day
from tests.make import Business, Make

QUOTES = f"{HOTEL}/quotes"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


async def quotes(house: House, begins: int, ends: int, more: str = "") -> list[dict[str, Any]]:
    """The quotes of a stay."""
    answer = await house.api.get(f"{QUOTES}?from={day(begins)}&to={day(ends)}{more}", status=200)
    assert answer.json["meta"]["total"] >= len(answer.data)
    return answer.data


async def test_a_quote_shows_nights_and_taxes(house: House) -> None:
    """By the rate of the type first, then by each plan by its name."""
    plan = await house.made(
        "rate-plans", room_type_id=house.room_type_id, name="Breakfast", price=120,
        taxes=[{"name": "VAT", "rate": 10}, {"name": "City", "rate": 20, "is_inclusive": True}],
    )  # fmt: skip
    by_rate, by_plan = await quotes(house, 1, 3)
    room = {"roomTypeId": house.room_type_id, "roomTypeName": "Standard", "capacity": 2}
    assert by_rate == room | {
        "ratePlanId": None,
        "ratePlanName": None,
        "currency": by_rate["currency"],
        "nights": [{"date": day(n), "price": 100, "totalAmount": 100} for n in (1, 2)],
        "taxes": [],
        "totalAmount": 200,
    }
    assert by_plan == room | {
        "ratePlanId": plan["id"],
        "ratePlanName": "Breakfast",
        "currency": by_rate["currency"],
        "nights": [{"date": day(n), "price": 120, "totalAmount": 130} for n in (1, 2)],
        "taxes": [
            {"name": "VAT", "rate": 10, "isInclusive": False, "amount": 20, "taxableAmount": 200},
            {"name": "City", "rate": 20, "isInclusive": True, "amount": 40, "taxableAmount": 200},
        ],
        "totalAmount": 260,
    }


@pytest.mark.parametrize("seed", range(4))
async def test_a_booking_costs_what_was_quoted(business: Business, seed: int) -> None:
    """To the minor unit, whatever the prices of the week and the taxes are."""
    draw = random.Random(seed)  # noqa: S311 - a fixed seed
    house = await House.open(business, rate=draw.randint(1, 10**6) / 100)
    for number in range(3):
        prices = {name: draw.randint(0, 10**6) / 100 for name in WEEKDAYS if draw.random() < 0.5}
        taxes = [
            {"name": name, "rate": draw.randint(0, 3000) / 100, "is_inclusive": inside}
            for name, inside in (("VAT", False), ("City", True), ("Levy", draw.random() < 0.5))
        ]
        await house.made(
            "rate-plans", room_type_id=house.room_type_id, name=f"Plan {number}",
            price=draw.randint(1, 10**6) / 100, weekday_prices=prices, taxes=taxes,
        )  # fmt: skip
    begins = draw.randint(0, 30)
    ends = begins + draw.randint(1, 20)
    for quote in await quotes(house, begins, ends):
        stay = await house.book(begins, ends, rate_plan_id=quote["ratePlanId"])
        booked = [{"date": one["date"], "price": one["price"]} for one in quote["nights"]]
        assert (stay["totalAmount"], stay["nights"]) == (quote["totalAmount"], booked)
        await house.act(stay, "cancel")


async def test_quotes_are_picked(house: House, make: Make) -> None:
    """By type, by plan, by page; a deleted plan has none, and another business none of these."""
    other = await house.made("room-types", name="Suite", capacity=4, rate=300)
    plan = await house.made("rate-plans", room_type_id=other["id"], name="Flex", price=1)
    gone = await house.made("rate-plans", room_type_id=other["id"], name="Gone", price=2)
    await house.api.delete(f"{HOTEL}/rate-plans/{gone['id']}", status=200)

    async def found(more: str) -> list[tuple[str, str | None]]:
        shown = await quotes(house, 1, 2, more)
        return [(one["roomTypeName"], one["ratePlanName"]) for one in shown]

    assert await found("") == [("Standard", None), ("Suite", None), ("Suite", "Flex")]
    assert await found(f"&room_type_id={other['id']}") == [("Suite", None), ("Suite", "Flex")]
    assert await found(f"&rate_plan_id={plan['id']}") == [("Suite", "Flex")]
    assert await found(f"&rate_plan_id={plan['id']}&room_type_id={house.room_type_id}") == []
    assert await found("&limit=2&page=2") == [("Suite", "Flex")]
    stranger = await House.open(await make.business())
    assert await quotes(stranger, 1, 2, f"&room_type_id={other['id']}") == []
    [tonight] = (await stranger.api.get(QUOTES, status=200)).data
    assert [night["date"] for night in tonight["nights"]] == [day(0)]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("from=day:-1&to=day:2", {"from"}),
        ("from=day:3&to=day:3", {"to"}),
        ("from=day:3&to=day:1", {"to"}),
        ("to=day:0", {"to"}),
        ("from=day:1&to=day:367", {"to"}),
        ("from=day:729&to=day:731", {"to"}),
        ("from=day:1&to=day:366&limit=100", {"limit"}),
        ("from=2200-01-01", {"to"}),
        ("from=tomorrow&to=7", {"from", "to"}),
    ],
)
async def test_wrong_days_are_refused(house: House, query: str, fields: set[str]) -> None:
    """In the words of a booking; a year of a hundred quotes is asked for in parts."""
    answer = await house.api.get(f"{QUOTES}?{dated(query)}", status=422)
    assert answer.wrong_fields == fields, answer
