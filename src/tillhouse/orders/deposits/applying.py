"""Payments that arrived for orders: booked, or given back, each once."""

from decimal import Decimal

from tillhouse.access.call import Call
from tillhouse.kit.ids import OrderId
from tillhouse.ledger.rules import Account, Ledger
from tillhouse.ledger.store.holds import lock_available
from tillhouse.orders.changing import credit
from tillhouse.orders.changing.actions import lock
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.writing import Cause, Repayment, write
from tillhouse.orders.deposits.beginning import METHOD, TARGET
from tillhouse.orders.payments.actions import receive
from tillhouse.orders.payments.rules import Tender
from tillhouse.orders.posting.rules import MoneyMove
from tillhouse.orders.refunds.rules import refunded
from tillhouse.payins.applying import (
    claim_shortfall,
    mark_applied,
    mark_reversal_applied,
    take,
)
from tillhouse.payins.events import deposited
from tillhouse.payins.types import Payin
from tillhouse.webhooks.emit import emit_all

_REVERSED = "The payment provider took the payment back."


async def apply(call: Call, order_id: OrderId) -> None:
    """Book the payments of an order since, and give back those that the provider took back."""
    for payin in await take(call.db, call.book.id, TARGET, order_id):
        if payin.is_to_apply:
            await _receive(call, order_id, payin)
        if payin.is_to_take_back:
            await give_back(call, await lock(call, order_id), payin)
            await mark_reversal_applied(call.db, payin, call.now)


async def _receive(call: Call, order_id: OrderId, payin: Payin) -> None:
    before = await lock(call, order_id)
    tender = Tender(
        amount=payin.amount,
        method=METHOD,
        reference=payin.provider_transaction_id[:120],
        at=payin.paid_at,
        receipt_id=payin.id,
    )
    received = await receive(call, order_id, tender)
    about = {"orderId": order_id, "customerId": before.customer_id}
    told = deposited(call, payin, received.transaction_id, about, before.store_id)
    await emit_all(call, [told])
    owed = before.position().due - before.amount_paid
    conditions = list(payin.conditions)
    if payin.amount > owed:
        conditions.append("over" if owed > 0 else "twice")
    elif received.remaining_amount > 0:
        conditions.append("partial")
    await mark_applied(
        call.db,
        payin,
        call.now,
        transaction_id=received.transaction_id,
        conditions=conditions,
    )


async def give_back(call: Call, order: OrderState, payin: Payin) -> None:
    """Take a provider's return out of an order; one of the whole payment refunds the order."""
    wanted = payin.to_take_back
    # The dispute of money that went back is settled with it.
    await credit.free_disputed(call, order)
    amount = min(wanted, order.amount_paid - order.change_amount)
    after = refunded(order, amount, await _available(call, order))
    amount = order.amount_paid - after.amount_paid
    if amount > 0:
        cause = Cause(
            move=MoneyMove(method=METHOD, is_refund=True, keeps_change=True),
            repayment=Repayment(reason=_REVERSED),
        )
        await write(call, order, after, cause)
    await credit.hold_disputed(call, after, await credit.free_disputed(call, order))
    if amount < wanted:
        # The business has handed this part back already, and the provider took it once more.
        ledger = Ledger(call.book.id, order.currency, call.now)
        await claim_shortfall(call.db, ledger, payin, wanted - amount)


async def _available(call: Call, order: OrderState) -> Decimal | None:
    """The credit that the customer has not spent, until the transaction ends; None: no bound."""
    if order.customer_id is None:
        return None
    account = Account("customer_credit", order.customer_id)
    return await lock_available(call.db, call.book.id, account)
