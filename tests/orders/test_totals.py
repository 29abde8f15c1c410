"""The totals of orders: prices, modifiers, discounts, service charge, tax, rounding."""

import json
import random
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.api import Response
from tests.orders.conftest import Open
from tests.orders.shop import ORDERS, Body, Shop, chosen, exact, fee, line, variant_of


async def _items(shop: Shop, *lines: Body, **fields: Any) -> list[Body]:
    return (await shop.sell(*lines, **fields))["items"]


def _column(order: Body, name: str) -> list[float]:
    return [item[name] for item in order["items"]]


async def test_where_a_price_comes_from(shop: Shop) -> None:
    """custom_price, else the store's, else the variant's, else the product's."""
    here, there = await shop.store(), await shop.store()
    prices = [{"store_id": here["id"], "price": 700}]
    sizes = [{"name": "Plain"}, {"name": "Own", "price": 800}]
    sizes += [{"name": "Here", "price": 800, "prices": prices}]
    product = await shop.product(900, variants=sizes)
    plain, own, at_store = (variant_of(product, place) for place in range(3))

    async def price(variant: str, **fields: Any) -> tuple[float, float]:
        custom = {"custom_price": fields.pop("custom")} if "custom" in fields else {}
        [item] = await _items(shop, line(product, variant_id=variant, **custom), **fields)
        return item["unitPrice"], item["originalUnitPrice"]

    assert await price(plain) == (900, 900)
    assert await price(own) == (800, 800)
    assert await price(at_store) == (800, 800)
    assert await price(at_store, store_id=there["id"]) == (800, 800)
    assert await price(at_store, store_id=here["id"]) == (700, 700)
    assert await price(at_store, store_id=here["id"], custom=650) == (650, 700)
    assert await price(own, custom=0) == (0, 800)


async def test_modifiers_cost_what_the_catalog_says(shop: Shop) -> None:
    """The sent price and name don't count; both unit prices include modifiers, an override too."""
    group = await shop.group(300, -100)
    product = await shop.product(1000, modifier_group_ids=[group["id"]])
    wrong = chosen(group, 0, price_delta=1, name="Something else")
    made = await shop.sell(line(product, 2, modifiers=[wrong, chosen(group, 1)]))
    [item] = made["items"]
    assert (item["unitPrice"], item["originalUnitPrice"], item["subtotalAmount"]) == (
        1200, 1200, 2400,
    )  # fmt: skip
    assert item["modifiers"] == [
        {"modifierGroupId": group["id"], "modifierOptionId": option["id"], "name": option["name"],
         "priceDelta": option["priceDelta"]}
        for option in group["options"]
    ]  # fmt: skip
    [item] = await _items(shop, line(product, custom_price=500, modifiers=[chosen(group)]))
    assert (item["unitPrice"], item["originalUnitPrice"]) == (800, 1300)


async def test_a_sent_price_counts_without_a_catalog_product(shop: Shop) -> None:
    """There the catalog knows nothing of the option."""
    modifier = {"modifier_group_id": str(uuid4()), "modifier_option_id": str(uuid4())}
    modifier |= {"name": "Ribbon", "price_delta": 50.5}
    custom = {"product_name": "Gift", "quantity": 2, "custom_price": 200, "modifiers": [modifier]}
    [item] = await _items(shop, custom)
    assert (item["unitPrice"], item["subtotalAmount"]) == (250.5, 501)
    assert item["modifiers"][0]["priceDelta"] == 50.5
    assert item["modifiers"][0]["name"] == "Ribbon"


@pytest.mark.parametrize(
    ("price", "quantity", "subtotal"),
    [
        ("10.01", "0.333", "3.33"),
        ("0.01", "0.5", "0.01"),
        ("0.05", "0.5", "0.03"),
        ("0.01", "0.499", "0.00"),
        ("33.33", "3", "99.99"),
        ("999999999.99", "1000", "999999999990.00"),
    ],
)
async def test_a_line_is_rounded_half_up_once(
    shop: Shop, price: str, quantity: str, subtotal: str
) -> None:
    """Exactly, from the text that came to the text that goes."""
    sold = {"quantity": Decimal(quantity), "custom_price": Decimal(price)}
    body = _raw([{"product_name": "Rice", **sold}])
    answer = await shop.api.post(ORDERS, raw=body, status=201)
    [item] = exact(answer)["items"]
    assert item["subtotalAmount"] == item["totalPrice"] == Decimal(subtotal)
    assert exact(answer)["totalAmount"] == Decimal(subtotal)


async def test_a_discount_is_spread_by_largest_remainder(shop: Shop) -> None:
    """In the smallest units, ties to the earlier line; the lines sum up to the total."""
    thirds = await shop.sell(*[fee(10, line_type="product")] * 3, discount_amount=10)
    assert _column(thirds, "discountAmount") == [3.34, 3.33, 3.33]
    assert _column(thirds, "totalPrice") == [6.66, 6.67, 6.67]
    assert (thirds["subtotalAmount"], thirds["discountAmount"]) == (30, 10)
    assert thirds["totalAmount"] == 20
    cents = await shop.sell(*[fee(0.01, line_type="product")] * 10, discount_amount=0.05)
    assert _column(cents, "discountAmount") == [0.01] * 5 + [0] * 5
    assert cents["totalAmount"] == 0.05
    uneven = await shop.sell(
        fee(70, line_type="product"), fee(20, line_type="product"), fee(10, line_type="product"),
        discount_amount=10,
    )  # fmt: skip
    assert _column(uneven, "discountAmount") == [7, 2, 1]


async def test_a_discount_falls_on_products_not_on_fees(shop: Shop) -> None:
    """Only where there is nothing else do the fees bear it; what exceeds it all is refused."""
    product = await shop.product(100)
    made = await shop.sell(line(product), fee(50), discount_amount=60)
    assert _column(made, "discountAmount") == [60, 0]
    assert made["totalAmount"] == 90
    answer = await shop.ask(line(product), fee(50), discount_amount=100.01)
    assert (answer.status, answer.wrong_fields) == (422, {"discount_amount"})
    fees = await shop.sell(fee(30), fee(10), discount_amount=20)
    assert _column(fees, "discountAmount") == [15, 5]
    free = await shop.sell(line(product), discount_amount=100)
    assert (free["totalAmount"], free["paymentStatus"]) == (0, "paid")


async def test_tax_comes_on_top_of_what_is_left(shop: Shop) -> None:
    """Per product rate, after the discount; the service charge is added as it was sent."""
    taxed = await shop.product(1000, tax_rate=7.5)
    free = await shop.product(1000)
    made = await shop.sell(line(taxed, 2), line(free), discount_amount=300)
    assert _column(made, "discountAmount") == [200, 100]
    assert _column(made, "taxAmount") == [135, 0]
    assert _column(made, "totalPrice") == [1935, 900]
    assert (made["taxAmount"], made["totalAmount"]) == (135, 2835)
    charged = await shop.sell(line(free), service_charge_amount=120.5, discount_amount=100)
    assert charged["serviceChargeAmount"] == 120.5
    assert charged["totalAmount"] == 1020.5


async def test_inclusive_tax_is_within_the_price(open_shop: Open) -> None:
    """It is told, and adds nothing."""
    shop = await open_shop()
    await shop.set_trade(tax_inclusive=True)
    product = await shop.product(107.5, tax_rate=7.5)
    made = await shop.sell(line(product, 2))
    assert _column(made, "taxAmount") == [15]
    assert _column(made, "totalPrice") == [215]
    assert (made["taxAmount"], made["totalAmount"]) == (15, 215)
    cut = await shop.sell(line(product, 2), discount_amount=107.5)
    assert (cut["taxAmount"], cut["totalAmount"]) == (7.5, 107.5)


async def test_an_adjusted_order_tells_the_tax_of_its_total(open_shop: Open) -> None:
    """Prices include 7 %: 27.20 have 1.78 of it, and not the 3.38 of 51.70."""
    shop = await open_shop()
    await shop.set_trade(tax_inclusive=True)
    product = await shop.product(51.7, tax_rate=7)
    made = await shop.sell(line(product))
    assert made["taxAmount"] == 3.38
    less = await shop.patch(made, total_amount=27.2)
    assert (less["taxAmount"], less["adjustmentAmount"]) == (1.78, -24.5)
    assert _column(less, "taxAmount") == [3.38]
    free = await shop.patch(made, total_amount=0)
    assert (free["taxAmount"], free["adjustmentAmount"]) == (0, -51.7)
    more = await shop.patch(made, total_amount=517)
    assert (more["taxAmount"], more["adjustmentAmount"]) == (33.82, 465.3)
    same = await shop.patch(made, total_amount=51.7)
    assert (same["taxAmount"], same["adjustmentAmount"]) == (3.38, 0)


async def test_an_adjustment_takes_its_tax_with_it(shop: Shop) -> None:
    """On top of the prices: the adjustment is what it takes off before tax, and the sums hold.

    Lines of several rates bear it by what they cost, before fees; the service charge doesn't.
    """
    dear, cheap = await shop.product(1000, tax_rate=10), await shop.product(500, tax_rate=20)
    made = await shop.sell(line(dear), line(cheap), fee(100), service_charge_amount=50)
    assert (made["taxAmount"], made["totalAmount"]) == (200, 1850)
    half = await shop.patch(made, total_amount=1000)
    await shop.api.post(f"{ORDERS}/{half['id']}/receipt", status=200)
    # 850 less: 550 on 1100 and 300 on 600.
    assert (half["taxAmount"], half["adjustmentAmount"]) == (100, -750)
    deep = await shop.patch(made, total_amount=120)
    assert (deep["taxAmount"], deep["adjustmentAmount"]) == (0, -1530)
    for order in (half, deep):
        assert order["totalAmount"] == (
            order["subtotalAmount"] - order["discountAmount"] + order["serviceChargeAmount"]
            + order["taxAmount"] + order["adjustmentAmount"]
        )  # fmt: skip
    content = await shop.sql.fetchval(
        "SELECT content FROM receipts WHERE order_id = $1", UUID(half["id"])
    )
    assert (json.loads(content)["tax"], json.loads(content)["adjustment"]) == (100, -750)


async def test_a_line_without_a_product_names_its_tax(shop: Shop) -> None:
    """One of the catalog has its product's, at a custom price too; a fee has none."""
    product = await shop.product(1000, tax_rate=10)
    own = {"product_name": "Cake", "custom_price": 200, "quantity": 1, "tax_rate": 7.5}
    made = await shop.sell(own, line(product, custom_price=500))
    assert _column(made, "taxAmount") == [15, 50]
    assert made["totalAmount"] == 765
    for item in (line(product, tax_rate=5), {**fee(10), "tax_rate": 5}, {**own, "tax_rate": 101}):
        assert (await shop.ask(item)).wrong_fields == {"items[0].tax_rate"}


@pytest.mark.parametrize(
    ("total", "tax"), [(81, 4.64), (1000, 64.77), (5000.01, 326.45), (12345.67, 807.01)]
)
async def test_an_adjusted_line_is_taxed_at_the_rate_that_it_named(
    shop: Shop, total: float, tax: float
) -> None:
    """By the rate, and not in proportion to a tax that was rounded."""
    own = {"product_name": "Cake", "custom_price": 51.70, "quantity": 1, "tax_rate": 7}
    made = await shop.sell(own, fee(10))
    assert (made["totalAmount"], made["taxAmount"]) == (65.32, 3.62)
    body = {"total_amount": total}
    changed = (await shop.api.patch(f"/v1/orders/{made['id']}", body, status=200)).data
    assert (changed["totalAmount"], changed["taxAmount"]) == (total, tax)


async def test_a_product_s_later_rate_changes_nothing_sold(shop: Shop) -> None:
    """An adjusted order is taxed at the rate of its sale."""
    product = await shop.product(1000, tax_rate=10)
    made = await shop.sell(line(product))
    await shop.api.patch(f"/v1/products/{product['id']}", {"tax_rate": 20}, status=200)
    body = {"total_amount": 2200}
    changed = (await shop.api.patch(f"/v1/orders/{made['id']}", body, status=200)).data
    assert changed["taxAmount"] == 200


@pytest.mark.parametrize(
    ("currency", "price", "line_total", "tax"),
    [("JPY", "333", "1000", "100"), ("KWD", "0.333", "1.000", "0.100")],
)
async def test_the_smallest_unit_is_the_currencys(
    open_shop: Open, currency: str, price: str, line_total: str, tax: str
) -> None:
    """None for yen, three decimals for dinars: lines, taxes and shares alike."""
    shop = await open_shop(currency=currency)
    unit = Decimal(price)
    product = await shop.product(float(unit), tax_rate=10)
    share = Decimal(1).scaleb(unit.as_tuple().exponent)  # type: ignore[arg-type]
    answer = await shop.ask(line(product, 3.003))
    item = exact(answer)["items"][0]
    assert answer.data["currency"] == currency
    assert (item["subtotalAmount"], item["taxAmount"]) == (Decimal(line_total), Decimal(tax))
    answer = await shop.ask(line(product), line(product), discount_amount=float(share))
    assert [item["discountAmount"] for item in exact(answer)["items"]] == [share, 0]


async def test_a_promotion_comes_before_the_discount(shop: Shop) -> None:
    """Line discounts of a promotion first, then the amount off what is left."""
    rice = await shop.product(1000)
    cola = await shop.product(500, name="Cola")
    fields = {"type": "percent", "scope": "products", "value": 10, "product_ids": [rice["id"]]}
    on_rice = await shop.promotion(**fields)
    made = await shop.sell(line(rice, 2), line(cola), promotion_id=on_rice["id"])
    assert _column(made, "discountAmount") == [200, 0]
    assert (made["discountAmount"], made["totalAmount"]) == (200, 2300)
    both = await shop.sell(
        line(rice, 2), line(cola), promotion_id=on_rice["id"], discount_amount=230
    )
    assert _column(both, "discountAmount") == [380, 50]
    assert both["totalAmount"] == 2070
    most = await shop.ask(line(rice), promotion_id=on_rice["id"], discount_amount=900)
    assert most.data["totalAmount"] == 0


async def test_promotions_on_an_order(shop: Shop) -> None:
    """A share or an amount off all products; one that doesn't fit is refused, not dropped."""
    rice = await shop.product(1000)
    tenth = await shop.promotion(maximum_discount=150, minimum_subtotal=1000)
    made = await shop.sell(line(rice), fee(100), promotion_id=tenth["id"])
    assert _column(made, "discountAmount") == [100, 0]
    capped = await shop.sell(line(rice, 3), promotion_id=tenth["id"])
    assert capped["discountAmount"] == 150
    fixed = await shop.promotion(type="fixed", value=250)
    assert (await shop.sell(line(rice), promotion_id=fixed["id"]))["totalAmount"] == 750
    small = await shop.ask(line(rice, 0.5), promotion_id=tenth["id"])
    assert (small.status, small.error) == (400, "order_not_recorded")
    for off in ({"is_active": False}, {"ends_at": "2020-01-01T00:00:00Z"}):
        over = await shop.promotion(**off)
        answer = await shop.ask(line(rice), promotion_id=over["id"])
        assert (answer.status, answer.error) == (400, "order_not_recorded")


async def test_baskets_add_up(open_shop: Open) -> None:
    """Fifty of all kinds, against the rules written down a second time in fractions."""
    shop = await open_shop()
    rates = [Decimal(rate) for rate in ("0", "5", "7.5", "19", "33.333")]
    products = [await shop.product(1, tax_rate=float(rate)) for rate in rates]
    dice = random.Random(20260131)  # noqa: S311 - the same baskets every time
    for _ in range(50):
        basket = _Basket(dice, rates)
        answer = await shop.api.post(ORDERS, raw=basket.body(products), status=201)
        basket.check(answer)


class _Basket:
    """Lines with their rates (None: a fee), a discount and a service charge."""

    def __init__(self, dice: random.Random, rates: list[Decimal]) -> None:
        self.lines: list[tuple[Decimal, Decimal, Decimal | None]] = []
        for _ in range(dice.randint(1, 7)):
            price = Decimal(dice.randint(0, 10 ** dice.randint(1, 7))).scaleb(-2)
            quantity = Decimal(dice.randint(1, 10 ** dice.randint(1, 5))).scaleb(-3)
            self.lines.append((price, quantity, dice.choice([*rates, None])))
        self.rates = rates
        self.subtotals = [_cents(Fraction(p) * Fraction(q)) for p, q, _ in self.lines]
        self.is_bearer = [rate is not None for _, _, rate in self.lines]
        if not any(self.is_bearer):
            self.is_bearer = [True] * len(self.lines)
        most = sum(s for s, bears in zip(self.subtotals, self.is_bearer, strict=True) if bears)
        self.discount = dice.randint(0, int(most)) if dice.random() < 0.7 else 0
        self.charge = dice.randint(0, 5000)

    def body(self, products: list[Body]) -> bytes:
        """The order, its numbers as text that JSON takes."""
        lines: list[Body] = []
        for price, quantity, rate in self.lines:
            named: Body = {"product_name": "Line", "quantity": quantity, "custom_price": price}
            if rate is None:
                named["line_type"] = "fee"
            else:
                named["product_id"] = products[self.rates.index(rate)]["id"]
            lines.append(named)
        discount, charge = (Decimal(n).scaleb(-2) for n in (self.discount, self.charge))
        return _raw(lines, discount_amount=discount, service_charge_amount=charge)

    def check(self, answer: Response) -> None:
        """The answer says what the rules say, line by line."""
        order = exact(answer)
        shares = self._shares()
        rates = [Fraction(rate or 0) for _, _, rate in self.lines]
        nets = [s - d for s, d in zip(self.subtotals, shares, strict=True)]
        taxes = [_cents(Fraction(n, 100) * r / 100) for n, r in zip(nets, rates, strict=True)]
        for name, amounts in (
            ("subtotalAmount", self.subtotals),
            ("discountAmount", shares),
            ("taxAmount", taxes),
            ("totalPrice", [n + t for n, t in zip(nets, taxes, strict=True)]),
        ):
            assert [int(item[name] * 100) for item in order["items"]] == amounts, answer
        total = sum(self.subtotals) - self.discount + self.charge + sum(taxes)
        assert int(order["totalAmount"] * 100) == total
        assert int(order["discountAmount"] * 100) == self.discount
        assert int(order["taxAmount"] * 100) == sum(taxes)

    def _shares(self) -> list[int]:
        weights = [s if b else 0 for s, b in zip(self.subtotals, self.is_bearer, strict=True)]
        whole = sum(weights)
        if not whole:
            return [0] * len(weights)
        quotas = [Fraction(self.discount * weight, whole) for weight in weights]
        shares = [int(quota) for quota in quotas]
        by_rest = sorted(range(len(quotas)), key=lambda i: (shares[i] - quotas[i], i))
        for place in by_rest[: self.discount - sum(shares)]:
            shares[place] += 1
        return shares


def _cents(amount: Fraction) -> int:
    scaled = Decimal(amount.numerator * 100) / Decimal(amount.denominator)
    return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def _raw(lines: list[Body], **fields: Decimal) -> bytes:
    """A body whose decimals are written as they are, never as floats."""
    text = json.dumps({"items": lines, **fields}, default=lambda number: f"@{number:f}@")
    for mark in ('"@', '@"'):
        text = text.replace(mark, "")
    return text.encode()
