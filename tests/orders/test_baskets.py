"""Totals of very many baskets: lines always sum up, nothing is negative, nothing drifts.

TILLHOUSE_TEST_FUZZ=1000000 adds up that many baskets, other ones each time.
"""

import os
import random
from decimal import Decimal
from uuid import UUID

import pytest

from tillhouse.orders.recording.facts import ProductFacts, Trade
from tillhouse.orders.recording.rules.figures import PricedLine, add_up, discountable, taxed

COUNT = int(os.environ.get("TILLHOUSE_TEST_FUZZ", "3000"))
SEED = random.randrange(2**32) if "TILLHOUSE_TEST_FUZZ" in os.environ else 7  # noqa: S311
# Currencies with none, two and three decimals.
DECIMALS = {"JPY": 0, "NGN": 2, "KWD": 3}
RATES = [Decimal(text) for text in ("0", "5", "7.5", "16", "19.25", "33.3333", "100")]


def _product(rate: Decimal) -> ProductFacts:
    return ProductFacts(
        id=UUID(int=0), name="Rice", type="simple", category_id=None, base_price=Decimal(0),
        tax_rate=rate, image_url=None, is_active=True, is_extra_only=False, groups=[],
        variants=[], components=[],
    )  # fmt: skip


PRODUCTS = [_product(rate) for rate in RATES]


def trade_of(currency: str, *, inclusive: bool) -> Trade:
    """A business of this currency."""
    return Trade(
        type="restaurant", currency=currency, time_zone="UTC", tax_inclusive=inclusive,
        stock_policy="deny", restocks_cancelled=True,
        service_charge_percent=None, service_charge_modes=["dine_in"],
    )  # fmt: skip


class Basket:
    """Lines, a discount and a charge, in whole smallest units of a currency."""

    def __init__(self, chance: random.Random, decimals: int) -> None:
        self.unit = Decimal(1).scaleb(-decimals)
        self.subtotals = [self._amount(chance) for _ in range(chance.randint(1, 7))]
        self.promised = [chance.randint(0, one) * chance.randint(0, 1) for one in self.subtotals]
        self.lines = [
            self._line(chance, *both) for both in zip(self.subtotals, self.promised, strict=True)
        ]
        most = int(discountable(self.lines) / self.unit)
        self.discount = chance.choice((0, 0, most, chance.randint(0, most)))
        self.charge = chance.choice((0, self._amount(chance)))

    @staticmethod
    def _amount(chance: random.Random) -> int:
        return chance.randint(0, 10 ** chance.randint(0, 12))

    def _line(self, chance: random.Random, subtotal: int, promised: int) -> PricedLine:
        """A line of a product, of a fee or of something that isn't in the catalog."""
        kind = chance.choice(("product", "product", "fee"))
        price = subtotal * self.unit
        return PricedLine(
            line_type=kind,
            product=chance.choice((None, *PRODUCTS)) if kind == "product" else None,
            variant=None, product_name="Rice", quantity=Decimal(1), unit_price=price,
            original_unit_price=price, subtotal=price, modifiers=[], components=[],
            discount=promised * self.unit,
        )  # fmt: skip

    def units(self, amount: Decimal) -> int:
        """An amount in smallest units; it must be a whole number of them."""
        whole = amount / self.unit
        assert whole == int(whole), amount
        return int(whole)


def _tax(net: int, rate: Decimal, *, inclusive: bool) -> int:
    """The tax in, or on top of, a net amount: rounded half up, in whole numbers alone."""
    share = int(rate * 10**4)
    base = 100 * 10**4 + (share if inclusive else 0)
    return (2 * net * share + base) // (2 * base)


def _check(basket: Basket, trade: Trade) -> None:
    lines = taxed(basket.lines, basket.discount * basket.unit, trade)
    totals = add_up(lines, basket.charge * basket.unit)
    units, inclusive = basket.units, trade.tax_inclusive
    discounts = [units(one.discount) for one in lines]
    nets = [s - d for s, d in zip(basket.subtotals, discounts, strict=True)]
    taxes = [
        _tax(net, one.tax_rate, inclusive=inclusive) for net, one in zip(nets, lines, strict=True)
    ]
    assert all(net >= 0 for net in nets)
    assert all(new >= old for new, old in zip(discounts, basket.promised, strict=True))
    assert sum(discounts) == basket.discount + sum(basket.promised) == units(totals.discount)
    assert [units(one.tax) for one in lines] == taxes
    sums = [net + (0 if inclusive else tax) for net, tax in zip(nets, taxes, strict=True)]
    assert [units(one.total) for one in lines] == sums
    assert units(totals.subtotal) == sum(basket.subtotals)
    assert units(totals.tax) == sum(taxes)
    assert units(totals.total) == sum(sums) + basket.charge >= 0
    assert totals.exclusive_tax == (0 if inclusive else totals.tax)


@pytest.mark.parametrize("currency", DECIMALS)
def test_baskets_add_up(currency: str) -> None:
    """In whole numbers of the smallest unit, worked out once more without a decimal point."""
    chance = random.Random(f"{currency} {SEED}")  # noqa: S311 - no secret
    trades = [trade_of(currency, inclusive=inclusive) for inclusive in (False, True)]
    for number in range(COUNT // len(DECIMALS) + 1):
        basket = Basket(chance, DECIMALS[currency])
        try:
            _check(basket, trades[number % 2])
        except AssertionError as error:
            error.add_note(f"basket {number} of {currency} with seed {SEED}")
            raise
