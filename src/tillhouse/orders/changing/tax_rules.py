"""The lines of an order whose total was set by hand, and their tax: pure decisions.

The difference between what the lines come to and what is charged is spread over the lines that
bear a discount, by what they cost, tax included; beyond what these cost, over the others. The tax
of each is then that of the amount that is charged for it, and the adjustment is what remains, so
that the sums of the order add up.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Protocol

import msgspec

from tillhouse.kit.money import largest_remainder, round_money
from tillhouse.orders.changing.rules import OrderState

_ZERO = Decimal(0)
_HUNDRED = Decimal(100)


class CostingLine(Protocol):
    """A line with its cost, tax included, as it was recorded."""

    @property
    def line_type(self) -> str:
        """A product or a fee."""
        ...

    @property
    def total(self) -> Decimal:
        """The cost of all of it."""
        ...


class NetLine(CostingLine, Protocol):
    """One that also tells its cost without the tax that came on top."""

    @property
    def net(self) -> Decimal:
        """The cost after discounts."""
        ...


class TaxedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line as it was recorded."""

    line_type: str
    # After discounts.
    net: Decimal
    tax: Decimal
    # With the tax that came on top.
    total: Decimal
    # The rate at which it was sold, in per cent. Of lines from before that was kept, the product's
    # rate as it is now; None without a product.
    tax_rate: Decimal | None

    @property
    def added(self) -> Decimal:
        """The tax that came on top."""
        return self.total - self.net


def retaxed(after: OrderState, lines: Sequence[TaxedLine]) -> OrderState:
    """The order with the tax of the total that it was given."""
    untaxed = after.total_amount - after.adjustment_amount - after.exclusive_tax_amount
    more = after.total_amount - untaxed - sum((line.added for line in lines), _ZERO)
    taxes = [
        _taxes(line, share, after.currency)
        for line, share in zip(lines, spread(lines, more, after.currency), strict=True)
    ]
    added = sum((on_top for _, on_top in taxes), _ZERO)
    return msgspec.structs.replace(
        after,
        tax_amount=sum((tax for tax, _ in taxes), _ZERO),
        exclusive_tax_amount=added,
        adjustment_amount=after.total_amount - untaxed - added,
    )


def charged(lines: Sequence[NetLine], more: Decimal, currency: str) -> list[Decimal]:
    """The amount that is charged for each line, with its share of the total set by hand.

    `more` is the charge beyond the cost of the lines without tax on top.
    """
    recorded = sum((line.total - line.net for line in lines), _ZERO)
    shares = spread(lines, more - recorded, currency)
    return [line.total + share for line, share in zip(lines, shares, strict=True)]


def spread(lines: Sequence[CostingLine], more: Decimal, currency: str) -> list[Decimal]:
    """The share of each line in a difference; none is taken below 0, a free line bears none.

    The products bear it, and the fees the part that is more than these cost.
    """
    shares = [_ZERO] * len(lines)
    for is_product in (True, False):
        bearers = [
            index
            for index, line in enumerate(lines)
            if line.total and (line.line_type == "product") == is_product
        ]
        weights = [lines[index].total for index in bearers]
        if not bearers:
            continue
        most = max(more, -sum(weights, _ZERO))
        for index, share in zip(bearers, largest_remainder(most, weights, currency), strict=True):
            shares[index] = share
        more -= most
    return shares


def _taxes(line: TaxedLine, share: Decimal, currency: str) -> tuple[Decimal, Decimal]:
    """The tax of a line with its share of the difference, and the part of it that is on top."""
    if not share or not line.tax:
        return line.tax, line.added
    charged = line.total + share
    rate = line.tax_rate
    if rate and line.tax == _tax(line, rate, currency):
        tax = round_money(charged * rate / (_HUNDRED + rate), currency)
    else:
        tax = round_money(line.tax * charged / line.total, currency)
    if line.added in (_ZERO, line.tax):
        return tax, tax if line.added else _ZERO
    return tax, round_money(line.added * charged / line.total, currency)


def _tax(line: TaxedLine, rate: Decimal, currency: str) -> Decimal:
    """The tax of a line by a rate, if it is still the rate that the line was sold at."""
    base = _HUNDRED if line.added else _HUNDRED + rate
    return round_money(line.net * rate / base, currency)
