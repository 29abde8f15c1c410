"""Refunds of orders: by amount, by lines, with stock, and what they leave of the order."""

import asyncio
import re
from decimal import Decimal
from uuid import UUID

import pytest

from tests.orders.payments.till import Till
from tests.orders.receipts import page_text
from tests.orders.shop import ORDERS, Body, fee, line, variant_of
from tillhouse.access.process import Services
from tillhouse.orders.refunds.rules import REFUNDS_MAX

_SUM = re.compile(r'<th scope="row">([^<]*)</th>\s*<td>[A-Z]{3} ([^<]*)</td>')


async def test_a_part_of_a_paid_sale_is_given_back(till: Till) -> None:
    """The amount due falls with it: nothing remains, and the order stays paid."""
    order = await till.ring(100, 100)
    less = await till.give_back(order, amount=30, reason="Cold")
    assert (less["status"], less["paymentStatus"]) == ("completed", "paid")
    assert (less["amountPaid"], less["refundedAmount"], less["remainingAmount"]) == (70, 30, 0)
    [refund] = less["refunds"]
    assert (refund["amount"], refund["method"], refund["reason"]) == (30, "cash", "Cold")
    assert (refund["status"], refund["restocked"], refund["lines"]) == ("successful", False, [])
    assert await till.accounts() == {"cash": 70, "sales": -100, "refunds": 30}
    assert await till.transactions() == [("sale", "cash", 100), ("refund", "cash", -30)]
    path = f"{ORDERS}/{order['id']}/refunds"
    assert (await till.api.get(path, status=200)).data == [refund]
    assert await till.show(order) == less


async def test_all_of_it_makes_the_order_refunded(till: Till) -> None:
    """Its change stays handed out, and no more can be done with it."""
    order = await till.ring(100, 120)
    await till.give_back(order, amount=40)
    gone = await till.give_back(order, amount=60)
    assert (gone["status"], gone["refundedAmount"], gone["amountPaid"]) == ("refunded", 100, 20)
    assert (gone["changeAmount"], gone["remainingAmount"]) == (20, 0)
    assert await till.accounts() == {"sales": -100, "refunds": 100}
    await till.give_back(order, amount=1, status=400)
    await till.pay(order, 1, status=400)


async def test_no_more_than_was_paid(till: Till) -> None:
    """Less the change and earlier refunds; of nothing, nothing."""
    order = await till.ring(100, 120)
    await till.give_back(order, amount="100.01", status=400)
    await till.give_back(order, amount=30)
    await till.give_back(order, amount="70.01", status=400)
    await till.give_back(await till.ring(100), amount=1, method="cash", status=400)


@pytest.mark.proof
async def test_an_order_has_so_many_refunds(till: Till) -> None:
    """The last one is made, and one more refused, whatever is left to give back."""
    order = await till.ring(REFUNDS_MAX + 1, REFUNDS_MAX + 1)
    for _ in range(REFUNDS_MAX):
        await till.give_back(order, amount=1)
    refused = await till.give_back(order, amount=1, status=400)
    assert f"at most {REFUNDS_MAX} refunds" in refused.json["message"]


async def test_a_kept_overpayment_goes_first(till: Till) -> None:
    """130 by card for 100: 50 given back are 30 of credit and 20 of the sale."""
    order = await till.ring(100, 130, payment_method="pos", customer_name="Ada Obi")
    less = await till.give_back(order, amount=50)
    assert (less["amountPaid"], less["refundedAmount"]) == (80, 20)
    assert await till.accounts() == {"pos": 80, "sales": -100, "refunds": 20}


async def test_a_preview_tells_what_the_refund_does(till: Till) -> None:
    """The same amounts, and refusals; of it nothing stays."""
    order = await till.sell(fee(60), fee(25), amount_paid=85)
    order = await till.patch(order, total_amount=70)
    path = f"{ORDERS}/{order['id']}/refunds"
    body = {"lines": [{"item_id": order["items"][0]["id"], "quantity": 1}]}
    before = await till.show(order)
    told = (await till.api.post(f"{path}/preview", body, status=200)).data
    assert await till.show(order) == before
    given = (await till.give_back(order, **body))["refunds"][0]
    assert told == {name: given[name] for name in ("amount", "method", "lines")}
    await till.api.post(f"{path}/preview", body, status=422)
    await till.api.post(f"{path}/preview", {"amount": 71}, status=400)
    seen = {"amount": 1, "if_amount_paid": 85}
    await till.api.post(f"{path}/preview", seen, status=409)


async def test_a_preview_waits_for_nobody(till: Till, services: Services) -> None:
    """Nor does anybody wait for it: a till that shows refunds holds no other one up."""
    order = await till.ring(100, 100)
    path = f"{ORDERS}/{order['id']}/refunds/preview"
    async with services.pool.transaction() as db:
        await db.execute("SELECT FROM orders WHERE id = $1 FOR UPDATE", UUID(order["id"]))
        told = (await till.api.post(path, {"amount": 30}, status=200)).data
        await till.api.post(path, {"amount": 30, "restock": True, "reason": 5}, status=422)
    assert told == {"amount": 30, "method": "cash", "lines": []}


async def test_lines_that_come_back_leave_the_credit(till: Till) -> None:
    """85 by card, 70 charged: all goods come back for 70, and the customer still has the 15."""
    order = await till.sell(fee(60), fee(25), amount_paid=85, payment_method="pos",
                            customer_name="Ada Obi")  # fmt: skip
    order = await till.patch(order, total_amount=70)
    customer = f"/v1/customers/{order['customer']['id']}/credit"
    first, second = ({"item_id": one["id"], "quantity": 1} for one in order["items"])
    less = await till.give_back(order, lines=[first])
    assert (less["status"], less["refundedAmount"]) == ("completed", 49.41)
    gone = await till.give_back(order, lines=[second])
    assert (gone["status"], gone["refundedAmount"], gone["amountPaid"]) == ("refunded", 70, 15)
    credit = (await till.api.get(customer, status=200)).data
    assert credit["available"] == 15
    assert await till.accounts() == {
        "pos": 15, "customer_credit": -15, "sales": -70, "refunds": 70
    }  # fmt: skip


async def test_of_a_partly_paid_order_what_is_left_rises_again(till: Till) -> None:
    """The debt too."""
    order = await till.ring(100, 60, customer_name="Ada Obi")
    less = await till.give_back(order, amount=50)
    assert (less["status"], less["amountPaid"], less["remainingAmount"]) == ("pending", 10, 90)
    assert less["refundedAmount"] == 0
    assert await till.debts(order) == [("active", 90)]


@pytest.mark.parametrize("method", ["cash", "credit"])
async def test_lines_of_a_partly_paid_order_are_owed_no_more(till: Till, method: str) -> None:
    """1,000 for two, 600 paid: one comes back for 500, and 400 remain, wherever that is told."""
    product = await till.product(500, stock=10)
    body = {"items": [line(product, 2)], "customer_name": "Ada Obi", "amount_paid": 600}
    order = (await till.api.post(ORDERS, body, status=201)).data
    part = {"item_id": order["items"][0]["id"], "quantity": 1}
    less = await till.give_back(order, lines=[part], restock=True, method=method)
    told = less["status"], less["amountPaid"], less["refundedAmount"], less["remainingAmount"]
    assert told == ("pending", 100, 500, 400)
    assert await till.debts(order) == [("active", 400)]
    rows = await _printed(till, order)
    assert rows["Remaining"] == 400
    assert rows["Total"] + rows["Given back"] == sum(
        amount for label, amount in rows.items() if label.startswith(("Paid", "Ref", "Rem"))
    )
    paid = await till.pay(order, 400)
    assert (paid["status"], paid["remainingAmount"]) == ("completed", 0)
    assert await till.debts(order) == [("paid", 0)]
    await till.give_back(order, lines=[part], method="cash")
    assert (await till.show(order))["status"] == "refunded"


async def _printed(till: Till, order: Body) -> dict[str, Decimal]:
    """The sums of a receipt, by their labels."""
    rows = _SUM.findall(await page_text(till, order))
    return {
        label: Decimal(amount.replace(",", "").replace("\u2212", "-")) for label, amount in rows
    }


async def test_a_cancelled_order_gives_back_what_it_kept(till: Till) -> None:
    """By a refund, or by an amount paid that is less: both are rows."""
    order = await till.ring(100, 100, customer_name="Ada Obi")
    await till.to(order, "cancelled")
    await till.give_back(order, amount=40)
    await till.give_back(order, amount=10, method="credit", status=400)
    over = await till.patch(order, amount_paid=25)
    assert [refund["amount"] for refund in over["refunds"]] == [40, 35]
    assert await till.accounts() == {"cash": 25, "customer_credit": -25}


async def test_a_refunded_part_survives_cancellation_and_return(till: Till) -> None:
    """Cancelled, taken up again, deleted: the books are sound at each step."""
    order = await till.ring(100, 100, customer_name="Ada Obi")
    await till.give_back(order, amount=30)
    await till.to(order, "cancelled")
    assert await till.accounts() == {"cash": 70, "customer_credit": -70}
    back = await till.to(order, "pending")
    assert (back["status"], back["remainingAmount"]) == ("pending", 0)
    assert await till.accounts() == {"cash": 70, "sales": -100, "refunds": 30}
    await till.patch(order, total_amount=20, status=400)
    await till.delete(order)


async def test_several_tenders_ask_for_the_method(till: Till) -> None:
    """The refusal tells which brought how much; any method may be taken."""
    order = await till.ring(100)
    await till.pay(order, 40, "pos")
    await till.pay(order, 60, "cash")
    refused = await till.give_back(order, amount=10, status=422)
    assert refused.wrong_fields == {"method"}
    assert "60 by cash and 40 by pos" in refused.json["details"][0]["message"]
    await till.give_back(order, amount=40, method="pos")
    # The rest came in cash.
    less = await till.give_back(order, amount=10)
    assert [refund["method"] for refund in less["refunds"]] == ["pos", "cash"]
    assert await till.accounts() == {"cash": 50, "sales": -100, "refunds": 50}


async def test_refunds_name_so_many_lines(till: Till) -> None:
    """Together; what is left is given back by its amount."""
    things = [{**fee(1), "quantity": 3} for _ in range(500)]
    order = await till.sell(*things, amount_paid=1500)
    lines = [{"item_id": item["id"], "quantity": 1} for item in order["items"]]
    for _ in range(2):
        await till.give_back(order, lines=lines)
    refused = await till.give_back(order, lines=lines[:1], status=400)
    assert "by its amount" in refused.json["message"]
    gone = await till.give_back(order, amount=500)
    assert gone["status"] == "refunded"


async def test_a_line_is_given_back_once(till: Till) -> None:
    """All of it is its total; beyond that there is nothing left of it."""
    rice = {"product_name": "Rice", "quantity": 3, "custom_price": "33.33"}
    order = await till.sell(rice, fee("0.01"), amount_paid=100)
    item = order["items"][0]
    part = {"item_id": item["id"], "quantity": 3}
    less = await till.give_back(order, lines=[part])
    assert less["refundedAmount"] == item["totalPrice"] == 99.99
    over = await till.give_back(order, lines=[{**part, "quantity": 0.5}], status=422)
    assert over.wrong_fields == {"lines[0].quantity"}


async def test_shares_of_a_line_add_up_to_it(till: Till) -> None:
    """Three of 10 with 1 off: thirds of 29 are 9.67, 9.66 and 9.67."""
    rice = {"product_name": "Rice", "quantity": 3, "custom_price": 10}
    order = await till.sell(rice, discount_amount=1, amount_paid=29)
    part = {"item_id": order["items"][0]["id"], "quantity": 1}
    for _ in range(3):
        order = await till.give_back(order, lines=[part])
    amounts = [Decimal(str(refund["amount"])) for refund in order["refunds"]]
    assert amounts == [Decimal("9.67"), Decimal("9.66"), Decimal("9.67")]
    assert (order["status"], order["refundedAmount"]) == ("refunded", 29)
    assert order["refunds"][0]["lines"] == [{"itemId": part["item_id"], "quantity": 1,
                                             "amount": 9.67}]  # fmt: skip


async def test_lines_give_back_what_is_charged_for_them(till: Till) -> None:
    """20.01 and 9.99, of which 16.60 are charged: 11.07 and 5.53; parts add up to each."""
    rice = {"product_name": "Rice", "quantity": 3, "custom_price": "6.67"}
    order = await till.sell(rice, {**rice, "quantity": 1, "custom_price": "9.99"})
    order = await till.patch(order, total_amount="16.60", amount_paid="16.60")
    three, one = ({"item_id": item["id"], "quantity": 1} for item in order["items"])
    for part in (three, one, three, three):
        order = await till.give_back(order, lines=[part])
    amounts = [refund["amount"] for refund in order["refunds"]]
    assert amounts == [3.69, 5.53, 3.69, 3.69]
    assert (order["status"], order["refundedAmount"], order["amountPaid"]) == ("refunded", 16.6, 0)


async def test_a_total_set_after_a_refund_counts_for_the_lines_that_are_left(till: Till) -> None:
    """10 of 20 went back, then 15 are charged: of the other line are 5 left."""
    thing = {"product_name": "Rice", "quantity": 1, "custom_price": 10}
    order = await till.sell(thing, thing, amount_paid=20, customer_name="Ada Obi")
    first, second = ({"item_id": item["id"], "quantity": 1} for item in order["items"])
    await till.give_back(order, lines=[first])
    await till.patch(order, total_amount=15)
    order = await till.give_back(order, lines=[second])
    assert [refund["amount"] for refund in order["refunds"]] == [10, 5]


async def test_fees_give_back_what_products_do_not_bear(till: Till) -> None:
    """Of 10 and a fee of 5, 2 are charged: the product cost nothing, the fee 2."""
    rice = {"product_name": "Rice", "quantity": 1, "custom_price": 10}
    order = await till.sell(rice, fee(5))
    order = await till.patch(order, total_amount=2, amount_paid=2)
    product, charge = ({"item_id": item["id"], "quantity": 1} for item in order["items"])
    await till.give_back(order, lines=[product], status=400)
    order = await till.give_back(order, lines=[product, charge])
    assert (order["status"], order["refundedAmount"]) == ("refunded", 2)


async def test_tax_on_top_goes_back_with_a_line_as_it_is_charged(till: Till) -> None:
    """1,100 and 600, of which 850 are charged: 550 and 300, tax included."""
    dear, cheap = await till.product(1000, tax_rate=10), await till.product(500, tax_rate=20)
    order = await till.sell(line(dear), line(cheap))
    order = await till.patch(order, total_amount=850, amount_paid=850)
    for item in order["items"]:
        order = await till.give_back(order, lines=[{"item_id": item["id"], "quantity": 1}])
    assert [refund["amount"] for refund in order["refunds"]] == [550, 300]
    assert (order["status"], order["refundedAmount"]) == ("refunded", 850)


async def test_stock_comes_back_once(till: Till) -> None:
    """Of 5 sold 2 are given back; the cancellation gives back 3, and 3 are taken again."""
    rice = await till.product(100, stock=10)
    variant = variant_of(rice)
    order = await till.sell(line(rice, 5), amount_paid=500)
    part = {"item_id": order["items"][0]["id"], "quantity": 1}
    for wanted in (6, 7):
        shown = await till.give_back(order, lines=[part], restock=True)
        assert shown["refunds"][-1]["restocked"]
        assert (await till.stock(variant))[0] == wanted
    await till.give_back(order, lines=[part])
    assert (await till.stock(variant))[0] == 7
    await till.to(order, "cancelled")
    assert (await till.stock(variant))[0] == 10
    await till.give_back(order, lines=[part], restock=True, status=400)
    await till.to(order, "pending")
    assert (await till.stock(variant))[0] == 7
    await till.delete(order)
    assert (await till.stock(variant))[0] == 10


async def test_stock_of_a_bundle_comes_back_by_its_parts(till: Till) -> None:
    """One of two boxes: its rice and its drinks."""
    rice, drink = await till.product(100, stock=10), await till.product(50, stock=10, name="Drink")
    box = await till.bundle((rice, 1), (drink, 2))
    order = await till.sell(line(box, 2), amount_paid=6000)
    part = {"item_id": order["items"][0]["id"], "quantity": 1}
    await till.give_back(order, lines=[part], restock=True)
    assert (await till.stock(variant_of(rice)))[0] == 9
    assert (await till.stock(variant_of(drink)))[0] == 8
    await till.delete(order)
    assert (await till.stock(variant_of(rice)))[0] == 10
    assert (await till.stock(variant_of(drink)))[0] == 10


async def test_a_refund_is_told(till: Till) -> None:
    """order.updated names it, and the refund by its id."""
    order = await till.ring(100, 100)
    await till.news()
    shown = await till.give_back(order, amount=30)
    [event] = await till.news()
    assert event["type"] == "order.updated"
    metadata = event["data"]["metadata"]
    assert metadata["changed"] == ["amountPaid", "refundedAmount", "refund"]
    assert metadata["refundId"] == shown["refunds"][0]["id"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, {"amount"}),
        ({"amount": 0}, {"amount"}),
        ({"amount": "0.001"}, {"amount"}),
        ({"amount": 1, "lines": []}, {"amount", "lines"}),
        ({"lines": [{"item_id": "x", "quantity": 1}]}, {"lines[0].item_id"}),
        ({"amount": 1, "restock": True}, {"restock"}),
        ({"amount": 1, "method": "cheque"}, {"method"}),
        ({"amount": 1, "reason": "x" * 501}, {"reason"}),
    ],
)
async def test_wrong_refunds_are_refused(till: Till, fields: Body, named: set[str]) -> None:
    """Each wrong field is named, and nothing is booked."""
    order = await till.ring(100, 100)
    answer = await till.post_refund(order, fields)
    assert (answer.status, answer.wrong_fields) == (422, named), answer
    assert (await till.show(order))["refunds"] == []


async def test_lines_of_another_order_and_lines_named_twice(till: Till) -> None:
    """Neither is taken."""
    order, other = await till.ring(100, 100), await till.ring(100, 100)
    mine, others = ({"item_id": one["items"][0]["id"], "quantity": 1} for one in (order, other))
    wrong = await till.give_back(order, lines=[mine, mine, others], status=422)
    assert wrong.wrong_fields == {"lines[1].item_id", "lines[2].item_id"}
    await till.give_back(other, lines=[others], amount=5, status=422)


async def test_fifty_refunds_at_once_are_one(till: Till) -> None:
    """Each of the whole payment: one is given back, the others are refused."""
    order = await till.ring(100, 100)
    answers = await asyncio.gather(*(till.post_refund(order, {"amount": 100}) for _ in range(50)))
    assert sorted(answer.status for answer in answers) == [201] + [400] * 49
    assert [refund["amount"] for refund in (await till.show(order))["refunds"]] == [100]


async def test_the_same_refund_fifty_times_is_one(till: Till) -> None:
    """By one key."""
    order = await till.ring(100, 100)
    await asyncio.gather(*(till.post_refund(order, {"amount": 10}, "refund-1") for _ in range(50)))
    assert (await till.show(order))["refundedAmount"] == 10
