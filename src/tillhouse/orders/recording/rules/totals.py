"""Totals: discounts spread over lines, service charge, tax, so that lines always sum up.

total = subtotal - discount + service charge + exclusive tax + adjustment, and never negative.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

import msgspec

from tillhouse.kit.money import largest_remainder, round_money
from tillhouse.orders.recording.facts import Trade
from tillhouse.orders.recording.rules.lines import ZERO, PricedLine
from tillhouse.orders.recording.rules.past import is_past
from tillhouse.orders.types import NewOrder

HUNDRED = Decimal(100)


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The amounts of an order."""

    subtotal: Decimal
    discount: Decimal
    service_charge: Decimal
    tax: Decimal
    exclusive_tax: Decimal
    total: Decimal


def discountable(lines: Sequence[PricedLine]) -> Decimal:
    """How much an order-level discount can take off at most."""
    return sum((lines[index].net for index in _bearers(lines)), ZERO)


def taxed(lines: Sequence[PricedLine], discount: Decimal, trade: Trade) -> list[PricedLine]:
    """The lines with their shares of the discount, and taxed.

    Line discounts of a promotion are in the lines already.
    """
    return [_taxed(one, trade) for one in _spread(lines, discount, trade.currency)]


def _taxed(one: PricedLine, trade: Trade) -> PricedLine:
    if known := one.known_tax:
        return msgspec.structs.replace(
            one, tax=known.included + known.added, total=one.net + known.added
        )
    tax = _tax(one, trade)
    total = one.net + (ZERO if trade.tax_inclusive else tax)
    return msgspec.structs.replace(one, tax=tax, total=total)


def add_up(lines: Sequence[PricedLine], service_charge: Decimal) -> Totals:
    """Sum up lines that are taxed."""
    subtotal = sum((one.subtotal for one in lines), ZERO)
    taken_off = sum((one.discount for one in lines), ZERO)
    tax = sum((one.tax for one in lines), ZERO)
    exclusive = sum((one.total - one.net for one in lines), ZERO)
    return Totals(
        subtotal=subtotal,
        discount=taken_off,
        service_charge=service_charge,
        tax=tax,
        exclusive_tax=exclusive,
        total=subtotal - taken_off + service_charge + exclusive,
    )


def discounted(lines: Sequence[PricedLine], shares: Mapping[int, Decimal]) -> list[PricedLine]:
    """The lines, each with its share of a discount; shares are given by the lines' indexes."""
    return [
        msgspec.structs.replace(one, discount=one.discount + shares[index])
        if index in shares
        else one
        for index, one in enumerate(lines)
    ]


def product_lines(lines: Sequence[PricedLine]) -> list[int]:
    """The indexes of the lines that sell a product."""
    return [index for index, one in enumerate(lines) if one.line_type == "product"]


def _bearers(lines: Sequence[PricedLine]) -> list[int]:
    """The lines that bear an order's discount: the products, or the fees if there is nothing else.

    Of an order of nothing but fees they are all that could bear it.
    """
    return product_lines(lines) or list(range(len(lines)))


def _spread(lines: Sequence[PricedLine], discount: Decimal, currency: str) -> Sequence[PricedLine]:
    bearers = _bearers(lines)
    if not discount or not bearers:
        return lines
    shares = largest_remainder(discount, [lines[index].net for index in bearers], currency)
    return discounted(lines, dict(zip(bearers, shares, strict=True)))


def _tax(one: PricedLine, trade: Trade) -> Decimal:
    rate = one.tax_rate
    if not rate:
        return ZERO
    base = HUNDRED + rate if trade.tax_inclusive else HUNDRED
    return round_money(one.net * rate / base, trade.currency)


def service_charge(
    new: NewOrder, lines: Sequence[PricedLine], trade: Trade, now: datetime
) -> Decimal:
    """The charge on lines with their discounts; the setting holds for no sale of the past."""
    if new.service_charge_amount is not None:
        return Decimal(new.service_charge_amount)
    percent = trade.service_charge_percent
    if percent is None or is_past(new, now) or new.service_mode not in trade.service_charge_modes:
        return ZERO
    # A fee, such as one for a delivery, is a charge itself: none is taken of it.
    charged = sum((one.net for one in lines if one.line_type == "product"), ZERO)
    return round_money(charged * percent / HUNDRED, trade.currency)
