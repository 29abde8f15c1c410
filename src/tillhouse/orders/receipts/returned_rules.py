"""The lines of an order that were given back, with the tax within: pure decisions."""

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.money import largest_remainder, round_money
from tillhouse.orders.changing.tax_rules import charged
from tillhouse.orders.money_types import RefundShown
from tillhouse.orders.types import ItemShown, Order

_ZERO = Decimal(0)


class Returned(msgspec.Struct, frozen=True, kw_only=True):
    """A line that was given back, wholly or in part, and the tax within."""

    name: str
    quantity: Decimal
    amount: Decimal
    tax: Decimal
    # None in a receipt from before this was kept.
    at: str | None = None
    variant: str | None = None


class _ChargedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line with its charge now, and the tax within."""

    item: ItemShown
    charged: Decimal
    tax: Decimal


class _NetLine(msgspec.Struct, frozen=True):
    line_type: str
    net: Decimal
    total: Decimal


def returned(order: Order, items: Sequence[ItemShown], tax_on_top: Decimal) -> list[Returned]:
    """The lines that went back, each with the part of its line's tax that went back with it.

    Each tells the tax of all that went back of its line, less what was told before, so that the
    parts add up to the line's tax, and those of all lines to the order's.
    """
    refunds = msgspec.json.decode(msgspec.json.encode(order.refunds), type=list[RefundShown])
    lines = _lines(order, items, tax_on_top)
    given: defaultdict[UUID, Decimal] = defaultdict(Decimal)
    told: list[Returned] = []
    for refund in refunds:
        for part in refund.lines if refund.status == "successful" else ():
            line = lines.get(part.item_id)
            if line is None:
                continue
            before = _tax_within(line, given[part.item_id], order.currency)
            given[part.item_id] += part.amount
            told.append(
                Returned(
                    name=line.item.product_name,
                    variant=line.item.variant_name,
                    quantity=part.quantity,
                    amount=part.amount,
                    tax=_tax_within(line, given[part.item_id], order.currency) - before,
                    at=refund.at,
                )
            )
    return told


def _lines(
    order: Order, items: Sequence[ItemShown], tax_on_top: Decimal
) -> dict[UUID, _ChargedLine]:
    """The lines that cost something, by their ids; the tax of the order is shared by theirs."""
    nets = [
        _NetLine(one.line_type, one.subtotal_amount - one.discount_amount, one.total_price)
        for one in items
    ]
    amounts = charged(nets, order.adjustment_amount + tax_on_top, order.currency)
    weights = [
        one.tax_amount * amount / one.total_price if one.total_price else _ZERO
        for one, amount in zip(items, amounts, strict=True)
    ]
    if any(weights):
        taxes = largest_remainder(order.tax_amount, weights, order.currency)
    else:
        taxes = [_ZERO] * len(items)
    return {
        one.id: _ChargedLine(item=one, charged=amount, tax=tax)
        for one, amount, tax in zip(items, amounts, taxes, strict=True)
        if one.total_price
    }


def _tax_within(line: _ChargedLine, amount: Decimal, currency: str) -> Decimal:
    """The tax within so much of a line; where nothing is charged for it now, as it was sold."""
    if line.charged:
        return round_money(line.tax * amount / line.charged, currency)
    return round_money(line.item.tax_amount * amount / line.item.total_price, currency)
