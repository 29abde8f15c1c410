"""A check-in that was a mistake is taken back, as long as it has cost nothing."""

import asyncio

from tests.calls import calling
from tests.folios.lodge import SETTINGS, Lodge, at
from tests.orders.shop import ORDERS
from tillhouse.folios import audits

AT_ONCE = 20
ROUNDS = 3


async def test_a_check_in_is_taken_back(lodge: Lodge) -> None:
    """The guest is expected as before, and moves in another time; only that is an event."""
    stay = await lodge.book()
    await lodge.act(stay, "check-in")
    undone = await lodge.act(stay, "undo-check-in")
    assert undone.status == 200
    assert undone.data == stay | {"updatedAt": undone.data["updatedAt"]}
    assert (await lodge.room_of(stay))["reservationId"] is None
    assert "is booked" in (await lodge.act(stay, "undo-check-in")).json["message"]
    assert (await lodge.act(stay, "check-in")).status == 200
    events = {name: many for name, many in (await lodge.events()).items() if "hotel" in name}
    assert events == {"hotel.reservation.created": 1, "hotel.reservation.checked_in": 2}
    query = "SELECT count(*) FROM audit_events WHERE event_type = $1 AND metadata ->> $2 = $3"
    told = ("hotel_reservation.check_in_undone", "reservation_id", stay["id"])
    assert await lodge.sql.fetchval(query, *told) == 1


async def test_another_moves_in_instead(lodge: Lodge) -> None:
    """The wrong one of two guests of a room was checked in: now the right one is."""
    wrong = await lodge.book(0, 1)
    right = await lodge.book(0, 1)
    await lodge.act(wrong, "check-in")
    await lodge.act(wrong, "undo-check-in")
    assert (await lodge.act(wrong, "cancel")).status == 200
    move = {"room_id": wrong["roomId"]}
    assert (await lodge.act(right, "move", **move)).status == 200
    assert (await lodge.act(right, "check-in")).status == 200


async def test_money_and_charges_stay(lodge: Lodge) -> None:
    """A deposit is unspent as before, and supper is owed: the stay is still to come."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 30)
    await lodge.pay(stay, 50)
    before = await lodge.folio(stay)
    await lodge.act(stay, "undo-check-in")
    after = await lodge.folio(stay)
    assert after == before | {"status": "booked"}
    assert (await lodge.api.get(f"{ORDERS}/{order['id']}", status=200)).data[
        "status"
    ] != "cancelled"


async def test_a_night_that_was_charged_is_not_undone(lodge: Lodge) -> None:
    """The refusal says what to do instead; neither is a stay that is over."""
    stay = await lodge.arrive(2)
    await lodge.pay(stay, 100)
    assert (await lodge.audit(1)).audits[0].nights == 1
    refused = await lodge.act(stay, "undo-check-in")
    assert (refused.status, "check the guest out instead" in refused.json["message"]) == (400, True)
    await lodge.leave(stay)
    assert "is checked_out" in (await lodge.act(stay, "undo-check-in")).json["message"]


async def test_twenty_undo_it_at_once(lodge: Lodge) -> None:
    """One does, and the audit that comes at the same moment charges a night or none."""
    await lodge.api.patch(SETTINGS, {"no_show": "keep"}, status=200)
    for _ in range(ROUNDS):
        stay = await lodge.arrive(2, room_id=await lodge.room())
        steps = [lodge.act(stay, "undo-check-in") for _ in range(AT_ONCE)]
        _, *answers = await asyncio.gather(_charge_night(lodge), *steps)
        undone = [answer.status for answer in answers].count(200)
        assert {answer.status for answer in answers} <= {200, 400}
        assert undone + await _nights(lodge, stay) == 1
        wanted = "booked" if undone else "checked_in"
        assert (await lodge.read(stay))["status"] == wanted
        await lodge.act(stay, "cancel" if undone else "check-out", **_leaves(undone))


def _leaves(undone: int) -> dict[str, bool]:
    return {} if undone else {"leave_as_debt": True}


async def _charge_night(lodge: Lodge) -> None:
    """Audit the day anew, as a worker would in the morning."""
    await lodge.sql.execute("DELETE FROM hotel_audits WHERE book_id = $1", lodge.book_id)
    async with calling(lodge.services, lodge.business) as call:
        call.now = at(1, 4)
        await audits.run(call)


async def _nights(lodge: Lodge, stay: dict[str, str]) -> int:
    query = "SELECT count(*) FROM folio_nights WHERE reservation_id = $1::text::uuid"
    return await lodge.sql.fetchval(query, stay["id"])
