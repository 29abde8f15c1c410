"""Totals: discounts spread over lines, service charge, tax, so that lines always sum up.

total = subtotal - discount + service charge + exclusive tax + adjustment, and never negative.
"""

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from tillhouse.kit.money import largest_remainder, round_money
from tillhouse.orders.recording.facts import Trade
from tillhouse.orders.recording.rules.lines import ZERO, Line

HUNDRED = Decimal(100)


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """The amounts of an order."""

    subtotal: Decimal
    discount: Decimal
    service_charge: Decimal
    tax: Decimal
    exclusive_tax: Decimal
    total: Decimal


def discountable(lines: Sequence[Line]) -> Decimal:
    """How much an order-level discount can take off at most."""
    return sum((one.net for one in _bearers(lines)), ZERO)


def add_up(
    lines: Sequence[Line], discount: Decimal, service_charge: Decimal, trade: Trade
) -> Totals:
    """Spread the discount over the lines, tax them, and sum up.

    Line discounts of a promotion are in the lines already.
    """
    _spread(lines, discount, trade.currency)
    for one in lines:
        one.tax = _tax(one, trade)
        one.total = one.net + (ZERO if trade.tax_inclusive else one.tax)
    subtotal = sum((one.subtotal for one in lines), ZERO)
    taken_off = sum((one.discount for one in lines), ZERO)
    tax = sum((one.tax for one in lines), ZERO)
    exclusive = ZERO if trade.tax_inclusive else tax
    return Totals(
        subtotal=subtotal,
        discount=taken_off,
        service_charge=service_charge,
        tax=tax,
        exclusive_tax=exclusive,
        total=subtotal - taken_off + service_charge + exclusive,
    )


def _bearers(lines: Sequence[Line]) -> list[Line]:
    """The lines that bear an order's discount: the products, or the fees if there is nothing else.

    Of an order of nothing but fees they are all that could bear it.
    """
    return [one for one in lines if one.line_type == "product"] or list(lines)


def _spread(lines: Sequence[Line], discount: Decimal, currency: str) -> None:
    bearers = _bearers(lines)
    if not discount or not bearers:
        return
    shares = largest_remainder(discount, [one.net for one in bearers], currency)
    for one, share in zip(bearers, shares, strict=True):
        one.discount += share


def _tax(one: Line, trade: Trade) -> Decimal:
    rate = one.tax_rate
    if not rate:
        return ZERO
    base = HUNDRED + rate if trade.tax_inclusive else HUNDRED
    return round_money(one.net * rate / base, trade.currency)
