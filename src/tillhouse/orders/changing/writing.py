"""Carry a decided change of an order out: stock, ledger, payments, the row itself, events."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kitchen.actions import close, reopen
from tillhouse.ledger.rules import Ledger, Movement, Source, booked
from tillhouse.ledger.store.posting import Rows, record_postings, rows
from tillhouse.orders import announce, stock
from tillhouse.orders.changing import credit, rules
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import update_order
from tillhouse.orders.events import ORDER_CANCELLED, ORDER_UPDATED
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.payments.rules import (
    OrderPaymentRow,
    PaymentOrigin,
    Tender,
    held_by_method,
    payment_row,
)
from tillhouse.orders.posting.rules import (
    SOURCE,
    LedgerPosition,
    MoneyMove,
    divided,
    move_between,
    postings,
)
from tillhouse.orders.recording.promotion import USED_UP
from tillhouse.orders.refunds.rules import OrderRefundRow
from tillhouse.promotions.store.uses import give_back, take_use
from tillhouse.stock.facts import MovedStock
from tillhouse.stock.rules import events
from tillhouse.webhooks.emit import emit_all


class Repayment(msgspec.Struct, frozen=True, kw_only=True):
    """The words for a refund beside its amount and its method."""

    reason: str | None = None
    lines: list[dict[str, Any]] | None = None
    restocked: bool = False
    # The refund that was kept before, if it went through a provider.
    refund_id: UUID | None = None
    # The moves of stock that it made already.
    moved: Sequence[MovedStock] = ()


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """The money that changes an order, where the order alone doesn't tell it."""

    move: MoneyMove | None = None
    tender: Tender | None = None
    repayment: Repayment = Repayment()
    # A refund didn't last: its own transaction says so, or stands on its day and has a counter.
    undoes: bool = False
    counter: Movement | None = None


class WrittenChange(msgspec.Struct, frozen=True, kw_only=True):
    """The rows that a change made, as far as it moved money."""

    payment: OrderPaymentRow | None = None
    refund: OrderRefundRow | None = None


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change as it is written."""

    before: OrderState
    after: OrderState
    positions: tuple[LedgerPosition, LedgerPosition]
    move: MoneyMove
    cause: Cause
    posted: Rows

    @property
    def paid(self) -> Decimal:
        """The amount that came in, or below zero the one that is taken back."""
        return self.after.amount_paid - self.before.amount_paid

    @property
    def turns_credit(self) -> bool:
        """Whether credit that it was paid by is the customer's again, or the order's.

        A correction takes credit back for a caller who decides its use.
        """
        before, after = (credit.needed(position) for position in self.positions)
        is_correction = self.paid < 0 and not self.move.is_refund
        return before != after and self.paid <= 0 and not is_correction


async def write(
    call: Call, before: OrderState, after: OrderState, cause: Cause | None = None
) -> WrittenChange:
    """Carry a decided change out."""
    if before == after:
        return WrittenChange()
    cause = cause or Cause()
    after, moved = await stock.shift(call, before, after, rules.stock_goal(before, after))
    change = _change(before, after, cause)
    written = _written(call, change)
    key, moved_money = BookKey(call.book.id, before.id), (written.payment, written.refund)
    await update_order(call.db, key, call.now, change.after, moved_money)
    disputes = (
        await credit.free_disputed(call, before) if credit.is_moved(*change.positions) else ()
    )
    of_stay = await credit.free_of_stay(call, before) if change.turns_credit else ()
    await _post(call, change)
    await credit.hold_disputed(call, change.after, disputes)
    await credit.hold_of_stay(call, before, change.positions, of_stay)
    await _follow(call, before, change.after)
    await _announce(call, change, written, [*moved, *cause.repayment.moved])
    return written


def _change(before: OrderState, after: OrderState, cause: Cause) -> _Change:
    start, wanted = before.position(), after.position()
    move = cause.move or move_between(start, wanted)
    position = divided(start, wanted, move)
    found = postings(start, position, move)
    if cause.undoes:
        movements = () if cause.counter is None else (cause.counter,)
        found = msgspec.structs.replace(found, movements=movements)
    posted = rows(before.id, found, before.postings)
    return _Change(
        before=before,
        after=msgspec.structs.replace(
            after,
            change_amount=position.change,
            credit_amount=position.credit,
            tendered=held_by_method(before.tendered, (start, position), move),
            postings=before.postings + len(posted.posting),
        ),
        positions=(start, position),
        move=move,
        cause=cause,
        posted=posted,
    )


def _written(call: Call, change: _Change) -> WrittenChange:
    if not change.paid or change.cause.undoes:
        return WrittenChange()
    transaction_id, by = change.posted.movement[0].id, actor_of(call.caller)
    if change.move.is_refund:
        told = change.cause.repayment
        refund = OrderRefundRow(
            id=told.refund_id or new_id(),
            order_id=change.before.id,
            method=change.move.method,
            amount=-change.paid,
            reason=told.reason,
            lines=told.lines,
            restocked=told.restocked,
            transaction_id=transaction_id,
            recorded_by_id=by.id,
            recorded_by_name=by.name,
            happened_at=iso(call.now),
        )
        return WrittenChange(refund=refund)
    tender = change.cause.tender or Tender(amount=change.paid, method=change.move.method)
    recorder = PaymentOrigin(
        payment_id=new_id(), by=by, now=call.now, happened_at=tender.at or call.now
    )
    row = payment_row(change.before.id, change.positions, transaction_id, recorder, tender)
    return WrittenChange(payment=row)


async def _post(call: Call, change: _Change) -> None:
    posted = change.posted
    if not (posted.posting or posted.movement or posted.owing):
        return
    tender = change.cause.tender
    closed_on = change.before.closed_on
    if closed_on is not None and (tender is None or tender.at in (None, call.now)):
        call.remark(booked(closed_on))
    source = Source(
        type=SOURCE,
        id=change.before.id,
        customer_id=change.after.customer_id,
        store_id=change.after.store_id,
        happened_at=call.now if tender is None else tender.at or call.now,
    )
    ledger = Ledger(call.book.id, change.before.currency, call.now)
    await record_postings(call.db, ledger, [source], posted)


async def _follow(call: Call, before: OrderState, after: OrderState) -> None:
    """Ticket and promotion follow the order."""
    is_over = after.deleted_at is not None or after.status in ("cancelled", "refunded")
    if is_over:
        # Also a ticket that was opened while this change waited for the order.
        await close(call, before.id)
    elif before.ticket_id is not None and before.status == "cancelled" != after.status:
        await reopen(call, before.id)
    await _follow_promotion(call, before, after)


async def _follow_promotion(call: Call, before: OrderState, after: OrderState) -> None:
    """Give a use back when its order is over, and take it again when it isn't any more."""
    if before.promotion_id is None:
        return
    was_over = before.status == "cancelled"
    is_over = after.status == "cancelled" or after.deleted_at is not None
    use = (call.book.id, before.promotion_id, before.promotion_customer_id)
    if is_over and not was_over:
        await give_back(call.db, *use)
    elif was_over and not is_over and not await take_use(call.db, *use):
        raise Refused(USED_UP)


async def _announce(
    call: Call, change: _Change, written: WrittenChange, moved: Sequence[MovedStock]
) -> None:
    before, after = change.before, change.after
    subject = announce.AnnouncedOrder(before.id, before.store_id, after.customer_id)
    told = list(_told(call, change, subject, written))
    payment = written.payment
    if payment is not None and payment.amount > 0:
        told.append(announce.paid(call, subject, payment, change.cause.tender))
    told += events(moved, call.business_id, call.now)
    if told:
        await emit_all(call, told)


def _told(
    call: Call, change: _Change, subject: announce.AnnouncedOrder, written: WrittenChange
) -> Sequence[announce.Event]:
    before, after = change.before, change.after
    metadata: dict[str, Any] = {
        "shortCode": before.short_code,
        "previousStatus": before.status,
        "status": after.status,
        "totalAmount": after.total_amount,
        "amountPaid": after.amount_paid,
        "currency": before.currency,
        "customerId": after.customer_id,
    }
    if after.deleted_at is not None:
        return [announce.changed(call, ORDER_CANCELLED, subject, {**metadata, "deleted": True})]
    if after.status == "cancelled" != before.status:
        reason = (after.cancellation or {}).get("reason")
        return [announce.changed(call, ORDER_CANCELLED, subject, {**metadata, "reason": reason})]
    changed = rules.what_changed(before, after)
    refund_id = written.refund.id if written.refund else change.cause.repayment.refund_id
    if refund_id is not None:
        changed.append("refund")
        metadata["refundId"] = refund_id
        metadata["refundStatus"] = "reversed" if change.cause.undoes else "successful"
    if not changed:
        return []
    return [announce.changed(call, ORDER_UPDATED, subject, {**metadata, "changed": changed})]
