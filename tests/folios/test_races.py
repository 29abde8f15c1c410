"""Many at once on one stay: one outcome, one event, and every sum is right afterwards."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from decimal import Decimal

from tests.api import Response
from tests.checkout.till import LINKS
from tests.folios.lodge import STAYS, Lodge
from tests.orders.shop import ORDERS
from tests.webhooks.shop import until

ROUNDS = 8


async def _all(calls: Iterable[Awaitable[Response]]) -> list[Response]:
    return list(await asyncio.gather(*calls))


def _statuses(answers: Iterable[Response]) -> dict[int, int]:
    return dict(Counter(answer.status for answer in answers))


async def test_twenty_check_outs_at_once(lodge: Lodge) -> None:
    """One ends the stay and charges its nights; the others are refused."""
    stay = await lodge.arrive(3)
    await lodge.pay(stay, 500)
    await lodge.shift(stay, 3)
    answers = await _all(lodge.act(stay, "check-out") for _ in range(20))
    assert _statuses(answers) == {200: 1, 400: 19}
    assert (await lodge.events())["hotel.reservation.checked_out"] == 1
    folio = await lodge.folio(stay)
    assert (len(folio["charges"]), folio["unspentAmount"]) == (3, 200)


async def test_a_late_charge_against_a_check_out(lodge: Lodge) -> None:
    """Either the charge is refused, or the guest may not leave before it is paid."""
    for number in range(ROUNDS):
        stay = await lodge.arrive(1, room_id=await lodge.room())
        await lodge.pay(stay, 100)
        leaving = asyncio.create_task(lodge.act(stay, "check-out"))
        if number % 2:
            await lodge.folio(stay)
        made = await asyncio.gather(*(lodge.late(stay, 10) for _ in range(3)))
        left, late = await leaving, [one for one in made if one]
        folio = await lodge.folio(stay)
        if left.status == 200:
            assert (folio["status"], folio["amountOwed"], late) == ("checked_out", 0, [])
        else:
            assert (folio["status"], left.status) == ("checked_in", 400)
            assert late
            await lodge.pay(stay, 30)
            folio = await lodge.leave(stay)
        assert folio["amountOwed"] == 0
    assert (await lodge.events())["hotel.reservation.checked_out"] == ROUNDS


async def test_a_late_charge_waits_for_the_check_out(lodge: Lodge) -> None:
    """While a check-out has the stay, the charge waits; then the stay is over for it."""
    stay = await lodge.arrive(1)
    await lodge.pay(stay, 100)
    lock = "SELECT FROM hotel_reservations WHERE id = $1::text::uuid FOR NO KEY UPDATE"
    async with lodge.sql.transaction():
        await lodge.sql.execute(lock, stay["id"])
        leaving = asyncio.create_task(lodge.act(stay, "check-out"))
        await _waits(lodge, 1)
        late = asyncio.create_task(lodge.late(stay, 10))
        await _waits(lodge, 2)
    assert ((await leaving).status, await late) == (200, None)


async def test_an_order_for_somebody_new_waits_for_its_stay(lodge: Lodge) -> None:
    """It makes its customer in a statement of many, once the check-out is over or before it."""
    stay = await lodge.arrive(1)
    await lodge.pay(stay, 100)
    body = {
        "items": [{"product_name": "Suya", "quantity": 1, "custom_price": 10}],
        "hotel_reservation_id": stay["id"], "customer_name": "Ngozi Somebody",
    }  # fmt: skip
    lock = "SELECT FROM hotel_reservations WHERE id = $1::text::uuid FOR NO KEY UPDATE"
    # Held by the statement that waits; the names of new customers are locked so.
    held = """
        SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE a.datname = current_database() AND a.wait_event_type = 'Lock'
            AND l.locktype = 'advisory' AND l.granted
    """
    async with lodge.sql.transaction():
        await lodge.sql.execute(lock, stay["id"])
        ordering = asyncio.create_task(lodge.api.post(ORDERS, body))
        await _waits(lodge, 1)
        # It holds nothing that the check-out may want.
        assert await lodge.sql.fetchval(held) == 0
    assert (await ordering).status == 201


async def test_a_payment_waits_for_orders_that_change(lodge: Lodge) -> None:
    """A change of an order has the order first, and gets the guest's credit then."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 10)
    await lodge.pay(stay, 20)
    has_order = "SELECT FROM orders WHERE id = $1::text::uuid FOR NO KEY UPDATE"
    gets_credit = "SELECT FROM ledger_balances WHERE book_id = $1 FOR UPDATE NOWAIT"
    async with lodge.sql.transaction():
        await lodge.sql.execute(has_order, order["id"])
        paying = asyncio.create_task(lodge.act(stay, "payments", amount=5, method="cash"))
        await _waits(lodge, 1)
        assert await lodge.sql.execute(gets_credit, lodge.book_id) == "SELECT 1"
    assert (await paying).status == 201


async def test_an_order_by_credit_waits_for_its_stay(lodge: Lodge) -> None:
    """A payment of the stay has the stay first, and gets the guest's credit then."""
    stay = await lodge.arrive()
    await lodge.pay(stay, 20)
    body = {
        "items": [{"product_name": "Suya", "quantity": 1, "custom_price": 10}],
        "hotel_reservation_id": stay["id"], "payment_method": "credit", "amount_paid": 10,
    }  # fmt: skip
    has_stay = "SELECT FROM hotel_reservations WHERE id = $1::text::uuid FOR NO KEY UPDATE"
    gets_credit = "SELECT FROM ledger_balances WHERE book_id = $1 FOR UPDATE NOWAIT"
    async with lodge.sql.transaction():
        await lodge.sql.execute(has_stay, stay["id"])
        ordering = asyncio.create_task(lodge.api.post(ORDERS, body))
        await _waits(lodge, 1)
        assert await lodge.sql.execute(gets_credit, lodge.book_id) == "SELECT 1"
    assert (await ordering).status == 201


async def test_a_link_waits_for_a_payment(lodge: Lodge) -> None:
    """While the deposit is paid at the desk, nobody asks for it by a link."""
    stay = await lodge.book(deposit_amount=60)
    maker = await lodge.business.client("payment_links:write")
    body = {"target_type": "reservation", "target_id": stay["id"]}
    lock = "SELECT FROM hotel_reservations WHERE id = $1::text::uuid FOR NO KEY UPDATE"
    async with lodge.sql.transaction():
        await lodge.sql.execute(lock, stay["id"])
        paying = asyncio.create_task(lodge.pay(stay, 60))
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
    # A transaction sees the activity as it was when it looked first.
    forget = "SELECT pg_stat_clear_snapshot()"

    async def are_waiting() -> bool:
        await lodge.sql.execute(forget)
        return await lodge.sql.fetchval(query, count)

    await until(are_waiting)


async def test_twenty_payments_at_once(lodge: Lodge) -> None:
    """The orders get what they owe, in their order, and the rest is unspent, to the cent."""
    stay = await lodge.arrive()
    for price in (10.1, 20.2, 30.3):
        await lodge.charge(stay, price)
    body = {"amount": 3.33, "method": "cash"}
    path = f"{STAYS}/{stay['id']}/payments"
    answers = await _all(lodge.api.post(path, body) for _ in range(20))
    assert _statuses(answers) == {201: 20}
    folio = await lodge.folio(stay)
    assert folio["paymentsTotal"] == Decimal("66.60")
    assert (folio["amountOwed"], folio["unspentAmount"]) == (0, Decimal("6.00"))


async def test_twenty_refunds_of_one_deposit(lodge: Lodge) -> None:
    """Never more than came in for the stay.

    The guest's credit, which the database lets nobody overdraw, has more than that: the deposit of
    another stay is in it, too.
    """
    stay = await lodge.book()
    await lodge.pay(stay, 100)
    other = await lodge.book(4, 6)
    await lodge.pay(other, 1000)
    body = {"amount": 30, "method": "cash"}
    path = f"{STAYS}/{stay['id']}/refunds"
    answers = await _all(lodge.api.post(path, body) for _ in range(20))
    assert _statuses(answers) == {201: 3, 400: 17}
    assert (await lodge.folio(stay))["unspentAmount"] == 10
    assert (await lodge.folio(other))["unspentAmount"] == 1000


async def test_a_check_out_against_the_night_audit(lodge: Lodge) -> None:
    """The night is charged once, by one of the two."""
    for _ in range(ROUNDS // 2):
        stay = await lodge.arrive(1, room_id=await lodge.room())
        await lodge.shift(stay, 2)
        await asyncio.gather(
            lodge.audit(0), lodge.act(stay, "check-out", leave_as_debt=True), lodge.audit(0)
        )
        folio = await lodge.folio(stay)
        assert (len(folio["charges"]), folio["amountOwed"]) == (1, 100)
