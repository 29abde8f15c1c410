"""How an order may change: statuses, payment, schedule, stock. Pure decisions."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Refused
from tillhouse.kit.ids import CustomerId, OrderId, PromotionId, StoreId, TermId, TicketId
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults
from tillhouse.kit.values import Moment
from tillhouse.orders.money_types import NOT_BY_HAND, ONLINE, method_of
from tillhouse.orders.posting.rules import LedgerPosition, Method, turns_excess
from tillhouse.orders.types import Confirmation, OrderPatch, PaymentMethod, Status

StockState = Literal["none", "reserved", "taken"]

# The statuses that a PATCH may lead to, by the present one; keeping it is no change.
NEXT: dict[Status, frozenset[Status]] = {
    "scheduled": frozenset({"pending", "completed", "cancelled"}),
    "pending": frozenset({"scheduled", "completed", "cancelled"}),
    "completed": frozenset({"pending", "cancelled"}),
    "cancelled": frozenset({"pending", "scheduled"}),
    "refunded": frozenset(),
}
# Statuses whose amounts stay as they are.
_SETTLED: tuple[Status, ...] = ("cancelled", "refunded")


class OrderState(msgspec.Struct, frozen=True, kw_only=True):
    """An order as it stands, with the facts of the business that its changes rest on."""

    id: OrderId
    short_code: str
    status: Status
    currency: str
    total_amount: Decimal
    adjustment_amount: Decimal
    tax_amount: Decimal = Decimal(0)
    exclusive_tax_amount: Decimal = Decimal(0)
    amount_paid: Decimal
    change_amount: Decimal
    refunded_amount: Decimal
    returning_amount: Decimal
    credit_amount: Decimal
    tip_amount: Decimal
    payment_method: PaymentMethod
    tendered: dict[Method, Decimal]
    customer_id: CustomerId | None
    store_id: StoreId | None
    is_automated: bool
    channel_fulfilled_at: datetime | None
    scheduled_at: datetime | None
    scheduled_confirmed_at: datetime | None
    academic_term_id: TermId | None
    cancellation: dict[str, Any] | None
    fires_at: datetime | None
    wants_kitchen: bool
    stock_state: StockState
    stock_round: int
    postings: int
    promotion_id: PromotionId | None
    # The customer whose use of the promotion was counted.
    promotion_customer_id: CustomerId | None
    occurred_at: datetime
    ticket_id: TicketId | None
    # Recorded after the fact: its goods have left, whatever the stock says.
    is_import: bool
    restocks_cancelled: bool
    stock_policy: str
    preparation_minutes: int
    deleted_at: datetime | None = None
    # Completed with an automated deposit, and made pending since; None once that went back.
    reopened_at: datetime | None = None
    # The last day of the closed books, where the order lies in them.
    closed_on: date | None = None

    def position(self) -> LedgerPosition:
        """The order as the ledger sees it."""
        method: Method = self.payment_method
        return LedgerPosition(
            total=self.total_amount,
            paid=self.amount_paid,
            method=method,
            customer_id=self.customer_id,
            status="deleted" if self.deleted_at else self.status,
            change=self.change_amount,
            refunded=self.refunded_amount,
            credit=self.credit_amount,
            tip=self.tip_amount,
        )


def patch_faults(
    patch: OrderPatch, order: OrderState, now: datetime, *, has_customer: bool, has_term: bool
) -> list[FieldError]:
    """Everything that is wrong with a change."""
    return faults(
        lambda: _scale_errors("amount_paid", patch.amount_paid, order),
        lambda: _scale_errors("total_amount", patch.total_amount, order),
        lambda: _method_errors(patch.payment_method, patch.amount_paid, order),
        lambda: _known("customer_id", patch.customer_id, has_customer, "customer"),
        lambda: _known("academic_term_id", patch.academic_term_id, has_term, "academic term"),
        lambda: _reason_errors(patch, order),
        lambda: _schedule_errors(patch, order, now),
    )


def _scale_errors(name: str, amount: Any, order: OrderState) -> Iterator[FieldError]:
    if amount is UNSET or amount is None:
        return
    if wrong := check_scale(amount, order.currency):
        yield FieldError(name, wrong)


def _method_errors(method: Any, paid: Any, order: OrderState) -> Iterator[FieldError]:
    """More money came in by hand, but not by that method."""
    if paid is UNSET or paid <= order.amount_paid:
        return
    if (order.payment_method if method is UNSET else method) == ONLINE:
        yield FieldError("payment_method", NOT_BY_HAND)


def _known(name: str, value: Any, is_there: bool, what: str) -> Iterator[FieldError]:
    if value is not UNSET and value is not None and not is_there:
        yield FieldError(name, f"is no {what} of this book")


def _reason_errors(patch: OrderPatch, order: OrderState) -> Iterator[FieldError]:
    if patch.cancellation_reason is not UNSET and _target(patch, order) != "cancelled":
        yield FieldError("cancellation_reason", "goes with status cancelled only")


def _schedule_errors(patch: OrderPatch, order: OrderState, now: datetime) -> Iterator[FieldError]:
    time = patch.scheduled_for
    if isinstance(time, Moment) and time.at <= now:
        yield FieldError("scheduled_for", "must be in the future")
    elif patch.status == "cancelled" and isinstance(time, Moment):
        yield FieldError("scheduled_for", "doesn't go with status cancelled")
    elif _lacks_time(patch, order, now):
        yield FieldError("scheduled_for", "is required with status scheduled")


def _lacks_time(patch: OrderPatch, order: OrderState, now: datetime) -> bool:
    """Whether an order is to be scheduled, and may be, for no time to come."""
    if patch.status != "scheduled":
        return False
    if patch.scheduled_for is not UNSET:
        return patch.scheduled_for is None and _may_become(order, "scheduled")
    if order.status == "scheduled":
        return False
    is_past = order.scheduled_at is None or order.scheduled_at <= now
    return is_past and _may_become(order, "scheduled")


def _may_become(order: OrderState, status: Status) -> bool:
    return status == order.status or status in NEXT[order.status]


def _target(patch: OrderPatch, order: OrderState) -> Status | None:
    """The status that the change asks for, by name or by its schedule."""
    if patch.status is not UNSET:
        return patch.status
    if patch.scheduled_for is UNSET:
        return order.status
    if patch.scheduled_for is not None:
        return "scheduled"
    # Without its time, a scheduled order is one like any other.
    return "pending" if order.status == "scheduled" else order.status


def patched(
    order: OrderState, patch: OrderPatch, now: datetime, actor: dict[str, Any]
) -> OrderState:
    """The order after a change, or the reason against it."""
    target = _target(patch, order) or order.status
    _check_transition(order, target)
    if target == "scheduled" and order.status == "cancelled" and patch.status is UNSET:
        raise Refused("A cancelled order is taken up again by its status: send it as scheduled.")
    if target in _SETTLED:
        _check_settled(order, patch, target)
    after = msgspec.structs.replace(order, **_asked(order, patch, now))
    _check_excess(order, after, target)
    _check_total(after)
    return settled(order, after, target, patch, (now, actor))


def _asked(order: OrderState, patch: OrderPatch, now: datetime) -> dict[str, Any]:
    """The columns that the change itself names, with their new values."""
    changes: dict[str, Any] = {}
    if patch.total_amount is not UNSET:
        difference = patch.total_amount - order.total_amount
        changes["adjustment_amount"] = order.adjustment_amount + difference
        changes["total_amount"] = Decimal(patch.total_amount)
    if patch.amount_paid is not UNSET:
        changes["amount_paid"] = Decimal(patch.amount_paid)
    if patch.payment_method is not UNSET:
        changes["payment_method"] = method_of(patch.payment_method)
    if patch.academic_term_id is not UNSET:
        changes["academic_term_id"] = patch.academic_term_id
    if patch.channel_fulfilled is not UNSET:
        at = order.channel_fulfilled_at or now
        changes["channel_fulfilled_at"] = at if patch.channel_fulfilled else None
    if patch.scheduled_for is not UNSET:
        changes["scheduled_at"] = patch.scheduled_for.at if patch.scheduled_for else None
    return changes


def settled(
    order: OrderState,
    after: OrderState,
    target: Status,
    patch: OrderPatch | None,
    by: tuple[datetime, dict[str, Any]],
) -> OrderState:
    """The order with its status and the consequences: cancellation, stock."""
    is_named = patch is not None and patch.status is not UNSET
    is_newly_paid = _owed(after) <= 0 and (
        order.status != "pending" or _owed(order) != _owed(after)
    )
    if target == "pending" and not is_named and is_newly_paid:
        # Fully paid turns pending into completed; a status that is asked for by name wins.
        target = "completed"
    now, actor = by
    changes: dict[str, Any] = {"status": target}
    if target in _SETTLED:
        changes["fires_at"] = None
        if target == "cancelled":
            changes["cancellation"] = _cancellation(order, patch, now, actor)
        return msgspec.structs.replace(after, **changes)
    if order.status == "cancelled":
        changes["cancellation"] = None
    if order.is_automated and order.status == "completed" != target:
        changes["reopened_at"] = now
    if target == "scheduled":
        # Confirmed once, and put off since.
        changes["scheduled_confirmed_at"] = None
    changes["fires_at"] = _fires_at(order, after, now)
    return msgspec.structs.replace(after, **changes)


def _owed(order: OrderState) -> Decimal:
    return order.total_amount - order.refunded_amount - order.amount_paid


def _check_transition(order: OrderState, target: Status) -> None:
    if target == order.status:
        return
    if order.status == "refunded":
        raise Refused("A refunded order stays refunded.")
    if target not in NEXT[order.status]:
        raise Refused(f"A {order.status} order can't become {target}.")
    # Also one that was made pending again first, and costs more since.
    is_kept = order.reopened_at is not None and order.amount_paid > 0
    is_paid = order.status == "completed" or _owed(order) <= 0 or is_kept
    if target == "cancelled" and order.is_automated and is_paid:
        raise Refused(
            "A paid order with an automated deposit can't be cancelled here: its payment may have "
            "to be reversed first."
        )


def _check_settled(order: OrderState, patch: OrderPatch, target: Status) -> None:
    """Of an order that is over only money that was handed back may be recorded."""
    touches_money = patch.amount_paid is not UNSET or patch.total_amount is not UNSET
    if touches_money and target == "refunded":
        raise Refused("The amounts of a refunded order stay as they are.")
    if patch.total_amount is not UNSET:
        raise Refused("The total of a cancelled order stays as it is.")
    if patch.amount_paid is not UNSET and patch.amount_paid > order.amount_paid:
        raise Refused(
            f"The amount paid of a cancelled order is {order.amount_paid:f} and can only become "
            "less, by what was handed back."
        )


def _check_excess(order: OrderState, after: OrderState, target: Status) -> None:
    if not turns_excess(order.position(), after.position()):
        return
    is_change = order.payment_method == "cash"
    given, other = ("given as change", "credit") if is_change else ("kept as credit", "change")
    advice = "leave the payment method as it is"
    if target not in _SETTLED:
        advice += ", or send with it an amount_paid that is not above the total"
    raise Refused(
        f"What was paid beyond the total was {given} and doesn't become {other}: {advice}."
    )


def _check_total(after: OrderState) -> None:
    if after.total_amount < after.refunded_amount:
        raise Refused(
            f"Of this order {after.refunded_amount:f} were given back: its total can't be less."
        )


def _fires_at(order: OrderState, after: OrderState, now: datetime) -> datetime | None:
    """When the kitchen gets the order by itself; without a time to wait for: now."""
    if not after.wants_kitchen or after.ticket_id is not None:
        return None
    if after.scheduled_at is not None:
        return after.scheduled_at - timedelta(minutes=after.preparation_minutes)
    return min(order.fires_at or now, now)


def _cancellation(
    order: OrderState, patch: OrderPatch | None, now: datetime, actor: dict[str, Any]
) -> dict[str, Any]:
    reason = None
    if patch is not None and patch.cancellation_reason is not UNSET:
        reason = patch.cancellation_reason
    if order.status == "cancelled" and order.cancellation is not None:
        return order.cancellation if reason is None else {**order.cancellation, "reason": reason}
    return {
        "reason": reason,
        "cancelledAt": iso(now),
        "cancelledBy": actor,
        "previousStatus": order.status,
        "restocked": comes_back(order),
    }


def confirmed(
    order: OrderState, wish: Confirmation, now: datetime, actor: dict[str, Any]
) -> OrderState:
    """A scheduled order whose time has come: paid in full unless told otherwise."""
    if order.status != "scheduled":
        raise Refused(f"Only a scheduled order can be confirmed; this one is {order.status}.")
    after = msgspec.structs.replace(
        order,
        amount_paid=_paid_by(wish, order),
        payment_method=method_of(wish.payment_method or order.payment_method),
        scheduled_confirmed_at=now,
    )
    return settled(order, after, "pending", None, (now, actor))


def confirmation_faults(wish: Confirmation, order: OrderState) -> list[FieldError]:
    """Everything that is wrong with a confirmation."""
    return faults(
        lambda: _scale_errors("amount_paid", wish.amount_paid, order),
        lambda: _confirmed_errors(wish, order),
    )


def _confirmed_errors(wish: Confirmation, order: OrderState) -> Iterator[FieldError]:
    if order.status == "scheduled":
        method = wish.payment_method or order.payment_method
        yield from _method_errors(method, _paid_by(wish, order), order)


def _paid_by(wish: Confirmation, order: OrderState) -> Decimal:
    """The amount paid as an order is confirmed; a deposit above the total stays as it was."""
    if wish.amount_paid is not None:
        return Decimal(wish.amount_paid)
    return max(order.total_amount - order.refunded_amount, order.amount_paid)


def stock_goal(before: OrderState, after: OrderState) -> StockState:
    """The state of the lines' stock after the change."""
    if after.deleted_at is not None:
        return "none"
    if after.status == "cancelled":
        if before.status == "cancelled" or not comes_back(before):
            return before.stock_state
        return "none"
    if after.status == "scheduled":
        return "reserved"
    return "taken"


def comes_back(order: OrderState) -> bool:
    """Whether a cancellation gives the order's stock back: stock that never left always is."""
    if order.stock_state == "taken":
        return order.restocks_cancelled
    return order.stock_state == "reserved"


def what_changed(before: OrderState, after: OrderState) -> list[str]:
    """The kinds of change that order.updated reports: status, payment, customer, scheduling."""
    watched = {
        "status": "status",
        "total_amount": "totalAmount",
        "amount_paid": "amountPaid",
        "refunded_amount": "refundedAmount",
        "tip_amount": "tipAmount",
        "payment_method": "paymentMethod",
        "customer_id": "customerId",
        "scheduled_at": "scheduledFor",
        "academic_term_id": "academicTerm",
        "channel_fulfilled_at": "channelFulfilledAt",
    }
    return [word for name, word in watched.items() if getattr(before, name) != getattr(after, name)]
