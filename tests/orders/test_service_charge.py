"""The service charge that a business takes of orders which name none."""

import asyncio
from decimal import Decimal
from itertools import starmap
from uuid import UUID

import pytest

from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, exact, fee, line
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.kit.ids import BookId, BusinessId
from tillhouse.orders.importing.actions import judge, record_all
from tillhouse.webhooks.emit import Source

IN = {"service_mode": "dine_in"}


async def charging(shop: Shop, percent: str = "10", *modes: str) -> Shop:
    """The shop, whose business takes a charge from now on."""
    body: Body = {"service_charge_percent": float(percent)}
    if modes:
        body["service_charge_modes"] = list(modes)
    await shop.business.owner.patch("/v1/business", body, status=200)
    return shop


def own(price: float, quantity: float = 1, **fields: float) -> Body:
    """A line of something in no catalogue."""
    return {"product_name": "Suya", "custom_price": price, "quantity": quantity, **fields}


def amounts(order: Body) -> tuple[float, float]:
    """The charge and the total."""
    return order["serviceChargeAmount"], order["totalAmount"]


async def test_an_order_of_a_mode_is_charged(open_shop: Open) -> None:
    """One that names no charge, of what is left after discounts; as it is shown ever after."""
    shop = await charging(await open_shop())
    product = await shop.product(1000)
    made = await shop.sell(line(product, 2), **IN, discount_amount=300)
    assert amounts(made) == (170, 1870)
    assert amounts(await shop.show(made)) == (170, 1870)
    assert amounts(await shop.sell(own(50), **IN, service_charge_amount=None)) == (5, 55)
    for fields in ({}, {"service_mode": "takeaway"}, {"service_mode": None}):
        assert amounts(await shop.sell(own(50), **fields)) == (0, 50)


async def test_a_charge_that_is_sent_holds(open_shop: Open) -> None:
    """Also nothing at all, and one where the setting takes none."""
    shop = await charging(await open_shop())
    assert amounts(await shop.sell(own(50), **IN, service_charge_amount=0)) == (0, 50)
    assert amounts(await shop.sell(own(50), **IN, service_charge_amount=7)) == (7, 57)
    assert amounts(await shop.sell(own(50), service_charge_amount=7)) == (7, 57)


async def test_modes_are_those_of_the_business(open_shop: Open) -> None:
    """Several, or none although there is a share; and once it is off, none is charged."""
    shop = await charging(await open_shop(), "10", "takeaway", "room_service")
    for mode, charge in (("dine_in", 0), ("takeaway", 5), ("room_service", 5)):
        assert amounts(await shop.sell(own(50), service_mode=mode))[0] == charge
    owner = shop.business.owner
    await owner.patch("/v1/business", {"service_charge_modes": []}, status=200)
    assert amounts(await shop.sell(own(50), service_mode="takeaway"))[0] == 0
    off = {"service_charge_percent": None, "service_charge_modes": ["dine_in"]}
    await owner.patch("/v1/business", off, status=200)
    assert amounts(await shop.sell(own(50), **IN))[0] == 0


async def test_fees_bear_none(open_shop: Open) -> None:
    """Neither beside goods nor alone, also where they bear the discount."""
    shop = await charging(await open_shop())
    assert amounts(await shop.sell(own(100), fee(50), **IN, discount_amount=10)) == (9, 149)
    assert amounts(await shop.sell(fee(50), fee(30), **IN, discount_amount=20)) == (0, 60)


async def test_a_promotion_comes_off_first(open_shop: Open) -> None:
    """Then the discount, then the charge is taken of what is left."""
    shop = await charging(await open_shop())
    product = await shop.product(1000)
    tenth = await shop.promotion()
    made = await shop.sell(
        line(product), **IN, promotion_id=tenth["id"], discount_amount=100, amount_paid=880
    )
    assert (*amounts(made), made["paymentStatus"]) == (80, 880, "paid")
    free = await shop.sell(line(product), **IN, discount_amount=1000)
    assert (*amounts(free), free["paymentStatus"]) == (0, 0, "paid")


async def test_tax_is_told_beside_it(open_shop: Open) -> None:
    """On top it is no part of what the charge is of; within the price it is. None is on it."""
    shop = await charging(await open_shop())
    made = await shop.sell(own(1000, tax_rate=20), **IN)
    assert (*amounts(made), made["taxAmount"]) == (100, 1300, 200)
    await shop.set_trade(tax_inclusive=True)
    made = await shop.sell(own(1200, tax_rate=20), **IN)
    assert (*amounts(made), made["taxAmount"]) == (120, 1320, 200)


@pytest.mark.parametrize(
    ("currency", "price", "percent", "charge"),
    [
        ("NGN", "0.20", "12.5", "0.03"),
        ("NGN", "0.04", "12.5", "0.01"),
        ("NGN", "0.03", "12.5", "0"),
        ("NGN", "999999999999.99", "33.33", "333300000000.00"),
        ("JPY", "5", "10", "1"),
        ("JPY", "4", "12.49", "0"),
        ("KWD", "0.005", "10", "0.001"),
        ("KWD", "1.234", "12.75", "0.157"),
    ],
)
async def test_it_is_rounded_half_up_once(
    open_shop: Open, currency: str, price: str, percent: str, charge: str
) -> None:
    """To the smallest unit of the currency, not line by line."""
    shop = await charging(await open_shop(currency=currency), percent)
    halves = [own(float(price)), fee(0)]
    answer = await shop.ask(*halves, **IN)
    assert answer.status == 201, answer
    told = exact(answer)
    assert told["serviceChargeAmount"] == Decimal(charge)
    assert told["totalAmount"] == Decimal(price) + Decimal(charge)


async def test_lines_are_charged_together(open_shop: Open) -> None:
    """Three of 0.04 bear 0.02, where each alone would bear 0.01."""
    shop = await charging(await open_shop(), "12.5")
    assert amounts(await shop.sell(own(0.04), own(0.04), own(0.04), **IN))[0] == 0.02


async def test_too_much_with_the_charge_is_refused(open_shop: Open) -> None:
    """As with one that is sent."""
    shop = await charging(await open_shop(), "100")
    answer = await shop.ask(own(5e14), **IN)
    assert (answer.status, answer.wrong_fields) == (422, {"items"})
    assert amounts(await shop.sell(own(5e14), **IN, service_charge_amount=0))[0] == 0


async def test_a_sale_of_the_past_is_as_it_was(open_shop: Open) -> None:
    """Only a charge that is sent with it counts."""
    shop = await charging(await open_shop())
    then = {"occurred_at": "2026-01-05T10:00:00Z"}
    assert amounts(await shop.sell(own(50), **IN, **then)) == (0, 50)
    assert amounts(await shop.sell(own(50), **IN, **then, service_charge_amount=4)) == (4, 54)


async def test_a_scheduled_order_is_charged(open_shop: Open) -> None:
    """As it is recorded: its confirmation finds the same total, although the setting is another."""
    shop = await charging(await open_shop())
    made = await shop.sell(own(50), **IN, scheduled_for="2100-01-30T12:00:00Z")
    assert amounts(made) == (5, 55)
    await charging(shop, "20")
    confirmed = await shop.confirm(made)
    assert (*amounts(confirmed), confirmed["paymentStatus"]) == (5, 55, "paid")


async def test_a_change_leaves_it_alone(open_shop: Open) -> None:
    """A new total is an adjustment; neither it nor another setting changes the charge."""
    shop = await charging(await open_shop())
    made = await shop.sell(own(100), **IN)
    await charging(shop, "20")
    less = await shop.patch(made, total_amount=80)
    assert (*amounts(less), less["adjustmentAmount"]) == (10, 80, -30)
    paid = await shop.patch(made, amount_paid=80)
    assert (*amounts(paid), paid["paymentStatus"]) == (10, 80, "paid")


async def test_a_repeat_tells_the_first_charge(open_shop: Open) -> None:
    """With the same key it is one order, whatever the setting is by now."""
    shop = await charging(await open_shop())
    first = await shop.ask(own(50), **IN, key="till-1")
    await charging(shop, "20")
    again = await shop.ask(own(50), **IN, key="till-1")
    assert (again.status, again.data) == (200, first.data)
    assert amounts(again.data) == (5, 55)
    assert await shop.total() == 1


async def test_orders_at_once_are_charged_each_by_its_own(open_shop: Open) -> None:
    """They share statements; another business, and the other book, have their own setting."""
    shop = await charging(await open_shop())
    live, other = await shop.other_book(), await open_shop()
    dear = await charging(await open_shop(), "50", "dine_in")
    wanted = [
        (shop, IN, 10), (shop, {}, 0), (shop, {**IN, "service_charge_amount": 3}, 3),
        (shop, {"service_mode": "takeaway"}, 0), (live, IN, 10), (other, IN, 0), (dear, IN, 50),
    ] * 3  # fmt: skip

    async def charge(seller: Shop, fields: Body, _: int) -> float:
        return amounts(await seller.sell(own(100), **fields))[0]

    found = await asyncio.gather(*starmap(charge, wanted))
    assert found == [charge for _, _, charge in wanted]


async def test_what_is_owed_counts_it(open_shop: Open) -> None:
    """The price alone pays a part; debts and lists have the total."""
    shop = await charging(await open_shop())
    customer = await shop.customer()
    made = await shop.sell(own(100), **IN, customer_id=customer["id"], amount_paid=100)
    assert (made["status"], made["paymentStatus"]) == ("pending", "partial")
    assert await shop.debts(made) == [("active", 10)]
    found = (await shop.api.get(f"{ORDERS}?service_mode=dine_in", status=200)).json
    assert [one["totalAmount"] for one in found["data"]] == [110]


async def test_it_takes_no_further_statement(open_shop: Open, services: Services) -> None:
    """The setting is read with that of taxes."""
    shop = await open_shop()
    spent: list[int] = []
    for percent in ("", "10"):
        if percent:
            await charging(shop, percent)
        before = services.pool.statements
        made = await shop.sell(own(100), **IN)
        spent.append(services.pool.statements - before)
        assert amounts(made)[0] == (10 if percent else 0)
    assert spent[0] == spent[1]


async def test_an_import_is_charged_as_its_file_says(open_shop: Open, services: Services) -> None:
    """A sale of the past, one of this moment and one that is to come alike."""
    shop = await charging(await open_shop())
    origin = Source(BusinessId(UUID(shop.business.id)), Book(BookId(shop.book), "test"))
    given = [
        {"row_key": f"{charge} {when}", "items": [own(100)], **IN, **when, **charge}
        for when in (
            {"occurred_at": "2026-01-05T10:00:00Z"}, {}, {"scheduled_for": "2100-01-30T12:00:00Z"},
        )
        for charge in ({}, {"service_charge_amount": 7})
    ]  # fmt: skip
    verdicts = await judge(services, origin, given, by_rules=True)
    ready = [verdict.ready for verdict in verdicts if verdict.ready]
    results = await record_all(services, origin, ready, lambda _: None)
    assert [result.faults for result in results] == [[]] * 6
    found = (await shop.api.get(f"{ORDERS}?limit=20", status=200)).data
    assert sorted(one["totalAmount"] for one in found) == [100] * 3 + [107] * 3
    # Nor is one refused for a charge that it wouldn't bear.
    await charging(shop, "100")
    dear = [{"row_key": "dear", "items": [own(500_000_000_000_000)], **IN}]
    (verdict,) = await judge(services, origin, dear, by_rules=True)
    assert verdict.faults == []
    # The same file again finds them all.
    again = await judge(services, origin, given, by_rules=True)
    assert all(verdict.is_there for verdict in again)
