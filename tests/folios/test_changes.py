"""Another guest, rate plan or deposit of a stay, and the money that is on its way meanwhile."""

import asyncio
import secrets
from typing import Any

from tests.folios.lodge import STAYS, Body, Lodge, day
from tests.hotel.house import HOTEL

VAT, LEVY = [{"name": "VAT", "rate": 10}], [{"name": "Levy", "rate": 5}]


async def _change(lodge: Lodge, stay: Body, status: int = 200, **body: Any) -> Any:
    return await lodge.api.patch(f"{STAYS}/{stay['id']}", body, status=status)


async def _guest(lodge: Lodge) -> Body:
    number = f"+234803{secrets.randbelow(10**7):07}"
    return await lodge.made("guests", name="Ngozi Obi", phone_number=number)


async def _plan(lodge: Lodge, name: str, price: float, **fields: Any) -> str:
    plan = await lodge.made(
        "rate-plans", room_type_id=lodge.room_type_id, name=name, price=price, **fields
    )
    return plan["id"]


async def _noted(lodge: Lodge) -> list[str]:
    rows = await lodge.sql.fetch(
        """
        SELECT metadata::text AS said FROM audit_events
        WHERE business_id = $1::text::uuid AND event_type = 'hotel_reservation.changed'
        ORDER BY sequence
        """,
        lodge.business.id,
    )
    return [row["said"] for row in rows]


async def test_a_booking_gets_another_guest(lodge: Lodge) -> None:
    """Found by the new name, to be confirmed anew; what comes in is the new guest's."""
    stay = await lodge.book()
    await lodge.sql.execute("UPDATE hotel_reservations SET confirmed_at = now()")
    other = await _guest(lodge)
    after = (await _change(lodge, stay, guest_id=other["id"])).data
    assert (after["guestName"], after["customerId"]) == ("Ngozi Obi", other["customerId"])
    assert after["confirmedAt"] is None
    found = await lodge.api.get(f"{STAYS}?search=ngozi", status=200)
    assert [one["id"] for one in found.data] == [stay["id"]]
    assert (await lodge.pay(stay, 50))["customerId"] == other["customerId"]
    (said,) = await _noted(lodge)
    assert other["id"] in said
    assert stay["guestId"] in said
    # Naming the same guest once more changes nothing, whatever was paid.
    assert (await _change(lodge, stay, guest_id=other["id"])).data["guestId"] == other["id"]
    assert len(await _noted(lodge)) == 1


async def test_money_and_orders_hold_the_guest(lodge: Lodge) -> None:
    """Handed back and cancelled, they no longer do."""
    stay, other = await lodge.book(), await _guest(lodge)
    await lodge.pay(stay, 50)
    refused = await _change(lodge, stay, 400, guest_id=other["id"])
    assert "money or orders of Chinedu Eze" in refused.json["message"]
    await lodge.give_back(stay, 50)
    order = await lodge.charge(stay, 20)
    await _change(lodge, stay, 400, guest_id=other["id"])
    await lodge.api.patch(f"/v1/orders/{order['id']}", {"status": "cancelled"}, status=200)
    assert (await _change(lodge, stay, guest_id=other["id"])).data["guestId"] == other["id"]


async def test_once_the_guest_is_here_guest_and_deposit_stay(lodge: Lodge) -> None:
    """The same ones may be sent again; unknown ones, and amounts too fine, are faults."""
    stay, other = await lodge.book(deposit_amount=30), await _guest(lodge)
    wrong = await _change(
        lodge, stay, 422, guest_id=stay["id"], deposit_amount=0.001, rate_plan_id=stay["id"]
    )
    assert wrong.wrong_fields == {"guest_id", "deposit_amount", "rate_plan_id"}
    await lodge.act(stay, "check-in")
    wrong = await _change(lodge, stay, 422, guest_id=other["id"], deposit_amount=40)
    assert wrong.wrong_fields == {"guest_id", "deposit_amount"}
    await _change(lodge, stay, guest_id=stay["guestId"], deposit_amount=30)
    assert await _noted(lodge) == []


async def test_the_deposit_says_what_a_link_asks_for(lodge: Lodge) -> None:
    """More or less; null asks for nothing."""
    stay = await lodge.book(deposit_amount=30)
    link = await lodge.link(stay)
    assert link["amount"] == 30
    assert (await _change(lodge, stay, deposit_amount=80)).data["depositAmount"] == 80
    api = await lodge.business.client("payment_links:read")
    read = (await api.get(f"/v1/payment-links/{link['id']}", status=200)).data
    assert read["amount"] == 80
    assert (await _change(lodge, stay, deposit_amount=None)).data["depositAmount"] == 0
    assert (await lodge.folio(stay))["depositAmount"] == 0


async def test_another_plan_is_for_the_nights_that_were_not_charged(lodge: Lodge) -> None:
    """Those that were charged keep their price; a plan with other taxes comes too late."""
    cheap, dear = await _plan(lodge, "A", 80, taxes=VAT), await _plan(lodge, "B", 200, taxes=VAT)
    levied = await _plan(lodge, "C", 90, taxes=LEVY)
    stay = await lodge.arrive(3, rate_plan_id=cheap)
    after = (await _change(lodge, stay, rate_plan_id=levied)).data
    assert (after["totalAmount"], after["taxes"][0]["name"]) == (283.5, "Levy")
    assert (await _change(lodge, stay, rate_plan_id=None)).data["totalAmount"] == 300
    assert (await _change(lodge, stay, rate_plan_id=cheap)).data["totalAmount"] == 264
    await lodge.audit()
    after = (await _change(lodge, stay, rate_plan_id=dear)).data
    assert [night["price"] for night in after["nights"]] == [80, 200, 200]
    assert (after["totalAmount"], after["ratePlanId"]) == (528, dear)
    for late in (levied, None):
        wrong = await _change(lodge, stay, 422, rate_plan_id=late)
        assert wrong.wrong_fields == {"rate_plan_id"}
    folio = await lodge.folio(stay)
    assert (folio["chargesTotal"], folio["nightsToComeTotal"]) == (88, 440)
    # Longer, too: the new night costs what the new plan says.
    assert (await _change(lodge, stay, check_out_date=day(4))).data["totalAmount"] == 748


async def test_a_plan_of_another_type_or_that_was_deleted_is_none(lodge: Lodge) -> None:
    """As for a booking; a stay whose own plan was deleted keeps it."""
    suite = await lodge.made("room-types", name="Suite", capacity=2, rate=300)
    other = await lodge.made("rate-plans", room_type_id=suite["id"], name="S", price=1)
    gone, stay = await _plan(lodge, "Gone", 80), await lodge.book()
    await _change(lodge, stay, rate_plan_id=gone)
    await lodge.api.delete(f"{HOTEL}/rate-plans/{gone}", status=200)
    assert (await _change(lodge, stay, rate_plan_id=gone, notes="x")).data["totalAmount"] == 160
    assert (await _change(lodge, stay, rate_plan_id=None)).data["totalAmount"] == 200
    for plan in (gone, other["id"]):
        wrong = await _change(lodge, stay, 422, rate_plan_id=plan)
        assert wrong.wrong_fields == {"rate_plan_id"}


async def test_another_guest_and_a_payment_come_one_after_the_other(lodge: Lodge) -> None:
    """Either the payment is the new guest's, or the guest stays."""
    for _ in range(8):
        stay, other = await lodge.book(), await _guest(lodge)
        path, body = f"{STAYS}/{stay['id']}", {"amount": 50, "method": "cash"}
        changed, paid = await asyncio.gather(
            lodge.api.patch(path, {"guest_id": other["id"]}),
            lodge.api.post(path + "/payments", body),
        )
        assert paid.status == 201
        now, folio = await lodge.read(stay), await lodge.folio(stay)
        wanted = {200: other["customerId"], 400: stay["customerId"]}[changed.status]
        assert now["customerId"] == folio["customerId"] == wanted
        owner = "SELECT customer_id::text FROM folio_payments WHERE reservation_id = $1::text::uuid"
        assert await lodge.sql.fetchval(owner, stay["id"]) == wanted
        await lodge.give_back(stay, 50)
        await lodge.act(stay, "cancel")


async def test_another_guest_or_deposit_and_the_end_of_a_booking(lodge: Lodge) -> None:
    """Of a change and a check-in or a cancellation at once the later sees the earlier."""
    for verb in ("check-in", "cancel") * 4:
        stay, other = await lodge.book(), await _guest(lodge)
        change = {"guest_id": other["id"], "deposit_amount": 5}
        changed, ended = await asyncio.gather(
            lodge.api.patch(f"{STAYS}/{stay['id']}", change), lodge.act(stay, verb)
        )
        assert ended.status == 200
        assert changed.status in (200, 400, 422)
        now = await lodge.read(stay)
        wanted = (other["id"], 5) if changed.status == 200 else (stay["guestId"], 0)
        assert (now["guestId"], now["depositAmount"]) == wanted
        if verb == "check-in":
            await lodge.leave(stay, leave_as_debt=True)
            await lodge.sql.execute("UPDATE hotel_rooms SET status = 'clean'")


async def test_another_plan_and_the_night_audit(lodge: Lodge) -> None:
    """A night is charged at the price that the stay then says for it."""
    for _ in range(4):
        dear, stay = await _plan(lodge, f"P{_}", 200), await lodge.arrive(2)
        await lodge.shift(stay, 1)
        changed, left = await asyncio.gather(
            lodge.api.patch(f"{STAYS}/{stay['id']}", {"rate_plan_id": dear}),
            lodge.act(stay, "check-out", leave_as_debt=True),
        )
        assert left.status == 200
        assert changed.status in (200, 400)
        folio = await lodge.folio(stay)
        first = (await lodge.read(stay))["nights"][0]["price"]
        assert folio["chargesTotal"] == first == (200 if changed.status == 200 else 100)
        await lodge.sql.execute("UPDATE hotel_rooms SET status = 'clean'")


async def test_a_guest_who_is_deleted_meanwhile_gets_no_stay(lodge: Lodge) -> None:
    """One of the two is refused."""
    for _ in range(8):
        stay, other = await lodge.book(), await _guest(lodge)
        changed, deleted = await asyncio.gather(
            lodge.api.patch(f"{STAYS}/{stay['id']}", {"guest_id": other["id"]}),
            lodge.api.delete(f"{HOTEL}/guests/{other['id']}"),
        )
        assert sorted((changed.status == 200, deleted.status == 200)) == [False, True]
        await lodge.act(stay, "cancel")
