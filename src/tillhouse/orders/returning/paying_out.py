"""Refunds that a withdrawal pays out, where the provider doesn't give the payment back.

The room that withdraws decides about the account and its limits, holds the amount and sends it. In
its transactions the refund begins and ends: both have one outcome.
"""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.errors import Invalid, Refused, check
from tillhouse.kit.ids import OrderId
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import lock_order
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.refunds.rules import decided, refund_faults
from tillhouse.orders.refunds.store import find_refund_facts
from tillhouse.orders.refunds.types import NewRefund
from tillhouse.orders.returning import outcome
from tillhouse.orders.returning.actions import PlannedRefund, gives_back, keep, of_credit
from tillhouse.orders.returning.outcome import RefundOutcome, outcome_of
from tillhouse.orders.returning.rules import NOT_RETURNABLE, ReturnablePayment, chosen
from tillhouse.orders.returning.store import list_returnable, lock_paid_out


async def decide(call: Call, order: OrderState, wanted: NewRefund) -> PlannedRefund:
    """The refund of an order that is locked, or the reason against it."""
    new = msgspec.structs.replace(wanted, method=METHOD)
    facts = await find_refund_facts(call.db, call.book.id, order.id)
    check(refund_faults(new, order, facts))
    refund = decided(new, order, facts)
    payments = await list_returnable(call.db, call.book.id, order.id)
    if new.payment_id is not None:
        payments = [one for one in payments if one.payment_id == new.payment_id]
        if not payments:
            raise Invalid.field("refund.payment_id", NOT_RETURNABLE)
    payment = chosen(await _without_way_back(call, payments), refund.amount, None)
    kept = await of_credit(call, order, refund)
    return PlannedRefund(order=order, new=new, decided=refund, payment=payment, of_credit=kept)


async def _without_way_back(
    call: Call, payments: Sequence[ReturnablePayment]
) -> list[ReturnablePayment]:
    """The payments whose provider refused to give them back, or can't."""
    if not payments:
        raise Refused("No payment of this order came by a provider: hand it back as it came.")
    able = {name: await gives_back(call, name) for name in {one.provider for one in payments}}
    found = [one for one in payments if one.is_refused or not able[one.provider]]
    if not found:
        raise Refused(
            "A refund is paid out where the provider refused to give the payment back, or can't: "
            "ask for that first, by POST /v1/orders/{order_id}/refunds."
        )
    return found


async def begin(call: Call, planned: PlannedRefund, withdrawal_id: UUID) -> None:
    """Keep the refund, beside the withdrawal that pays it out."""
    await keep(call, planned, withdrawal_id)


async def lock_refunded(call: Call, order_id: OrderId, withdrawal_id: UUID) -> RefundOutcome | None:
    """The refund that a withdrawal pays out, after its order: all lock them before all else."""
    order = await lock_order(call.db, call.book.id, order_id)
    sent = await lock_paid_out(call.db, call.book.id, withdrawal_id)
    return None if order is None or sent is None else outcome_of(call, order, sent)


async def complete(refund: RefundOutcome) -> UUID | None:
    """The money has arrived: book the refund; its transaction, if it has one."""
    return await outcome.complete(refund)


async def give_up(refund: RefundOutcome, reason: str) -> None:
    """The money has not left, or came back: the order has it again."""
    told = msgspec.structs.replace(refund, words=reason)
    if refund.sent.status == "pending":
        await outcome.fail(told)
    elif refund.sent.status == "successful":
        await outcome.undo(told)
