"""A customer or guest who is expected, or in the house, is there until the stay ends."""

import asyncio
from typing import Any

import pytest

from tests.hotel.house import HOTEL, STAYS, House

CUSTOMERS = "/v1/customers"


async def delete(house: House, stay: dict[str, Any], expect: int | None = None) -> Any:
    """The answer to deleting the customer that the guest of a stay is."""
    return await house.api.delete(f"{CUSTOMERS}/{stay['customerId']}", status=expect)


@pytest.mark.parametrize("is_here", [False, True])
async def test_an_expected_customer_is_not_deleted(house: House, is_here: bool) -> None:
    """The refusal says what to do; once that is done, the customer can go."""
    stay = await house.book(check_in=is_here)
    refused = await delete(house, stay, 409)
    assert "cancel those stays first, or check them out" in refused.json["message"]
    await house.api.get(f"{CUSTOMERS}/{stay['customerId']}", status=200)
    verb = "check-out" if is_here else "cancel"
    body = {"leave_as_debt": True} if is_here else {}
    assert (await house.act(stay, verb, **body)).status == 200
    await delete(house, stay, 200)


async def test_a_guest_goes_with_the_customer(house: House) -> None:
    """Nobody books for them any more; a customer who comes back is new, and so is the guest."""
    stay = await house.book()
    await house.act(stay, "cancel")
    await delete(house, stay, 200)
    await house.api.get(f"{HOTEL}/guests/{house.guest_id}", status=404)
    assert (await house.api.post(STAYS, house.stay(), status=422)).wrong_fields == {"guest_id"}
    again = {"name": "Chinedu Eze", "phone_number": "+2348030000001"}
    new = await house.book(guest_id=None, guest=again)
    assert new["customerId"] != stay["customerId"]
    assert new["guestId"] != stay["guestId"]
    assert (await house.read(stay))["guestName"] == "Chinedu Eze"


@pytest.mark.parametrize("path", [f"{CUSTOMERS}/{{customerId}}", f"{HOTEL}/guests/{{guestId}}"])
async def test_bookings_race_a_deletion(house: House, path: str) -> None:
    """Either somebody expects the guest, or the guest is gone and nobody does."""
    outcomes: set[bool] = set()
    for number in range(8):
        for _ in range(4):
            await house.room()
        person = {"name": "Bola", "phone_number": f"+23480300001{number:02}"}
        stay = await house.book(guest_id=None, guest=person)
        await house.act(stay, "cancel")
        body = house.stay(guest_id=stay["guestId"])
        deletion = house.api.delete(path.format(**stay))
        bookings = [house.api.post(STAYS, body) for _ in range(4)]
        gone, *made = await asyncio.gather(
            *([deletion, *bookings] if number % 2 else [*bookings, deletion])
        )
        if not number % 2:
            made, gone = [gone, *made[:-1]], made[-1]
        is_booked = any(answer.status == 201 for answer in made)
        assert gone.status in {200, 400, 409}
        assert (gone.status == 200) is not is_booked, [answer.status for answer in made]
        assert {answer.status for answer in made} <= {201, 400, 409, 422}
        outcomes.add(is_booked)
    assert outcomes
