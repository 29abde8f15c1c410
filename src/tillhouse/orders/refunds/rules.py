"""Refunds of an order, and how it stands afterwards: pure decisions."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.kit.errors import FieldError, Invalid, Refused
from tillhouse.kit.ids import OrderId
from tillhouse.kit.money import check_scale, round_money
from tillhouse.kit.partial import faults
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.tax_rules import charged
from tillhouse.orders.money_types import ONLINE, method_of
from tillhouse.orders.posting.rules import Method
from tillhouse.orders.refunds.types import NewRefund

REFUNDS_MAX = 200
"""So many refunds an order may have."""

REFUNDED_LINES_MAX = 1000
"""So many lines all refunds of an order may name together."""

_ZERO = Decimal(0)


class OrderRefundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A refund, by the names of its columns."""

    id: UUID
    order_id: OrderId
    method: Method
    amount: Decimal
    reason: str | None
    # Item, quantity and amount of each line that was given back.
    lines: list[dict[str, Any]] | None
    restocked: bool
    transaction_id: UUID
    recorded_by_id: UUID
    recorded_by_name: str
    happened_at: str


class RefundableLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of an order, and how much of it was given back already."""

    item_id: UUID
    line_type: str
    quantity: Decimal
    # As it was recorded: without the tax that came on top, and with it.
    net: Decimal
    total: Decimal
    # The quantity that was given back, and the amount.
    returned: Decimal
    given: Decimal


class RefundFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that a refund rests on beside the order itself."""

    lines: list[RefundableLine]
    # Payments less refunds by method.
    tenders: dict[Method, Decimal]
    refunds: int
    # How many lines the refunds name together.
    refunded_lines: int
    # The amount that disputes of its payments took.
    disputed: Decimal = _ZERO
    # The amount that disputes took of the money of its stay, and that no other order makes up for.
    disputed_of_stay: Decimal = _ZERO


class LineRefund(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a line that is given back."""

    line: RefundableLine
    quantity: Decimal
    amount: Decimal


class DecidedRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund as it is decided."""

    amount: Decimal
    method: Method
    lines: list[LineRefund]

    def shown_lines(self) -> list[dict[str, Any]] | None:
        """The lines as they are kept; None for an amount alone."""
        return [
            {"itemId": one.line.item_id, "quantity": one.quantity, "amount": one.amount}
            for one in self.lines
        ] or None


def refund_faults(new: NewRefund, order: OrderState, facts: RefundFacts) -> list[FieldError]:
    """Everything that is wrong with a new refund, beside its form."""
    return faults(
        lambda: _choice_errors(new),
        lambda: _scale_errors(new, order.currency),
        lambda: _line_errors(new, facts),
        lambda: _restock_errors(new),
        lambda: _payment_errors(new),
    )


def _choice_errors(new: NewRefund) -> Iterator[FieldError]:
    if (new.amount is None) == (new.lines is None):
        yield FieldError("amount", "is required without lines, and left out with them")


def _scale_errors(new: NewRefund, currency: str) -> Iterator[FieldError]:
    if new.amount is not None and (wrong := check_scale(new.amount, currency)):
        yield FieldError("amount", wrong)


def _line_errors(new: NewRefund, facts: RefundFacts) -> Iterator[FieldError]:
    known = {line.item_id: line for line in facts.lines}
    named: set[UUID] = set()
    for index, wanted in enumerate(new.lines or ()):
        line = known.get(wanted.item_id)
        if line is None:
            yield FieldError(f"lines[{index}].item_id", "is no line of this order")
        elif wanted.item_id in named:
            yield FieldError(f"lines[{index}].item_id", "is named twice")
        elif wanted.quantity > (left := line.quantity - line.returned):
            wrong = f"must not exceed the {left.normalize():f} that are left"
            yield FieldError(f"lines[{index}].quantity", wrong)
        named.add(wanted.item_id)


def _restock_errors(new: NewRefund) -> Iterator[FieldError]:
    if new.restock and new.lines is None:
        yield FieldError("restock", "goes with lines only")


def _payment_errors(new: NewRefund) -> Iterator[FieldError]:
    if new.payment_id is not None and new.method not in (None, "cloove_pay"):
        yield FieldError("payment_id", "goes with the method cloove_pay only")


def decided(new: NewRefund, order: OrderState, facts: RefundFacts) -> DecidedRefund:
    """The refund, or the reason against it."""
    if order.status == "refunded":
        raise Refused("The order was refunded already.")
    if facts.refunds >= REFUNDS_MAX:
        raise Refused(f"An order has at most {REFUNDS_MAX} refunds.")
    if new.lines and facts.refunded_lines + len(new.lines) > REFUNDED_LINES_MAX:
        raise Refused(
            f"The refunds of an order name at most {REFUNDED_LINES_MAX} lines together: give the "
            "rest back by its amount."
        )
    lines = _lines(new, facts, order)
    amount = Decimal(new.amount or 0) or sum((one.amount for one in lines), _ZERO)
    if amount > (left := _left(order)):
        raise Refused(f"{amount:f} can't be given back: {left:f} are left of what was paid.")
    if not amount:
        raise Refused("These lines cost nothing: there is nothing to give back.")
    method = method_of(new.method) if new.method else _only_method(facts.tenders)
    if method == "credit":
        _check_credit(order)
    return DecidedRefund(amount=amount, method=method, lines=lines)


def _left(order: OrderState) -> Decimal:
    """The part of the amount paid that is neither given back nor on its way back."""
    return order.amount_paid - order.change_amount - order.returning_amount


def check_disputed(refund: DecidedRefund, facts: RefundFacts, order: OrderState) -> None:
    """Refuse to hand out money that a dispute has taken: the payer would have it twice."""
    # Of the money of a stay, the part given back as credit is held for the dispute.
    of_stay = _ZERO if refund.method == "credit" else facts.disputed_of_stay
    disputed = facts.disputed + of_stay
    left = max(_left(order) - disputed, _ZERO)
    if disputed and refund.amount > left:
        raise Refused(
            f"A dispute has taken {disputed:f} of what was paid, so {left:f} at most can be "
            "given back by another way: see GET /v1/disputes."
        )


def check_tender(refund: DecidedRefund, facts: RefundFacts) -> None:
    """Refuse to book money as given back by a provider that none of them ever had."""
    if refund.method != ONLINE:
        return
    held = max(facts.tenders.get(ONLINE, _ZERO), _ZERO)
    if not held:
        raise Invalid.field(
            "method", "must be another: no payment of this order came by a provider"
        )
    if refund.amount > held:
        wrong = f"must be another: {held:f} of this order came by a provider and are not given back"
        raise Invalid.field("method", wrong)


def _lines(new: NewRefund, facts: RefundFacts, order: OrderState) -> list[LineRefund]:
    """The parts of lines that are given back, each up to its share less the part given back before.

    So several add up to the line, and all to what the order costs, also where its total was set
    after some were given back.
    """
    more = order.adjustment_amount + order.exclusive_tax_amount
    amounts = charged(facts.lines, more, order.currency)
    of_item = dict(zip((line.item_id for line in facts.lines), amounts, strict=True))
    known = {line.item_id: line for line in facts.lines}
    left = sum(amounts, _ZERO) - sum((line.given for line in facts.lines), _ZERO)
    refunds: list[LineRefund] = []
    for wanted in new.lines or ():
        line = known[wanted.item_id]
        share = _share(line, of_item[line.item_id], line.returned + wanted.quantity, order.currency)
        amount = max(min(share - line.given, left), _ZERO)
        left -= amount
        refunds.append(LineRefund(line=line, quantity=Decimal(wanted.quantity), amount=amount))
    return refunds


def _share(line: RefundableLine, amount: Decimal, quantity: Decimal, currency: str) -> Decimal:
    """The charge for so much of a line; for all of it, exactly its whole charge."""
    if quantity == line.quantity:
        return amount
    return round_money(amount * quantity / line.quantity, currency)


def _only_method(tenders: Mapping[Method, Decimal]) -> Method:
    held: dict[Method, Decimal] = {
        method: amount for method, amount in tenders.items() if amount > 0
    }
    if len(held) == 1:
        return next(iter(held))
    told = " and ".join(f"{amount:f} by {method}" for method, amount in sorted(held.items()))
    wrong = f"is required: the order was paid {told}" if held else "is required"
    raise Invalid.field("method", wrong)


def _check_credit(order: OrderState) -> None:
    if order.customer_id is None:
        raise Refused("Credit is somebody's: give the order a customer first.")
    if order.status == "cancelled":
        raise Refused("What was paid for this order is the customer's credit already.")


def refunded(
    order: OrderState,
    amount: Decimal,
    available: Decimal | None = None,
    *,
    is_of_lines: bool = False,
) -> OrderState:
    """The order after money went back: first the overpayment that is kept, then of the sale.

    With lines it is the other way round: they are sold no more, and the customer keeps the credit.
    Of an order that isn't paid in full it is the payment that goes back, and is owed again, unless
    lines come back with it. An overpayment that was kept as credit may be
    spent: of it goes back what is `available` (None: all), and the rest is no longer the order's
    to give.
    """
    position = order.position()
    kept = position.kept if available is None else min(position.kept, max(available, _ZERO))
    of_kept = max(min(amount, kept), _ZERO)
    is_of_sale = position.is_sold and (is_of_lines or position.paid >= position.due)
    if not is_of_sale:
        # Of an order that ended all is kept; one that isn't paid yet has nothing to keep.
        back = of_kept if position.kept else max(amount, _ZERO)
        left = order.amount_paid - back
        return msgspec.structs.replace(
            order, amount_paid=left, reopened_at=order.reopened_at if left else None
        )
    back = max(min(amount, kept + position.due), _ZERO)
    of_sale = min(back, position.due) if is_of_lines else back - of_kept
    after = msgspec.structs.replace(
        order,
        amount_paid=order.amount_paid - back,
        refunded_amount=order.refunded_amount + of_sale,
    )
    if of_sale and after.refunded_amount == after.total_amount:
        return msgspec.structs.replace(after, status="refunded", fires_at=None)
    return after
