"""A preview of an order: what recording it comes to, to the last digit, and nothing of it done."""

import random
from collections import Counter
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from tests.api import Response
from tests.db.tables import rows_by_table
from tests.orders.conftest import Open
from tests.orders.preview_baskets import RandomBaskets
from tests.orders.shop import ORDERS, Body, Shop, chosen, exact, fee, line
from tests.orders.test_input import WRONG, WRONG_IN_ITEM

PREVIEW = f"{ORDERS}/preview"
DECIMALS = {"NGN": 2, "JPY": 0, "KWD": 3}
BASKETS = 25
# Written whatever a request does: when a key was used last, and how often.
_OF_REQUESTS = {"api_key_uses", "usage_records"}


def refusal(answer: Response) -> tuple[int, Any]:
    """The status and the envelope, without what names the request."""
    return answer.status, {key: value for key, value in answer.json.items() if key != "requestId"}


async def both(shop: Shop, body: Body) -> Response:
    """The recording of an order that was previewed a moment before: both say the same."""
    told = await shop.api.post(PREVIEW, body)
    made = await shop.api.post(ORDERS, body)
    if made.status != 201:
        assert refusal(told) == refusal(made), body
        return made
    assert told.status == 200, (told, body)
    preview, order = exact(told), exact(made)
    lines, items = preview.pop("items"), order["items"]
    assert preview == {name: order[name] for name in preview}, body
    assert lines == [{name: item[name] for name in lines[0]} for item in items], body
    return made


@pytest.mark.parametrize("is_inclusive", [False, True], ids=["exclusive", "inclusive"])
@pytest.mark.parametrize("currency", DECIMALS)
async def test_a_preview_is_what_is_recorded(
    open_shop: Open, currency: str, *, is_inclusive: bool
) -> None:
    """The same amounts, lines and refusals, of baskets of all kinds."""
    chance = random.Random(f"{currency} {is_inclusive}")  # noqa: S311 - no secret
    shop = await open_shop(currency=currency, business_type="restaurant")
    await shop.set_trade(
        tax_inclusive=is_inclusive, service_charge_percent=12, service_charge_modes=["dine_in"]
    )
    baskets = RandomBaskets(shop, DECIMALS[currency], chance)
    await baskets.open()
    statuses = Counter([(await both(shop, baskets.draw())).status for _ in range(BASKETS)])
    # Most are sold, and some of them refused: the baskets try both.
    assert statuses[201] > BASKETS / 4
    assert statuses.total() - statuses[201] > 0


async def test_a_preview_is_told_in_full(open_shop: Open) -> None:
    """Its amounts in figures, of a sale paid too much in cash and of one that waits."""
    shop = await open_shop(business_type="restaurant")
    await shop.set_trade(service_charge_percent=10, service_charge_modes=["dine_in"])
    product, promotion = await shop.product(1000, tax_rate=7.5, stock=5), await shop.promotion()
    body = {"items": [line(product, 2), fee(50)], "promotion_id": promotion["id"],
            "service_mode": "dine_in", "amount_paid": 3000}  # fmt: skip
    told = (await shop.api.post(PREVIEW, body, status=200)).data
    assert [one["totalPrice"] for one in told["items"]] == [1935, 50]
    assert [told[f"{name}Amount"] for name in ("subtotal", "discount", "serviceCharge", "tax")] == [
        2050, 200, 180, 135
    ]  # fmt: skip
    assert (told["totalAmount"], told["changeAmount"], told["remainingAmount"]) == (2165, 835, 0)
    assert (told["status"], told["paymentStatus"]) == ("completed", "paid")
    later = {**body, "scheduled_for": "2100-01-30T12:00:00Z", "amount_paid": 100}
    told = (await shop.api.post(PREVIEW, later, status=200)).data
    assert (told["status"], told["remainingAmount"], told["changeAmount"]) == ("scheduled", 2065, 0)


async def test_nothing_is_written_and_nothing_locked(
    open_shop: Open, database_url: str, sql: asyncpg.Connection
) -> None:
    """No row of any table changes; and it is told while others hold what it would write."""
    shop = await open_shop(business_type="restaurant")
    await shop.set_trade(service_charge_percent=10, service_charge_modes=["dine_in"])
    product = await shop.product(1000, tax_rate=5, stock=5)
    promotion, store = await shop.promotion(limit_per_customer=1), await shop.store()
    allowing = {"stock_policy": "allow"}
    unlevelled = await shop.product(10, stock=1, store=store["id"], **allowing)
    body = {
        "items": [line(product, 5), line(unlevelled)], "promotion_id": promotion["id"],
        "customer_name": "Somebody new", "tags": ["Brand new"], "service_mode": "dine_in",
        "table_session_id": (await shop.session())["id"], "payment_method": "cloove_pay",
        "send_to_kitchen": True,
    }  # fmt: skip
    elsewhere = {**body, "store_id": store["id"]}
    before, prints = await rows_by_table(sql), await shop.footprint()
    other = await asyncpg.connect(database_url)
    try:
        async with other.transaction():
            await other.execute(_HOLD)
            told = (await shop.api.post(PREVIEW, body, status=200)).data
            await shop.api.post(PREVIEW, elsewhere, status=200)
    finally:
        await other.close()
    await shop.api.post(PREVIEW, {**body, "discount_amount": 10**9}, status=422)
    await shop.api.post(PREVIEW, {**body, "items": [line(product, 6)]}, status=400)
    after = await rows_by_table(sql)
    changed = {name for name, rows in after.items() if rows != before[name]}
    assert changed <= _OF_REQUESTS
    assert await shop.footprint() == prints
    made = (await shop.api.post(ORDERS, body, status=201)).data
    assert made["totalAmount"] == told["totalAmount"]


_HOLD = """
    LOCK TABLE orders, order_items, payments, stock_levels, stock_moves, customers, tags,
        promotions, promotion_customers, table_sessions, stores, products, variants,
        ledger_balances, ledger_transfers, debts, kitchen_tickets, webhook_events, jobs,
        idempotency_keys, hotel_reservations
    IN EXCLUSIVE MODE
"""


CREDIT = {"payment_method": "credit", "amount_paid": 5}


async def test_short_stock_is_told(open_shop: Open) -> None:
    """Where it is sold, in the sum of its lines and of bundles; the past passes."""
    shop = await open_shop()
    few, here = await shop.product(100, stock=0.5), (await shop.store())["id"]
    there, gone = await shop.product(100, stock=3, store=here), await shop.product(100, stock=1)
    bundle = await shop.bundle((few, 0.7))
    cases: dict[int, list[Body]] = {
        201: [
            {"items": [line(there, 2)], "store_id": here},
            {"items": [line(gone, 9)], "occurred_at": "2024-05-03T15:00:00Z"},
        ],
        400: [
            {"items": [line(few, 1)]},
            {"items": [line(few, 0.4), line(few, 0.2)]},
            {"items": [line(few, 1)], "scheduled_for": "2100-01-30T12:00:00Z"},
            {"items": [line(bundle)]},
            {"items": [line(there, 2)], "store_id": here},
            {"items": [line(there, 1)]},
        ],
    }
    for status, bodies in cases.items():
        for body in bodies:
            assert (await both(shop, body)).status == status, body


async def test_more_than_can_be_counted_is_told(open_shop: Open) -> None:
    """A level of stock has a bound, and so has what is promised of it, also where more is sold.

    It is refused by the first order that goes beyond, and told before.
    """
    shop = await open_shop()
    most = {"quantity": 999_999_999, "custom_price": 0}
    for when in ({}, {"scheduled_for": "2100-01-30T12:00:00Z"}):
        product = await shop.product(1, stock=5, stock_policy="allow")
        body = {"items": [line(product, **most)] * 400, **when}
        assert [(await both(shop, body)).status for _ in range(3)] == [201, 201, 400], when


async def test_a_key_of_a_preview_is_no_orders(open_shop: Open) -> None:
    """With the same key it tells what holds now, and an order may have the key of its preview."""
    shop = await open_shop()
    product = await shop.product(100)
    body, key = {"items": [line(product)]}, {"Idempotency-Key": "till-1"}
    told = await shop.api.post(PREVIEW, body, status=200, headers=key)
    assert told.data["totalAmount"] == 100
    await shop.api.patch(f"/v1/products/{product['id']}", {"base_price": 120}, status=200)
    told = await shop.api.post(PREVIEW, body, status=200, headers=key)
    assert told.data["totalAmount"] == 120
    made = await shop.api.post(ORDERS, body, status=201, headers=key)
    assert made.data["totalAmount"] == 120


async def test_a_rule_of_the_business_is_told(open_shop: Open) -> None:
    """Goods that are off sale, promotions that are used up, what is closed, missing credit."""
    shop = await open_shop()
    goods, off = await shop.product(100), await shop.product(100)
    await shop.api.patch(f"/v1/products/{off['id']}", {"is_active": False}, status=200)
    once, each = await shop.promotion(limit_total=1), await shop.promotion(limit_per_customer=1)
    buyer = await shop.customer("Ngozi Obi")
    await shop.sell(line(goods), promotion_id=once["id"])
    await shop.sell(line(goods), promotion_id=each["id"], customer_id=buyer["id"])
    session, closed_store = await shop.session(), await shop.store(is_active=False)
    await shop.api.post(f"/v1/table-sessions/{session['id']}/close", status=200)
    mine = {"customer_id": buyer["id"]}
    for body in (
        {"items": [line(off)]},
        {"items": [line(goods)], "promotion_id": once["id"]},
        {"items": [line(goods)], "promotion_id": each["id"]},
        {"items": [line(goods)], "promotion_id": each["id"], **mine},
        {"items": [line(goods)], "promotion_id": each["id"], "customer_name": "ngozi OBI"},
        {"items": [fee()], "table_session_id": session["id"]},
        {"items": [fee()], "store_id": closed_store["id"]},
        {"items": [fee()], **CREDIT, **mine},
        {"items": [fee(4)], **CREDIT, **mine},
        {"items": [fee()], **CREDIT, "customer_name": "Nobody yet"},
    ):
        assert (await both(shop, body)).status == 400, body


async def test_wrong_fields_are_told(open_shop: Open) -> None:
    """By their names, also those that only the facts or the sums show to be wrong."""
    shop = await open_shop()
    group = await shop.group(5, min_choices=1, max_choices=1)
    asking = await shop.product(100, modifier_group_ids=[group["id"]])
    extra = {"modifier_group_id": str(uuid4()), "modifier_option_id": str(uuid4()),
             "name": "y" * 200, "price_delta": 0}  # fmt: skip
    long = {"product_name": "x" * 200, "custom_price": 1, "quantity": 1, "modifiers": [extra] * 50}
    for body in (
        {"items": [line(asking)]},
        {"items": [line(asking, modifiers=[chosen(group)] * 2)]},
        {"items": [fee()], "customer_id": str(uuid4())},
        {"items": [fee()], "promotion_id": str(uuid4())},
        {"items": [fee()], "tags": ["fine", "!!!", str(uuid4())]},
        {"items": [fee()], "discount_amount": 501},
        {"items": [fee()], **CREDIT},
        {"items": [long] * 40},
        {"items": [fee(9e14)] * 2},
    ):
        assert (await both(shop, body)).status == 422, body


async def test_a_sale_of_a_closed_period_is_refused(open_shop: Open) -> None:
    """By the sentence that recording has from the database; days are the business's."""
    shop = await open_shop(time_zone="Africa/Lagos")
    owner = await shop.business.client("finance:closings:write")
    await owner.put("/v1/ledger/closing", {"closed_until": "2024-05-31"}, status=200)
    for moment, status in (("31T22:59:59Z", 400), ("31T23:00:00Z", 201), ("03T15:00:00Z", 400)):
        body = {"items": [fee()], "occurred_at": f"2024-05-{moment}"}
        assert (await both(shop, body)).status == status, moment


async def test_what_a_new_customer_could_use_is_told(open_shop: Open) -> None:
    """A promotion that each may use once is theirs, and so is no credit."""
    shop = await open_shop()
    each, product = await shop.promotion(limit_per_customer=1), await shop.product(100)
    body = {"items": [line(product)], "promotion_id": each["id"], "customer_name": "Somebody new"}
    assert (await both(shop, body)).status == 201
    assert (await both(shop, body)).status == 400


async def test_a_live_book_tells_that_no_provider_opens_an_account(open_shop: Open) -> None:
    """As recording does."""
    shop = await open_shop(environment="live")
    body = {"items": [fee()], "payment_method": "cloove_pay"}
    assert (await both(shop, body)).status == 400


async def test_wrong_bodies_are_refused_like_orders(shop: Shop) -> None:
    """Each wrong value of each field, and no body at all."""
    item = {"product_name": "Gift", "quantity": 1, "custom_price": 10}
    bodies = [{"items": [item], name: value} for name, values in WRONG.items() for value in values]
    bodies += [
        {"items": [{**item, name: value}]}
        for name, values in WRONG_IN_ITEM.items()
        for value in values
    ]
    bodies += [{}, {"items": [item], "total": 5}, {"items": [item] * 501}]
    before = await shop.footprint()
    for body in bodies:
        told = await shop.api.post(PREVIEW, body)
        assert refusal(told) == refusal(await shop.api.post(ORDERS, body, status=422)), body
    assert await shop.footprint() == before


async def test_another_book_is_not_there(open_shop: Open) -> None:
    """Neither its goods nor its customers, promotions, stores and tags."""
    shop, other = await open_shop(), await open_shop()
    product, customer = await other.product(100, stock=5), await other.customer("Tunde Bakare")
    promotion, store = await other.promotion(limit_per_customer=1), await other.store()
    tag, session = await other.tag("VIP"), await other.session()
    for body in (
        {"items": [line(product)]},
        {"items": [fee()], "customer_id": customer["id"]},
        {"items": [fee()], "promotion_id": promotion["id"]},
        {"items": [fee()], "store_id": store["id"]},
        {"items": [fee()], "store_name": store["name"]},
        {"items": [fee()], "tags": [tag["id"]]},
        {"items": [fee()], "table_session_id": session["id"]},
    ):
        assert (await both(shop, body)).status == 422, body
    # A namesake in another book doesn't use up what is limited for each customer.
    own, goods = await shop.promotion(limit_per_customer=1), await shop.product(100)
    body = {"items": [line(goods)], "promotion_id": own["id"], "customer_name": "Tunde Bakare"}
    assert (await both(shop, body)).status == 201


async def test_a_key_that_may_only_read_previews_nothing(shop: Shop) -> None:
    """It is for those who record."""
    reader = await shop.business.client("orders:read")
    assert (await reader.post(PREVIEW, {"items": [fee()]}, status=403)).json["error"] == "forbidden"
