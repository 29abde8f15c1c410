"""A guest who did not come, and comes after all: expected again, or checked in at once."""

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.hotel.house import HOTEL, STAYS, House, day
from tests.make import Business
from tillhouse.hotel.reservations import rules
from tillhouse.hotel.reservations.types import Reservation
from tillhouse.kit.errors import Refused

AT_ONCE = 20
ROUNDS = 3

Body = dict[str, Any]


async def absent(house: House, ends: int = 2, **fields: Any) -> Body:
    """A stay to which nobody came."""
    stay = await house.book(0, ends, **fields)
    return (await house.act(stay, "no-show")).data


async def test_a_no_show_is_expected_again(house: House, sql: asyncpg.Connection) -> None:
    """As it was booked, in its room; the audit log tells of it, and no event does."""
    stay = await house.book(0, 3, deposit_amount=50, notes="Late")
    await house.act(stay, "no-show")
    again = await house.act(stay, "reinstate")
    assert again.status == 200
    assert again.data == stay | {"updatedAt": again.data["updatedAt"]}
    refused = await house.act(stay, "reinstate")
    assert refused.json["message"].startswith("The reservation is booked")
    assert await house.told() == ["hotel.reservation.created"]
    query = "SELECT count(*) FROM audit_events WHERE business_id = $1 AND event_type = $2"
    told = "hotel_reservation.reinstated"
    assert await sql.fetchval(query, UUID(house.business.id), told) == 1


async def test_a_room_that_was_given_away_is_another_one(house: House) -> None:
    """Also where the very room was chosen: nobody can have that any more."""
    room_id = (await house.book(9, 10))["roomId"]
    stay = await absent(house, room_id=room_id)
    await house.book(room_id=room_id)
    again = (await house.act(stay, "reinstate")).data
    assert (again["roomNumber"], again["isRoomChosen"]) == ("102", False)
    other = await absent(house, 1, room_id=await house.room("103"))
    kept = (await house.act(other, "reinstate")).data
    assert (kept["roomNumber"], kept["isRoomChosen"]) == ("103", True)


async def test_a_house_that_is_full_says_so(house: House) -> None:
    """The stay is a no-show as before; what is cancelled leaves room for it."""
    stay = await absent(house)
    others = [await house.book(), await house.book(1, 3)]
    refused = await house.act(stay, "reinstate")
    assert refused.status == 400
    assert "No room of this type is free any more" in refused.json["message"]
    assert await house.read(stay) == stay
    await house.act(others[1], "cancel")
    assert (await house.act(stay, "reinstate")).status == 200


async def test_others_change_rooms_for_it(house: House) -> None:
    """As for a booking: each night has a room, though none is free throughout."""
    stay = await absent(house, 5)
    early = await house.book(0, 2)
    between = await house.book(0, 3)
    late = await house.book(3, 5)
    await house.act(between, "cancel")
    assert early["roomId"] != late["roomId"]
    assert (await house.act(stay, "reinstate")).status == 200
    assert (await house.read(early))["roomId"] == (await house.read(late))["roomId"]


async def test_a_no_show_is_checked_in(house: House) -> None:
    """In one step, once, with its event; a room that isn't ready leaves all as it was."""
    stay = await absent(house)
    path = f"{HOTEL}/rooms/{stay['roomId']}"
    await house.api.patch(path, {"status": "dirty"}, status=200)
    refused = await house.act(stay, "check-in")
    assert "allow_dirty" in refused.json["message"]
    assert await house.read(stay) == stay
    answers = await asyncio.gather(
        *(house.act(stay, "check-in", allow_dirty=True) for _ in range(10))
    )
    assert sorted(answer.status for answer in answers) == [200] + [400] * 9
    here = await house.read(stay)
    assert (here["status"], here["noShowAt"]) == ("checked_in", None)
    assert len(await house.told("reservation.checked_in")) == 1


async def test_what_is_over_stays_over(house: House, sql: asyncpg.Connection) -> None:
    """A stay that has ended, one that is cancelled, and one of a guest who was deleted."""
    stay, gone = await absent(house), await house.book()
    shift = """
        UPDATE hotel_reservations SET check_in_on = check_in_on - 5, check_out_on = check_out_on - 5
        WHERE id = $1::text::uuid
    """
    await sql.execute(shift, stay["id"])
    for verb in ("reinstate", "check-in"):
        refused = await house.act(stay, verb)
        assert refused.json["message"] == f"The stay ended on {day(-3)}: book anew."
    await house.act(gone, "cancel")
    for verb in ("reinstate", "check-in"):
        assert "is cancelled" in (await house.act(gone, verb)).json["message"]
    person = {"name": "Bola", "phone_number": "+2348030000002"}
    stay = await absent(house, guest_id=None, guest=person)
    await house.api.delete(f"{HOTEL}/guests/{stay['guestId']}", status=200)
    for verb in ("reinstate", "check-in"):
        refused = await house.act(stay, verb)
        assert (refused.status, refused.json["message"][:21]) == (400, "The guest was deleted")


@pytest.mark.parametrize("verb", ["reinstate", "check-in"])
async def test_it_races_bookings_of_the_same_room(business: Business, verb: str) -> None:
    """Twenty of each want the only room that is left: it is promised to one of them."""
    house = await House.open(business, rooms=0)
    winners: list[str] = []
    for number in range(ROUNDS):
        stay = await absent(house, room_id=await house.room())
        body = house.stay(room_id=stay["roomId"])
        calls = [house.act(stay, verb) for _ in range(AT_ONCE)]
        others = [house.api.post(STAYS, body) for _ in range(AT_ONCE)]
        asked = [*calls, *others] if number % 2 else [*others, *calls]
        answers = await asyncio.gather(*asked)
        assert {answer.status for answer in answers} <= {200, 201, 400}
        (won,) = [answer.data for answer in answers if answer.status < 300]
        query = f"status=booked,checked_in&room_id={stay['roomId']}"
        listed = (await house.api.get(f"{STAYS}?{query}", status=200)).data
        assert [one["id"] for one in listed] == [won["id"]]
        winners.append(won["id"])
    assert len(set(winners)) == ROUNDS


async def test_the_database_judges_last(house: House, sql: asyncpg.Connection) -> None:
    """A no-show isn't booked again in a room that somebody has, even if a program says so."""
    stay = await absent(house)
    await house.book(room_id=stay["roomId"])
    update = "UPDATE hotel_reservations SET status = 'booked' WHERE id = $1::text::uuid"
    with pytest.raises(asyncpg.ExclusionViolationError, match="hotel_reservations_room_taken"):
        await sql.execute(update, stay["id"])


@pytest.mark.parametrize(
    ("hour", "is_late"), [("2026-03-02T00:30", False), ("2026-03-02T11:59", False),
                          ("2026-03-02T12:00", True), ("2026-03-03T00:30", True)],
)  # fmt: skip
@pytest.mark.parametrize("status", ["booked", "no_show"])
async def test_a_night_lasts_until_noon(
    house: House, hour: str, is_late: bool, status: str
) -> None:
    """Somebody who comes after midnight has the night that they booked."""
    booked = await house.book()
    stay = msgspec.structs.replace(
        msgspec.convert({**booked}, Reservation, strict=False),
        status=status, check_in_date="2026-03-01", check_out_date="2026-03-02",
    )  # fmt: skip
    days = rules.arrival_days("UTC", datetime.fromisoformat(hour).replace(tzinfo=UTC))
    if is_late:
        with pytest.raises(Refused, match="The stay ended on 2026-03-02"):
            rules.check_arrival(stay, days)
    else:
        rules.check_arrival(stay, days)
