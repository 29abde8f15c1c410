"""Payment links of stays that were settled otherwise: they end with it, whatever comes later."""

import asyncio
from decimal import Decimal
from typing import Any

import asyncpg

from tests.checkout.till import LINKS
from tests.folios.giving import GivingLodge
from tests.folios.lodge import STAYS, Lodge
from tests.make import Business
from tests.orders.shop import ORDERS
from tests.webhooks.shop import until

ROUNDS = 4


def _counts(link: dict[str, Any]) -> tuple[Any, ...]:
    return (
        link["status"], link["amount"], link["amountReceived"], link["amountOutstanding"],
        link["paymentCondition"],
    )  # fmt: skip


async def _now(lodge: Lodge, link: dict[str, Any]) -> dict[str, Any]:
    api = await lodge.business.client("payment_links:read")
    return (await api.get(f"{LINKS}/{link['id']}", status=200)).data


async def _pay_order(lodge: Lodge, order: dict[str, Any], amount: float) -> None:
    body = {"amount": amount, "method": "cash"}
    await lodge.api.post(f"{ORDERS}/{order['id']}/payments", body, status=201)


async def test_a_deposit_at_the_desk_ends_the_link(lodge: Lodge) -> None:
    """Money that its open page still takes is late and over; what is owed later has a new link."""
    stay = await lodge.book(deposit_amount=40)
    link = await lodge.link(stay)
    page = f"/pay/{link['reference']}"
    await lodge.business.anybody.get(page, status=200)
    await lodge.pay(stay, 40)
    assert _counts(await _now(lodge, link)) == ("PAID", 40, 0, 0, [])
    text = (await lodge.business.anybody.get(page, status=200)).body.decode()
    assert "Nothing left to pay" in text
    maker = await lodge.business.client("payment_links:write")
    body = {"target_type": "reservation", "target_id": stay["id"]}
    assert "has nothing outstanding" in (await maker.post(LINKS, body, status=400)).json["message"]
    await maker.delete(f"{LINKS}/{link['id']}", status=409)
    assert _counts(await lodge.pay_link(link)) == ("PAID", 40, 40, 0, ["late", "over"])
    folio = await lodge.folio(stay)
    assert (folio["unspentAmount"], folio["paymentsTotal"]) == (80, 80)
    # One for each of the two payments.
    assert (await lodge.events())["payment.received"] == 2
    await lodge.charge(stay, 100)
    again = await lodge.link(stay)
    assert (again["id"] != link["id"], again["amount"]) == (True, 20)
    assert _counts(await lodge.pay_link(again)) == ("PAID", 20, 20, 0, [])
    assert await lodge.differences() == []


async def test_charges_that_are_paid_at_the_desk_end_the_link(lodge: Lodge) -> None:
    """A part leaves it active; while an order is paid by the part, it counts once."""
    stay = await lodge.arrive()
    for price in (50, 60):
        await lodge.charge(stay, price)
    link = await lodge.link(stay)
    await lodge.pay(stay, 55)
    assert _counts(await _now(lodge, link)) == ("active", 55, 0, 55, [])
    await lodge.pay(stay, 60)
    assert _counts(await _now(lodge, link)) == ("PAID", 55, 0, 0, [])
    assert await lodge.differences() == []


async def test_charges_that_are_paid_by_themselves_end_the_link(lodge: Lodge) -> None:
    """The last one of them does."""
    stay = await lodge.arrive()
    first, second = [await lodge.charge(stay, price) for price in (30, 20)]
    link = await lodge.link(stay)
    await _pay_order(lodge, first, 30)
    assert _counts(await _now(lodge, link)) == ("active", 20, 0, 20, [])
    await _pay_order(lodge, second, 25)
    assert _counts(await _now(lodge, link)) == ("PAID", 20, 0, 0, [])
    assert await lodge.differences() == []


async def test_a_link_ends_with_its_charge(lodge: Lodge) -> None:
    """Cancelled or deleted, as the order's own link; a smaller deposit leaves it paid."""
    stay = await lodge.arrive()
    for ending in ("cancelled", "deleted"):
        path = f"{ORDERS}/{(await lodge.charge(stay, 30))['id']}"
        link = await lodge.link(stay)
        if ending == "deleted":
            await lodge.api.delete(path, status=200)
        else:
            await lodge.api.patch(path, {"status": ending}, status=200)
        assert _counts(await _now(lodge, link)) == ("CANCELLED", 30, 0, 0, []), ending
    other = await lodge.book(4, 6, deposit_amount=60)
    link = await lodge.link(other)
    await lodge.pay(other, 20)
    await lodge.api.patch(f"{STAYS}/{other['id']}", {"deposit_amount": 20}, status=200)
    assert _counts(await _now(lodge, link)) == ("PAID", 40, 0, 0, [])


async def test_a_refund_that_fails_ends_the_link(
    business: Business, sql: asyncpg.Connection
) -> None:
    """While the deposit is on its way back it is asked for again; it never left."""
    lodge = await GivingLodge.giving(business, sql)
    stay = await lodge.deposited(60.99)
    await lodge.give_back(stay, 60.99, "cloove_pay")
    link = await lodge.link(stay)
    assert link["amountOutstanding"] == 60.99
    await lodge.work(by_sandbox=True)
    assert (await lodge.refund_of(stay))["status"] == "failed"
    assert _counts(await _now(lodge, link)) == ("PAID", 60.99, 0, 0, [])
    assert await lodge.faults() == []


async def test_a_payment_at_the_desk_beside_one_through_the_link(lodge: Lodge) -> None:
    """Nothing is lost, and nothing is booked twice; the link is paid either way."""
    for _ in range(ROUNDS):
        stay = await lodge.book(deposit_amount=40, room_id=await lodge.room())
        link = await lodge.link(stay)
        await lodge.business.anybody.get(f"/pay/{link['reference']}", status=200)
        _, paid = await asyncio.gather(lodge.pay(stay, 40), lodge.pay_link(link))
        assert _counts(paid)[:4] == ("PAID", 40, 40, 0)
        assert paid["paymentCondition"] in ([], ["late", "over"])
        folio = await lodge.folio(stay)
        assert (folio["paymentsTotal"], len(folio["payments"])) == (Decimal(80), 2)
    assert await lodge.differences() == []


async def test_two_charges_that_are_paid_at_once(lodge: Lodge) -> None:
    """Neither payment sees the other's order paid, until it waits for the link."""
    stay = await lodge.arrive()
    for _ in range(ROUNDS):
        orders = [await lodge.charge(stay, price) for price in (30, 20)]
        link = await lodge.link(stay)
        await asyncio.gather(*(_pay_order(lodge, one, one["remainingAmount"]) for one in orders))
        assert (await _now(lodge, link))["status"] == "PAID"


async def test_a_link_is_paid_while_its_charges_are(lodge: Lodge) -> None:
    """The holder of an order and the holder of the link wait in one direction only."""
    stay = await lodge.arrive()
    for _ in range(ROUNDS // 2):
        orders = [await lodge.charge(stay, price) for price in (30, 20)]
        link = await lodge.link(stay)
        await lodge.business.anybody.get(f"/pay/{link['reference']}", status=200)
        await asyncio.gather(lodge.pay_link(link), *(_pay_order(lodge, one, 10) for one in orders))
        assert (await _now(lodge, link))["status"] == "PAID"
        folio = await lodge.folio(stay)
        assert folio["amountOwed"] == 0
    assert await lodge.differences() == []


async def test_a_link_waits_for_the_payment_of_a_charge(lodge: Lodge) -> None:
    """It comes after the payment, and finds nothing to ask for."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 30)
    maker = await lodge.business.client("payment_links:write")
    body = {"target_type": "reservation", "target_id": stay["id"]}
    has_order = "SELECT FROM orders WHERE id = $1::text::uuid FOR NO KEY UPDATE"
    async with lodge.sql.transaction():
        await lodge.sql.execute(has_order, order["id"])
        paying = asyncio.create_task(_pay_order(lodge, order, 30))
        await _waits(lodge, 1)
        asking = asyncio.create_task(maker.post(LINKS, body))
        await _waits(lodge, 2)
    await paying
    assert "has nothing outstanding" in (await asking).json["message"]


async def _waits(lodge: Lodge, count: int) -> None:
    """So many statements wait for somebody's lock."""
    query = """
        SELECT count(*) >= $1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
    """

    async def are_waiting() -> bool:
        # A transaction sees the activity as it was when it looked first.
        await lodge.sql.execute("SELECT pg_stat_clear_snapshot()")
        return bool(await lodge.sql.fetchval(query, count))

    await until(are_waiting)
