"""The money of orders: debts, customer credit, change, corrections, the ledger."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, fee, line
from tillhouse.access.process import Services
from tillhouse.kit.clock import iso, now
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE

_SIDES = """
    SELECT kind, sum(amount) AS amount FROM (
        SELECT debit_kind AS kind, amount FROM ledger_transfers
        WHERE book_id = $1 AND source_id = $2
        UNION ALL
        SELECT credit_kind, -amount FROM ledger_transfers WHERE book_id = $1 AND source_id = $2
    ) AS sides GROUP BY kind HAVING sum(amount) <> 0
"""
_RECEIPTS = """
    SELECT type, method, amount, status, currency FROM transactions
    WHERE book_id = $1 AND source_id = $2 ORDER BY id
"""


async def _accounts(shop: Shop, order: Body) -> dict[str, Decimal]:
    """Debits less credits of every account that an order touched, where they aren't even."""
    rows = await shop.sql.fetch(_SIDES, shop.book, UUID(order["id"]))
    return {row["kind"]: row["amount"] for row in rows}


async def _receipts(shop: Shop, order: Body) -> list[tuple[str, str, Decimal]]:
    """The transactions of an order: type, method, amount."""
    rows = await shop.sql.fetch(_RECEIPTS, shop.book, UUID(order["id"]))
    assert {(row["status"], row["currency"]) for row in rows} <= {("successful", "USD")}
    return [(row["type"], row["method"], row["amount"]) for row in rows]


async def _sell(shop: Shop, paid: float = 0, **fields: Any) -> Body:
    """An order of 1000 of a customer."""
    return await shop.sell(fee(1000), amount_paid=paid, customer_name="Ada Obi", **fields)


async def test_decimal_strings_sell_as_numbers_do(shop: Shop) -> None:
    """To the last digit, into the ledger; answers hold numbers."""
    item = {"product_name": "Rice, loose", "quantity": 1.125, "custom_price": "1500.40"}
    order = await shop.sell(item, amount_paid="1000.05", discount_amount="0.40")
    assert order["items"][0]["quantity"] == 1.125
    assert order["totalAmount"] == 1687.55
    assert await _receipts(shop, order) == [("sale", "cash", Decimal("1000.05"))]
    same = await shop.sell({**item, "custom_price": 1500.4}, discount_amount=0.4)
    assert same["totalAmount"] == order["totalAmount"]
    text = await shop.ask({**item, "quantity": "2"})
    assert text.wrong_fields == {"items[0].quantity"}
    wrong = await shop.api.post(
        ORDERS, {"items": [item], "amount_paid": "1000.005", "discount_amount": "1,5"}, status=422
    )
    assert wrong.wrong_fields == {"amount_paid", "discount_amount"}


async def test_what_is_owed_is_a_debt(shop: Shop) -> None:
    """Its balance is what is left; paid off, it is paid."""
    order = await _sell(shop, 100)
    assert await shop.debts(order) == [("active", 900)]
    await shop.patch(order, amount_paid=600)
    assert await shop.debts(order) == [("active", 400)]
    await shop.patch(order, total_amount=1200)
    assert await shop.debts(order) == [("active", 600)]
    await shop.patch(order, amount_paid=1200)
    assert await shop.debts(order) == [("paid", 0)]


async def test_a_debt_tells_whose_it_is(shop: Shop) -> None:
    """The customer, the order by its code, the currency; found by customer and by status."""
    order = await shop.sell(fee(50.5), customer_name="Debtor Alone")
    customer = order["customer"]
    for query in (f"customer_id={customer['id']}", f"order_id={order['id']}&status=active"):
        [debt] = (await shop.api.get(f"/v1/debts?{query}", status=200)).data
        assert debt["customer"] == {"id": customer["id"], "name": "Debtor Alone"}
        assert (debt["orderId"], debt["orderShortCode"]) == (order["id"], order["shortCode"])
        assert (debt["balance"], debt["currency"], debt["status"]) == (50.5, "USD", "active")
    path = f"/v1/debts?order_id={order['id']}&status=paid"
    assert (await shop.api.get(path, status=200)).data == []


async def test_who_is_not_known_owes_nothing(shop: Shop) -> None:
    """Without a customer there is no debt; assigned, they owe it; reassigned, the other does."""
    order = await shop.sell(fee(1000), amount_paid=200)
    assert await shop.debts(order) == []
    first, second = await shop.customer("First Payer"), await shop.customer("Second Payer")
    await shop.patch(order, customer_id=first["id"])
    assert await shop.debts(order) == [("active", 800)]
    await shop.patch(order, customer_id=second["id"])
    assert sorted(await shop.debts(order)) == [("active", 800), ("voided", 0)]
    for customer, count in ((first, 0), (second, 1)):
        path = f"/v1/debts?customer_id={customer['id']}&status=active"
        assert len((await shop.api.get(path, status=200)).data) == count


async def test_what_is_paid_or_planned_is_no_debt(shop: Shop) -> None:
    """Paid at once, paid too much, of nothing, scheduled."""
    later = iso(now() + timedelta(days=1))
    for order in (
        await _sell(shop, 1000),
        await _sell(shop, 1500),
        await shop.sell(fee(0), customer_name="Ada Obi"),
        await _sell(shop, 100, scheduled_for=later),
    ):
        assert await shop.debts(order) == []


async def test_a_cancellation_voids_the_debt(shop: Shop) -> None:
    """It is owed again when the order is revived."""
    order = await _sell(shop, 100)
    await shop.to(order, "cancelled")
    assert await shop.debts(order) == [("voided", 0)]
    await shop.to(order, "pending")
    assert sorted(await shop.debts(order)) == [("active", 900), ("voided", 0)]


async def test_explicitly_completed_is_still_owed(shop: Shop) -> None:
    """Completed says that the goods are gone, not that they are paid."""
    order = await shop.patch_all(await _sell(shop), {"status": "completed", "amount_paid": 100})
    assert (order["status"], order["remainingAmount"]) == ("completed", 900)
    assert await shop.debts(order) == [("active", 900)]
    credit = await _sell(shop, payment_method="credit")
    assert await shop.debts(credit) == [("active", 1000)]


async def test_rescheduled_is_owed_no_more(shop: Shop) -> None:
    """A debt begins when the order is confirmed."""
    order = await _sell(shop, 100)
    await shop.to(order, "scheduled", scheduled_for=iso(now() + timedelta(days=1)))
    assert [status for status, _ in await shop.debts(order)] == ["voided"]
    await shop.confirm(order, amount_paid=300)
    assert ("active", 700) in await shop.debts(order)


@pytest.mark.parametrize(
    ("method", "account"),
    [("cash", "cash"), ("transfer", "bank"), ("pos", "pos"), ("other", "other_tender")],
)
async def test_money_comes_in_where_it_was_paid(shop: Shop, method: str, account: str) -> None:
    """Sales on one side, what came in and what is still owed on the other."""
    order = await _sell(shop, 400, payment_method=method)
    assert await _accounts(shop, order) == {"sales": -1000, account: 400, "receivable": 600}
    assert await _receipts(shop, order) == [("sale", method, 400)]


async def test_each_payment_is_a_transaction(shop: Shop) -> None:
    """Only the difference, by the method of that time; a correction is negative."""
    order = await _sell(shop, 300)
    await shop.patch_all(order, {"amount_paid": 800, "payment_method": "transfer"})
    await shop.patch(order, amount_paid=800)
    await shop.patch(order, amount_paid=700)
    assert await _receipts(shop, order) == [
        ("sale", "cash", 300), ("debt_payment", "transfer", 500), ("adjustment", "transfer", -100),
    ]  # fmt: skip
    assert await _accounts(shop, order) == {
        "sales": -1000, "cash": 300, "bank": 400, "receivable": 300,
    }  # fmt: skip


async def test_too_much_cash_is_change(shop: Shop) -> None:
    """amountPaid keeps it, the till doesn't, and nobody has a credit."""
    order = await _sell(shop, 1300)
    assert (order["amountPaid"], order["remainingAmount"]) == (1300, 0)
    assert await _accounts(shop, order) == {"sales": -1000, "cash": 1000}


async def test_too_much_otherwise_is_credit(shop: Shop) -> None:
    """The customer's; a corrected total moves it."""
    order = await _sell(shop, 1300, payment_method="transfer")
    assert await _accounts(shop, order) == {
        "sales": -1000, "bank": 1300, "customer_credit": -300,
    }  # fmt: skip
    await shop.patch(order, total_amount=1200)
    assert await _accounts(shop, order) == {
        "sales": -1200, "bank": 1300, "customer_credit": -100,
    }  # fmt: skip
    nobody = await shop.sell(fee(1000), amount_paid=1300, payment_method="transfer")
    accounts = await _accounts(shop, nobody)
    assert accounts.pop("sales") == -1000
    assert accounts.pop("bank") == 1300
    assert list(accounts.values()) == [-300]


@pytest.mark.parametrize("name", ["Ada Obi", None])
@pytest.mark.parametrize(("way", "other"), [("cash", "transfer"), ("cash", "pos"), ("pos", "cash")])
async def test_change_that_was_given_is_no_credit(
    shop: Shop, services: Services, way: str, other: str, name: str | None
) -> None:
    """Nor credit change: another method moves no money, so with an excess it is refused."""
    given = {"customer_name": name} if name else {}
    order = await shop.sell(fee(1000), amount_paid=1300, payment_method=way, **given)
    before = await _accounts(shop, order)
    await shop.news()
    for fields in (
        {}, {"amount_paid": 1300}, {"amount_paid": 1500}, {"amount_paid": 1001},
        {"total_amount": 1299}, {"customer_name": "Bola New"}, {"status": "pending"},
    ):  # fmt: skip
        answer = await shop.patch_all(order, {"payment_method": other, **fields}, 400)
        assert answer.error == "request_failed", fields
        assert "amount_paid that is not above the total" in answer.json["message"]
    answer = await shop.patch_all(order, {"payment_method": other, "status": "cancelled"}, 400)
    assert answer.json["message"].endswith("leave the payment method as it is.")
    assert await shop.show(order) == order
    assert await _accounts(shop, order) == before
    assert await shop.told() == []
    # Nothing is too much any more: what is in the drawer, or at the bank, stays there.
    exact = await shop.patch(order, payment_method=other, amount_paid=1000)
    assert (exact["paymentMethod"], exact["amountPaid"]) == (other, 1000)
    assert await _accounts(shop, order) == {"sales": -1000, way: 1000}
    async with services.pool.reading() as db:
        assert [fault async for fault in prove(db, shop.book, [ORDER_SOURCE])] == []


@pytest.mark.parametrize(("way", "other"), [("cash", "transfer"), ("pos", "cash")])
async def test_an_excess_stays_what_it_was_when_the_sale_ended(
    shop: Shop, way: str, other: str
) -> None:
    """Change is handed out, credit is given, also when the order is cancelled or put off."""
    sold = await shop.to(await _sell(shop, 1300, payment_method=way), "pending")
    later = {"status": "scheduled", "scheduled_for": iso(now() + timedelta(days=1))}
    await shop.patch_all(sold, {"payment_method": other, **later}, 400)
    order = await shop.to(sold, "cancelled")
    before = await _accounts(shop, order)
    for fields in ({}, {"status": "pending"}, later):
        await shop.patch_all(order, {"payment_method": other, **fields}, 400)
    assert await shop.show(order) == order
    assert await _accounts(shop, order) == before


async def test_the_method_changes_where_no_excess_turns(shop: Shop) -> None:
    """Among ways that give credit, without an excess, up to the total, and before the sale."""
    order = await _sell(shop, 1300, payment_method="transfer")
    before = await _accounts(shop, order)
    assert (await shop.patch(order, payment_method="pos"))["paymentMethod"] == "pos"
    assert await _accounts(shop, order) == before
    order = await _sell(shop, 1000)
    assert (await shop.patch(order, payment_method="pos"))["paymentMethod"] == "pos"
    over = await shop.patch(order, amount_paid=1200)
    assert over["amountPaid"] == 1200
    assert (await _accounts(shop, order))["customer_credit"] == -200
    order = await _sell(shop, 1300)
    await shop.patch(order, payment_method="transfer", total_amount=1300)
    assert await _accounts(shop, order) == {"sales": -1300, "cash": 1300}
    later = iso(now() + timedelta(days=1))
    order = await _sell(shop, 1300, scheduled_for=later)
    assert (await shop.patch(order, payment_method="transfer"))["paymentMethod"] == "transfer"


async def test_a_deposit_is_no_sale_yet(shop: Shop) -> None:
    """A scheduled order sells nothing before it is confirmed, though money came in."""
    later = iso(now() + timedelta(days=1))
    order = await _sell(shop, 400, scheduled_for=later, payment_method="pos")
    accounts = await _accounts(shop, order)
    assert "sales" not in accounts
    assert accounts["pos"] == 400
    await shop.confirm(order)
    assert await _accounts(shop, order) == {"sales": -1000, "pos": 1000}


@pytest.mark.parametrize("end", ["cancelled", "deleted"])
async def test_what_ended_is_no_sale(shop: Shop, end: str) -> None:
    """Nothing is sold and nothing owed; what was paid is kept for the payer."""
    order = await _sell(shop, 400, payment_method="transfer")
    await (shop.delete(order) if end == "deleted" else shop.to(order, "cancelled"))
    accounts = await _accounts(shop, order)
    assert "sales" not in accounts
    assert "receivable" not in accounts
    assert accounts == {"bank": 400, "customer_credit": -400}


@pytest.mark.parametrize("name", ["Ada Obi", None])
@pytest.mark.parametrize("way", ["cash", "transfer"])
async def test_money_is_handed_back_for_a_cancelled_order(
    shop: Shop, services: Services, name: str | None, way: str
) -> None:
    """amount_paid only becomes less, as a refund; the total stays, and so does the status."""
    given = {"customer_name": name} if name else {}
    order = await shop.sell(fee(1000), amount_paid=1200, payment_method=way, **given)
    order = await shop.to(order, "cancelled")
    for fields in ({"amount_paid": 1201}, {"total_amount": 1000}, {"total_amount": 0}):
        assert (await shop.patch_all(order, fields, 400)).error == "request_failed"
    await shop.news()
    for paid in (700, 700, 0):
        after = await shop.patch(order, amount_paid=paid)
        assert (after["amountPaid"], after["status"]) == (paid, "cancelled")
        assert (after["totalAmount"], after["cancellation"]) == (1000, order["cancellation"])
    assert await shop.told() == ["order.updated", "order.updated"]
    assert await _accounts(shop, order) == {}
    # The change of a cash sale is taken back with the money.
    change = [("change", way, 200)] if way == "cash" else []
    assert sorted(await _receipts(shop, order)) == [
        *change, ("refund", way, -700), ("refund", way, -500), ("sale", way, 1200),
    ]  # fmt: skip
    async with services.pool.reading() as db:
        assert [fault async for fault in prove(db, shop.book, [ORDER_SOURCE])] == []


async def test_a_cancellation_may_hand_back_at_once(shop: Shop, services: Services) -> None:
    """One PATCH cancels and refunds; taken up again, the order is owed in full."""
    order = await _sell(shop, 400, payment_method="pos")
    over = await shop.to(order, "cancelled", amount_paid=0)
    assert over["amountPaid"] == 0
    assert await _accounts(shop, order) == {}
    assert await _receipts(shop, order) == [("sale", "pos", 400), ("refund", "pos", -400)]
    again = await shop.to(order, "pending")
    assert again["remainingAmount"] == 1000
    assert ("active", 1000) in await shop.debts(order)
    async with services.pool.reading() as db:
        assert [fault async for fault in prove(db, shop.book, [ORDER_SOURCE])] == []


async def test_nothing_moves_without_money(shop: Shop) -> None:
    """A change of no amount posts nothing."""
    order = await _sell(shop, 400)
    before = await shop.footprint()
    await shop.patch(order, channel_fulfilled=True, academic_term_id=None)
    await shop.to(order, "completed")
    await shop.to(order, "pending")
    after = await shop.footprint()
    for name in ("transfers", "transactions", "debts"):
        assert after[name] == before[name]


async def test_an_order_of_nothing_posts_nothing(shop: Shop) -> None:
    """A transfer has an amount."""
    order = await shop.sell(fee(0))
    assert await _accounts(shop, order) == {}
    assert await _receipts(shop, order) == []


@pytest.mark.parametrize(("currency", "price"), [("JPY", 333), ("KWD", 0.125), ("USD", 0.01)])
async def test_books_are_exact_in_every_currency(
    open_shop: Open, services: Services, currency: str, price: float
) -> None:
    """Many small sales with tax: the ledger's sum is the orders' sum."""
    shop = await open_shop(currency=currency)
    product = await shop.product(price, tax_rate=7.5)
    orders = [await shop.sell(line(product, n + 0.5), amount_paid=price) for n in range(10)]
    total = sum(Decimal(str(order["totalAmount"])) for order in orders)
    sold = await shop.sql.fetchval(
        "SELECT sum(amount) FROM ledger_transfers WHERE book_id = $1 AND credit_kind = 'sales'",
        shop.book,
    )
    assert sold == total
    async with services.pool.reading() as db:
        assert [fault async for fault in prove(db, shop.book, [ORDER_SOURCE])] == []


async def test_the_ledger_says_what_the_orders_say(shop: Shop, services: Services) -> None:
    """After all that the tests above did: no sum, debt or balance is off."""
    # By itself, too, when the others run elsewhere.
    await _sell(shop, 400)
    assert await shop.total() > 0
    async with services.pool.reading() as db:
        assert [fault async for fault in prove(db, shop.book, [ORDER_SOURCE])] == []
