"""Change an order: patch, confirm, delete. Locked first, so that one change follows another."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.customers.actions import find_or_create
from tillhouse.customers.types import Wanted
from tillhouse.kit.clock import iso
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import Conflict, FieldError, Missing, Refused, check
from tillhouse.kit.ids import BookKey, CustomerId, OrderId, TermId
from tillhouse.kit.partial import InvalidField
from tillhouse.kitchen.actions import close, reopen
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.ledger.store.posting import record_postings, rows
from tillhouse.orders import announce, promotion, stock
from tillhouse.orders import payment_rules as payment
from tillhouse.orders.actor import actor_of
from tillhouse.orders.changing import rules
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import is_customer, is_term, lock_order, update_order
from tillhouse.orders.events import ORDER_CANCELLED, ORDER_UPDATED
from tillhouse.orders.posting.rules import SOURCE, postings
from tillhouse.orders.showing import show
from tillhouse.orders.types import Confirmation, Order, OrderPatch
from tillhouse.stock.facts import Moved
from tillhouse.stock.rules import events
from tillhouse.webhooks.emit import emit_all


class NotDeletable(
    Conflict,
    code="order_not_deletable",
    message="An order with an automated deposit can't be deleted: it stays in the books.",
):
    """Money is on its way to this order."""


async def lock(call: Call, order_id: OrderId) -> OrderState:
    """The order as it stands, until this call commits."""
    order = await lock_order(call.db, call.book.id, order_id)
    if order is None:
        raise Missing
    return order


async def patch_faults(call: Call, order_id: OrderId, patch: OrderPatch) -> list[FieldError]:
    """Everything that speaks against the form of a change."""
    return await _patch_faults(call, await lock(call, order_id), patch)


async def _patch_faults(call: Call, order: OrderState, patch: OrderPatch) -> list[FieldError]:
    customer_id, term_id = _given(patch, "customer_id"), _given(patch, "academic_term_id")
    return rules.patch_faults(
        patch,
        order,
        call.now,
        has_customer=customer_id is None
        or await is_customer(call.db, call.book.id, CustomerId(customer_id)),
        has_term=term_id is None or await is_term(call.db, call.book.id, TermId(term_id)),
    )


def _given(patch: OrderPatch, name: str) -> UUID | None:
    """The id that the patch gives; None when it gives none, or one of a wrong form."""
    with suppress(InvalidField):
        value = getattr(patch, name)
        if isinstance(value, UUID):
            return value
    return None


async def patch(call: Call, order_id: OrderId, wanted: OrderPatch) -> Order:
    """Change what the patch names."""
    order = await lock(call, order_id)
    check(await _patch_faults(call, order, wanted))
    after = _payable(call, order, rules.patched(order, wanted, call.now, _actor(call)))
    if wanted.customer_id is not UNSET:
        after = msgspec.structs.replace(after, customer_id=wanted.customer_id)
    elif wanted.customer_name is not UNSET:
        customer = Wanted(name=str(wanted.customer_name))
        found, _ = await find_or_create(call, customer)
        after = msgspec.structs.replace(after, customer_id=found)
    await _write(call, order, after)
    return await show(call, order_id)


async def confirm(call: Call, order_id: OrderId, wish: Confirmation) -> Order:
    """Make a scheduled order a sale, with its payment."""
    order = await lock(call, order_id)
    check(rules.confirmation_faults(wish, order))
    after = _payable(call, order, rules.confirmed(order, wish, call.now, _actor(call)))
    await _write(call, order, after)
    return await show(call, order_id)


def _payable(call: Call, before: OrderState, after: OrderState) -> OrderState:
    """The order after a change, unless it can't be paid as it says now."""
    method = after.payment_method
    reason = payment.reason_against(method, call.book.environment)
    if reason and method != before.payment_method:
        raise Refused(reason)
    return after


async def delete(call: Call, order_id: OrderId) -> Deleted:
    """Take an order out of the books: stock back, debt removed."""
    order = await lock(call, order_id)
    if order.is_automated:
        raise NotDeletable
    after = msgspec.structs.replace(order, deleted_at=call.now, fires_at=None)
    await _write(call, order, after)
    return Deleted(order_id, iso(call.now))


async def _write(call: Call, before: OrderState, after: OrderState) -> None:
    """Carry a decided change out: stock, ledger, the row itself, ticket, promotion, events."""
    if not rules.is_changed(before, after):
        return
    after, moved = await stock.shift(call, before, after, rules.stock_goal(before, after))
    posted = postings(before.position(), after.position())
    first = before.postings
    after = msgspec.structs.replace(after, postings=first + posted.used)
    await update_order(call.db, BookKey(call.book.id, before.id), call.now, after.columns())
    if not posted.is_nothing:
        source = Source(
            type=SOURCE,
            id=before.id,
            customer_id=after.customer_id,
            store_id=after.store_id,
            happened_at=call.now,
        )
        ledger = Ledger(call.book.id, before.currency, call.now)
        await record_postings(call.db, ledger, [source], rows(before.id, posted, first))
    is_over = after.deleted_at is not None or after.status == "cancelled"
    if is_over and before.ticket_id is not None:
        await close(call, before.id)
    elif before.status == "cancelled" != after.status and before.ticket_id is not None:
        await reopen(call, before.id)
    await promotion.follow(call, before, after)
    await _announce(call, before, after, moved)


async def _announce(
    call: Call, before: OrderState, after: OrderState, moved: Sequence[Moved]
) -> None:
    subject = announce.Subject(before.id, before.store_id, after.customer_id)
    told = list(_told(call, before, after, subject))
    paid = after.amount_paid - before.amount_paid
    if paid > 0:
        told.append(announce.paid(call, subject, paid, after.payment_method))
    told += events(moved, call.business_id, call.now)
    if told:
        await emit_all(call, told)


def _told(
    call: Call, before: OrderState, after: OrderState, subject: announce.Subject
) -> Sequence[announce.Event]:
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
    if not changed:
        return []
    return [announce.changed(call, ORDER_UPDATED, subject, {**metadata, "changed": changed})]


def _actor(call: Call) -> dict[str, Any]:
    actor = actor_of(call)
    return {"id": str(actor.id), "name": actor.name}
