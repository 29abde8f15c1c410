"""Disputes of payments for stays: the folio keeps what was paid."""

import asyncio
from decimal import Decimal

import pytest

from tests.folios.lodge import Body, Lodge
from tests.orders.shop import ORDERS, fee

FEE = 15


@pytest.mark.parametrize("is_won", [True, False])
@pytest.mark.parametrize("is_deposit", [True, False], ids=["deposit", "folio"])
async def test_a_dispute_of_a_stays_payment(lodge: Lodge, is_deposit: bool, is_won: bool) -> None:
    """The folio keeps its payment, whatever becomes of the dispute."""
    if is_deposit:
        stay = await lodge.book(deposit_amount=100)
    else:
        stay = await lodge.arrive()
        await lodge.charge(stay, 100)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    before = await lodge.folio(stay)
    reader = await lodge.business.client("wallet:read", "finance:read")
    came = (await reader.get("/v1/wallet", status=200)).data["balance"]
    await lodge.pay_link(link, "disputed")
    await lodge.pay_link(link, "dispute_won" if is_won else "dispute_lost")
    [one] = (await reader.get("/v1/disputes", status=200)).data
    taken = 0 if is_won else 100
    assert (one["status"], one["takenAmount"]) == ("won" if is_won else "lost", taken)
    assert (one["fee"], one["paymentLinkId"]) == (FEE, link["id"])
    assert (one["reservationId"], one["reservationShortCode"]) == (stay["id"], stay["shortCode"])
    assert (one["orderId"], one["orderShortCode"], one["debtId"]) == (None, None, None)
    other = await lodge.book(3, 4)
    for whose, found in ((stay, [one]), (other, [])):
        path = f"/v1/disputes?reservation_id={whose['id']}"
        page = (await reader.get(path, status=200)).json
        assert (page["data"], page["meta"]["total"]) == (found, len(found))
    # The wallet had less: the rest is a claim.
    assert came - (await reader.get("/v1/wallet", status=200)).data["balance"] == min(
        FEE + taken, came
    )
    after = await lodge.folio(stay)
    # Money that an order has used stays its payment; what was unspent is nobody's to hand out.
    gone = taken if is_deposit else 0
    assert (after["payments"], after["amountOwed"]) == (before["payments"], before["amountOwed"])
    assert after["disputedAmount"] == gone
    [told] = after["disputes"]
    assert told["fee"] == FEE
    assert told == {name: one[name] for name in told}
    for name in ("unspentAmount", "paymentsTotal"):
        assert after[name] == before[name] - gone, name
    assert await lodge.differences() == []
    assert await lodge.faults() == []


@pytest.mark.parametrize("is_won", [True, False])
async def test_credit_that_a_cancelled_order_frees_is_held(lodge: Lodge, is_won: bool) -> None:
    """A dispute took the 100 that had paid an order of 80: cancelled, it frees nothing to spend."""
    stay = await lodge.book(deposit_amount=100)
    order = await lodge.charge(stay, 80)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    await lodge.pay_link(link, "disputed")
    assert (await lodge.folio(stay))["disputedAmount"] == 20
    path = f"{ORDERS}/{order['id']}"
    await lodge.api.patch(path, {"total_amount": 70}, status=200)
    assert await _money(lodge, stay) == (0, 30)
    for state, held in (("cancelled", 100), ("pending", 30), ("cancelled", 100)):
        await lodge.api.patch(path, {"status": state}, status=200)
        assert await _money(lodge, stay) == (0, held)
    customer = (await lodge.folio(stay))["customerId"]
    reader = await lodge.business.client("finance:transactions:read")
    told = await reader.get(f"/v1/customers/{customer}/credit", status=200)
    assert told.data["available"] == 0
    assert (await lodge.act(stay, "refunds", amount=1, method="cash")).status == 400
    body = {
        "items": [fee(1)], "customer_id": customer, "amount_paid": 1,
        "payment_method": "credit",
    }  # fmt: skip
    assert (await lodge.api.post(ORDERS, body)).status == 400
    await lodge.pay_link(link, "dispute_won" if is_won else "dispute_lost")
    assert await _money(lodge, stay) == ((100, 0) if is_won else (0, 100))
    assert await lodge.differences() == []
    assert await lodge.faults() == []


@pytest.mark.parametrize("first", ["cancel", "dispute", "both"])
async def test_a_cancellation_and_a_dispute_free_nothing_to_spend(lodge: Lodge, first: str) -> None:
    """Whichever comes first, or both at once: the 100 are held, until the dispute is decided."""
    for is_won in (True, False):
        stay = await lodge.book(3, 4, deposit_amount=100)
        order = await lodge.charge(stay, 80)
        link = await lodge.link(stay)
        await lodge.pay_link(link)
        path = f"{ORDERS}/{order['id']}"
        cancel = lodge.api.patch(path, {"status": "cancelled"}, status=200)
        dispute = lodge.pay_link(link, "disputed")
        if first == "both":
            await asyncio.gather(cancel, dispute)
        else:
            for one in (cancel, dispute) if first == "cancel" else (dispute, cancel):
                await one
        assert await _money(lodge, stay) == (0, 100)
        await lodge.pay_link(link, "dispute_won" if is_won else "dispute_lost")
        assert await _money(lodge, stay) == ((100, 0) if is_won else (0, 100))
        assert await lodge.differences() == []


async def _hand_out(lodge: Lodge, order: Body, amount: float, method: str = "cash") -> int:
    """The status of a refund of an order, which leaves the ways of the provider."""
    path = f"{ORDERS}/{order['id']}/refunds"
    answer = await lodge.api.post(path, {"amount": amount, "method": method})
    if answer.status == 400:
        assert "A dispute has taken" in answer.json["message"], answer
    return answer.status


@pytest.mark.parametrize("is_won", [True, False])
async def test_an_order_of_a_stay_hands_out_no_disputed_money(lodge: Lodge, is_won: bool) -> None:
    """Of 95 that paid an order, 80 are the stay's and disputed, and 15 came in cash."""
    stay = await lodge.book(deposit_amount=80)
    order = await lodge.charge(stay, 95)
    await lodge.api.post(
        f"{ORDERS}/{order['id']}/payments", {"amount": 15, "method": "cash"}, status=201
    )
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    await lodge.pay_link(link, "disputed")
    assert await _hand_out(lodge, order, 16) == 400
    assert await _hand_out(lodge, order, 16, "transfer") == 400
    assert await _hand_out(lodge, order, 15) == 201
    assert await _hand_out(lodge, order, 1) == 400
    await lodge.pay_link(link, "dispute_won" if is_won else "dispute_lost")
    assert await _hand_out(lodge, order, 80) == (201 if is_won else 400)
    assert await lodge.differences() == []
    assert await lodge.faults() == []


async def test_orders_of_a_stay_hand_out_together_what_no_dispute_took(lodge: Lodge) -> None:
    """100 by a link, which are disputed, and 60 in cash paid orders of 90 and 70."""
    stay = await lodge.book(deposit_amount=100)
    link = await lodge.link(stay)
    first, second = [await lodge.charge(stay, price) for price in (90, 70)]
    await lodge.pay_link(link)
    await lodge.pay(stay, 60)
    await lodge.pay_link(link, "disputed")
    assert await _hand_out(lodge, first, 61) == 400
    assert await _hand_out(lodge, second, 61) == 400
    assert await _hand_out(lodge, second, 35) == 201
    assert await _hand_out(lodge, first, 26) == 400
    assert await _hand_out(lodge, first, 25) == 201
    for order in (first, second):
        assert await _hand_out(lodge, order, 1) == 400
    # As credit it stays here, held by the dispute.
    assert await _hand_out(lodge, first, 65, "credit") == 201
    assert (await _money(lodge, stay))[0] == 0
    assert await lodge.faults() == []


async def test_refunds_of_two_orders_at_once(lodge: Lodge) -> None:
    """Twenty at once hand out 60 together, whichever is first."""
    stay = await lodge.book(deposit_amount=100)
    link = await lodge.link(stay)
    orders = [await lodge.charge(stay, 80) for _ in range(2)]
    await lodge.pay_link(link)
    await lodge.pay(stay, 60)
    await lodge.pay_link(link, "disputed")
    codes = await asyncio.gather(*(_hand_out(lodge, one, 10) for one in orders * 10))
    assert sorted(codes) == [201] * 6 + [400] * 14
    assert await lodge.faults() == []


async def _money(lodge: Lodge, stay: Body) -> tuple[Decimal, Decimal]:
    """The money of a stay that can be spent, and what disputes have taken of it."""
    folio = await lodge.folio(stay)
    return folio["unspentAmount"], folio["disputedAmount"]


async def test_a_disputed_deposit_is_not_handed_out_again(lodge: Lodge) -> None:
    """Neither in cash nor by a cancellation; other money of the guest is none of it."""
    stay = await lodge.book(deposit_amount=40)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    await lodge.pay_link(link, "dispute_lost")
    refused = await lodge.act(stay, "refunds", amount=40, method="cash")
    assert (refused.status, refused.json["error"]) == (400, "request_failed")
    # Other credit of the guest is no money of this stay.
    other = await lodge.book(3, 4)
    await lodge.pay(other, 100)
    assert (await lodge.act(stay, "refunds", amount=40, method="cash")).status == 400
    await lodge.pay(stay, 25)
    assert (await lodge.folio(stay))["unspentAmount"] == 25
    cancelled = await lodge.act(stay, "cancel", refund_deposit=True)
    assert cancelled.json["meta"] == {"returningAmount": 0, "unspentAmount": 25}
    assert (await lodge.act(stay, "refunds", amount=26, method="cash")).status == 400
    assert (await lodge.act(stay, "refunds", amount=25, method="cash")).status == 201
    assert await lodge.faults() == []
