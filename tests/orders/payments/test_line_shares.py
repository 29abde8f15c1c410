"""Refunds by lines of any order and any adjustment come to its total, and to its tax."""

import json
from decimal import Decimal
from random import Random
from uuid import UUID

import pytest

from tests.orders.payments.till import Till
from tests.orders.shop import ORDERS, Body, fee, line


async def _priced(till: Till, draw: Random) -> Body:
    """An order of a few lines whose total was set, or was not, and all of it paid."""
    lines = []
    for _ in range(draw.randint(1, 4)):
        rate = draw.choice([0, 7, 7.5, 19])
        product = await till.product(draw.randint(1, 5000) / 100, tax_rate=rate)
        lines.append(line(product, draw.randint(1, 4)))
    if draw.random() < 0.4:
        lines.append(fee(draw.randint(1, 1000) / 100))
    order = await till.sell(*lines)
    total = order["totalAmount"]
    if draw.random() < 0.85:
        total = max(draw.randint(1, round(total * 200)), 1) / 100
        order = await till.patch(order, total_amount=total)
    return await till.patch(order, amount_paid=total)


async def _return_all(till: Till, order: Body, draw: Random) -> Body:
    """The order after its lines went back in parts, in any order; what is free can't."""
    left = {item["id"]: int(item["quantity"]) for item in order["items"]}
    while left:
        item_id = draw.choice(list(left))
        quantity = draw.randint(1, left[item_id])
        body = {"lines": [{"item_id": item_id, "quantity": quantity}]}
        answer = await till.post_refund(order, body)
        if answer.status == 201:
            order = answer.data
        else:
            assert "cost nothing" in answer.json["message"], answer
            if quantity < left[item_id]:
                continue
        left[item_id] -= quantity
        if not left[item_id]:
            del left[item_id]
    return order


@pytest.mark.parametrize("tax_inclusive", [True, False])
@pytest.mark.parametrize("seed", range(4))
async def test_all_lines_give_back_the_total_and_its_tax(
    till: Till, seed: int, tax_inclusive: bool
) -> None:
    """One after another and in parts: to the cent."""
    await till.set_trade(tax_inclusive=tax_inclusive)
    draw = Random(seed)  # noqa: S311 - the same cases each time
    for _ in range(3):
        order = await _return_all(till, await _priced(till, draw), draw)
        assert order["refundedAmount"] == order["totalAmount"]
        assert order["status"] == "refunded"
        refunds = order["refunds"]
        for refund in refunds:
            assert refund["amount"] == sum(part["amount"] for part in refund["lines"])
        receipt = await _receipt(till, order)
        taxes = [Decimal(one["tax"]) for one in receipt["returned"]]
        assert len(taxes) == len(refunds)
        assert sum(taxes) == Decimal(receipt["tax"])
        assert all(tax >= 0 for tax in taxes)


async def test_a_receipt_tells_the_tax_of_parts_that_went_back(till: Till) -> None:
    """0.95 of 20, in three parts, though the line had 0.01 when it was sold for 0.30."""
    await till.set_trade(tax_inclusive=True)
    order = await till.sell(line(await till.product("0.10", tax_rate=5), 3))
    order = await till.patch(order, total_amount=20)
    order = await till.patch(order, amount_paid=20)
    assert order["taxAmount"] == 0.95
    [item] = order["items"]
    for _ in range(3):
        part = {"item_id": item["id"], "quantity": 1}
        order = await till.give_back(order, lines=[part])
    receipt = await _receipt(till, order)
    told = [(Decimal(one["amount"]), Decimal(one["tax"])) for one in receipt["returned"]]
    parts = [("6.67", "0.32"), ("6.66", "0.31"), ("6.67", "0.32")]
    assert told == [(Decimal(amount), Decimal(tax)) for amount, tax in parts]


async def _receipt(till: Till, order: Body) -> Body:
    """The content of the order's receipt as it stands now, its amounts exact."""
    await till.api.post(f"{ORDERS}/{order['id']}/receipt", status=200)
    content = await till.sql.fetchval(
        "SELECT content FROM receipts WHERE order_id = $1", UUID(order["id"])
    )
    return json.loads(content, parse_float=Decimal)
