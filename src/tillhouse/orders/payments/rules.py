"""Payments as they come in and as they are kept: pure decisions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Refused
from tillhouse.kit.ids import OrderId
from tillhouse.kit.money import AMOUNT_LIMIT, check_scale
from tillhouse.kit.partial import faults
from tillhouse.orders.events import PaidLink, Payer
from tillhouse.orders.money_types import NOT_BY_HAND, ONLINE, method_of
from tillhouse.orders.payments.types import NewPayment
from tillhouse.orders.posting.rules import LedgerPosition, Method, MoneyMove, change_told
from tillhouse.orders.recording.rules.sale import CLOCK_TOLERANCE
from tillhouse.orders.types import Person

PAYMENTS_MAX = 200
"""So many payments and corrections an order may have by hand."""

_ZERO = Decimal(0)


class Tender(msgspec.Struct, frozen=True, kw_only=True):
    """Money that came in for an order, by one method."""

    amount: Decimal
    method: Method
    reference: str | None = None
    tip: Decimal = _ZERO
    # When it came in; None: now.
    at: datetime | None = None
    # The payment link that it came through, and the receipt of a provider that it is.
    link_id: UUID | None = None
    receipt_id: UUID | None = None
    # The parts of payment.received that tell of these.
    link: PaidLink | None = None
    payer: Payer | None = None


class OrderPaymentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payment, or a correction of the amount said to be paid, by the names of its columns."""

    id: UUID
    order_id: OrderId
    kind: str
    method: Method
    amount: Decimal
    tip_amount: Decimal
    change_amount: Decimal
    reference: str | None
    transaction_id: UUID
    link_id: UUID | None
    receipt_id: UUID | None
    recorded_by_id: UUID
    recorded_by_name: str
    happened_at: str
    created_at: str


class PaymentOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """By whom and when a payment is recorded, under which id, and when it happened."""

    payment_id: UUID
    by: Person
    now: datetime
    happened_at: datetime


def payment_row(
    order_id: OrderId,
    positions: tuple[LedgerPosition | None, LedgerPosition],
    transaction_id: UUID,
    recorder: PaymentOrigin,
    tender: Tender,
) -> OrderPaymentRow:
    """The payment that leads from one position of an order (or none) to the next."""
    before, after = positions
    change = after.change - (before.change if before else _ZERO)
    return OrderPaymentRow(
        id=recorder.payment_id,
        order_id=order_id,
        kind="correction" if tender.amount < 0 else "payment",
        method=tender.method,
        amount=tender.amount,
        tip_amount=tender.tip,
        change_amount=change_told(change, tender.amount),
        reference=tender.reference,
        transaction_id=transaction_id,
        link_id=tender.link_id,
        receipt_id=tender.receipt_id,
        recorded_by_id=recorder.by.id,
        recorded_by_name=recorder.by.name,
        happened_at=iso(recorder.happened_at),
        created_at=iso(recorder.now),
    )


def held_by_method(
    held: Mapping[Method, Decimal],
    positions: tuple[LedgerPosition | None, LedgerPosition],
    move: MoneyMove,
) -> dict[Method, Decimal]:
    """The amounts of an order by their method, less the change, as the next position leaves them.

    A method stays named when all of it was given back, but not when it was recorded in error.
    """
    before, after = positions
    paid, change = (
        (after.paid - before.paid, after.change - before.change)
        if before
        else (after.paid, after.change)
    )
    now = dict(held)
    if paid:
        now[move.method] = now.get(move.method, _ZERO) + paid
    if change:
        now["cash"] = now.get("cash", _ZERO) - change
    if paid < 0 and not move.is_refund and not now[move.method]:
        del now[move.method]
    return now


def payment_faults(new: NewPayment, currency: str, now: datetime) -> list[FieldError]:
    """Everything that is wrong with a new payment, beside its form."""
    return faults(
        lambda: _scale_errors("amount", new.amount, currency),
        lambda: _scale_errors("tip", new.tip, currency),
        lambda: _tip_errors(new),
        lambda: _method_errors(new),
        lambda: _time_errors(new, now),
    )


def _scale_errors(name: str, amount: Decimal | None, currency: str) -> Iterator[FieldError]:
    if amount is not None and (wrong := check_scale(amount, currency)):
        yield FieldError(name, wrong)


def _tip_errors(new: NewPayment) -> Iterator[FieldError]:
    if new.tip and new.method == "credit":
        yield FieldError("tip", "is not paid with credit")


def _method_errors(new: NewPayment) -> Iterator[FieldError]:
    if new.method == ONLINE:
        yield FieldError("method", NOT_BY_HAND)


def _time_errors(new: NewPayment, now: datetime) -> Iterator[FieldError]:
    if new.at is not None and new.at.at > now + CLOCK_TOLERANCE:
        yield FieldError("at", "must not be in the future")


def tender_of(new: NewPayment, now: datetime) -> Tender:
    """The tender that a request names."""
    return Tender(
        amount=Decimal(new.amount),
        method=method_of(new.method),
        reference=None if new.reference is None else str(new.reference),
        tip=Decimal(new.tip or 0),
        at=min(new.at.at, now) if new.at else now,
    )


def check_room(payments: int) -> None:
    """Refuse one payment too many."""
    if payments >= PAYMENTS_MAX:
        raise Refused(f"An order has at most {PAYMENTS_MAX} payments.")


def check_sums(position: LedgerPosition) -> None:
    """Refuse sums that no amount can have."""
    if max(position.paid, position.tip) >= AMOUNT_LIMIT:
        raise Refused("What was paid for an order must come to less than 10^15.")
