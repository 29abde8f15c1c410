"""Change an order: patch, confirm, delete. Locked first, so that one change follows another."""

from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from tillhouse.access.call import Call
from tillhouse.customers.actions import find_or_create
from tillhouse.customers.types import WantedCustomer
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, Refused, check, existing
from tillhouse.kit.ids import CustomerId, OrderId, TermId
from tillhouse.kit.page import Deleted
from tillhouse.kit.partial import InvalidField
from tillhouse.orders.changing import rules
from tillhouse.orders.changing.credit import check_spending
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import (
    find_order_state,
    is_customer,
    is_term,
    list_taxed_lines,
    lock_order,
)
from tillhouse.orders.changing.tax_rules import retaxed
from tillhouse.orders.changing.writing import write
from tillhouse.orders.deposits.beginning import (
    begin,
    is_wanted,
    reason_against,
    reason_against_account,
)
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.payments.rules import check_room
from tillhouse.orders.payments.store import count_payments
from tillhouse.orders.returning.rules import check_corrected, check_returning
from tillhouse.orders.returning.store import find_provided
from tillhouse.orders.showing import show
from tillhouse.orders.types import Confirmation, Order, OrderPatch


class NotDeletable(
    Conflict,
    code="order_not_deletable",
    message="An order with an automated deposit can't be deleted: it stays in the books.",
):
    """Money is on its way to this order."""


async def lock(call: Call, order_id: OrderId) -> OrderState:
    """The order as it stands, until this call commits."""
    return existing(await lock_order(call.db, call.book.id, order_id))


async def look_at(call: Call, order_id: OrderId) -> OrderState:
    """The order as it stands at this moment: another request may change it meanwhile."""
    return existing(await find_order_state(call.db, call.book.id, order_id))


def check_seen(order: OrderState, amount_paid: Decimal | UnsetType | None) -> None:
    """Refuse a decision on another amount paid, where the caller says which."""
    if isinstance(amount_paid, Decimal) and amount_paid != order.amount_paid:
        raise Conflict(
            "Another amount of this order is paid by now: see how it stands, then decide again."
        )


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
    """Change the fields that the patch names."""
    order = await lock(call, order_id)
    check(await _patch_faults(call, order, wanted))
    check_seen(order, wanted.if_amount_paid)
    after = await _payable(call, order, rules.patched(order, wanted, call.now, _actor(call)))
    if after.total_amount != order.total_amount:
        lines = await list_taxed_lines(call.db, call.book.id, order_id)
        after = retaxed(after, lines)
    if wanted.customer_id is not UNSET:
        after = msgspec.structs.replace(after, customer_id=wanted.customer_id)
    elif wanted.customer_name is not UNSET:
        customer = WantedCustomer(name=str(wanted.customer_name))
        found, _ = await find_or_create(call, customer)
        after = msgspec.structs.replace(after, customer_id=found)
    await _check_money(call, order, after)
    await _carry_out(call, order, after)
    return await show(call, order_id)


async def confirm(call: Call, order_id: OrderId, wish: Confirmation) -> Order:
    """Make a scheduled order a sale, with its payment."""
    order = await lock(call, order_id)
    check(rules.confirmation_faults(wish, order))
    after = await _payable(call, order, rules.confirmed(order, wish, call.now, _actor(call)))
    await _check_money(call, order, after)
    await _carry_out(call, order, after)
    return await show(call, order_id)


async def _payable(call: Call, before: OrderState, after: OrderState) -> OrderState:
    """The order after a change, unless it can't be paid as it says now."""
    if after.amount_paid != before.amount_paid:
        check_room(await count_payments(call.db, call.book.id, before.id))
    method = after.payment_method
    if method != before.payment_method and (
        reason := await reason_against(call, method, before.currency)
    ):
        raise Refused(reason)
    return after


async def _check_money(call: Call, before: OrderState, after: OrderState) -> None:
    """Refuse to spend, to hand back or to correct money that isn't there for it."""
    await check_spending(call, before, after)
    check_returning(before, after)
    if after.amount_paid < before.amount_paid:
        provided = await find_provided(call.db, call.book.id, before.id)
        check_corrected(before, after, provided)


async def _carry_out(call: Call, before: OrderState, after: OrderState) -> None:
    outstanding = after.position().due - after.amount_paid
    begins = not before.is_automated and is_wanted(after.payment_method, after.status, outstanding)
    if begins and (reason := await reason_against_account(call, before.currency, outstanding)):
        raise Refused(reason)
    await write(call, before, after)
    if begins:
        await begin(call, before.id)


async def delete(call: Call, order_id: OrderId) -> Deleted:
    """Take an order out of the books: stock back, debt removed."""
    order = await lock(call, order_id)
    if order.is_automated or order.returning_amount:
        raise NotDeletable
    after = msgspec.structs.replace(order, deleted_at=call.now, fires_at=None)
    await write(call, order, after)
    return Deleted(order_id, iso(call.now))


def _actor(call: Call) -> dict[str, Any]:
    actor = actor_of(call.caller)
    return {"id": str(actor.id), "name": actor.name}
