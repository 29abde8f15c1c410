"""Begin a refund that goes back through a provider: held, kept, queued; sent by a worker."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import BookKey, OrderId, new_id
from tillhouse.kit.json import encode
from tillhouse.ledger.posting import Insufficient, WantedHold, hold
from tillhouse.ledger.rules import Account, Ledger, Source, booked
from tillhouse.ledger.store.holds import lock_available
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.money_types import actor_of
from tillhouse.orders.refunds.rules import DecidedRefund, refunded
from tillhouse.orders.refunds.store import list_payins
from tillhouse.orders.refunds.types import NewRefund
from tillhouse.orders.returning import rules
from tillhouse.orders.returning.rules import ReturnablePayment
from tillhouse.orders.returning.store import (
    NewRefundRow,
    add_returning,
    insert_return,
)
from tillhouse.payins.connections import NoProvider, find_provider
from tillhouse.payins.returning import count_given_back, lock_payments
from tillhouse.payins.types import Origin

RETURN = "refund"
"""The job that sends one."""

_INSTEAD = (
    "Give back less, wait for more to come in, or name the method by which it was handed back "
    "otherwise."
)
_SPENT = (
    "What was paid beyond the total was kept as the customer's credit, and of that too much is "
    "spent: give back less."
)


class PlannedRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund that may go back and is not kept yet; its order is locked."""

    order: OrderState
    new: NewRefund
    decided: DecidedRefund
    payment: ReturnablePayment
    # The part of it that the customer's credit keeps.
    of_credit: Decimal


async def lock_money(call: Call, order_id: OrderId) -> None:
    """Let the provider take nothing of an order's payments back meanwhile; before its order."""
    found = await list_payins(call.db, call.book.id, order_id)
    await lock_payments(call.db, call.book.id, found)


async def begin(
    call: Call,
    order: OrderState,
    decided: DecidedRefund,
    new: NewRefund,
    payments: Sequence[ReturnablePayment],
) -> UUID:
    """Hold the amount, keep the refund as pending, and queue the job that sends it."""
    payment = rules.chosen(payments, decided.amount, new.payment_id)
    await _check_provider(call, payment.provider)
    kept = await of_credit(call, order, decided)
    planned = PlannedRefund(order=order, new=new, decided=decided, payment=payment, of_credit=kept)
    refund_id = await keep(call, planned)
    job = NewJob(book_id=call.book.id, kind=RETURN, subject_id=refund_id)
    await queue_job(call.db, job, call.now, call.now)
    return refund_id


async def keep(call: Call, planned: PlannedRefund, withdrawal_id: UUID | None = None) -> UUID:
    """Keep a refund as pending, with its holds.

    Where a withdrawal pays it out, that holds the amount in the wallet.
    """
    order, decided, new, payment = planned.order, planned.decided, planned.new, planned.payment
    refund_id, by, lines = new_id(), actor_of(call.caller), decided.shown_lines()
    if order.closed_on is not None:
        call.remark(booked(order.closed_on, "on the day on which it goes back"))
    hold_id = credit_hold_id = None
    if withdrawal_id is None:
        hold_id = await _hold(call, order, refund_id, Account("wallet"), decided.amount)
    if planned.of_credit:
        credit_hold_id = await _hold(call, order, refund_id, _credit(order), planned.of_credit)
    row = NewRefundRow(
        id=refund_id,
        order_id=order.id,
        amount=decided.amount,
        reason=new.reason,
        lines=encode(lines).decode() if lines else None,
        payment_id=payment.payment_id,
        payin_id=payment.payin_id,
        provider=payment.provider if withdrawal_id is None else None,
        hold_id=hold_id,
        credit_hold_id=credit_hold_id,
        restocks=bool(new.restock),
        by_id=by.id,
        by_name=by.name,
        withdrawal_id=withdrawal_id,
    )
    await insert_return(call.db, call.book.id, row, call.now)
    key = BookKey(call.book.id, order.id)
    await add_returning(call.db, key, decided.amount, call.now)
    if withdrawal_id is None:
        origin = Origin(call.business_id, call.book, payment.provider)
        await count_given_back(call.db, origin, payment.payin_id, decided.amount, call.now)
    return refund_id


async def gives_back(call: Call, name: str) -> bool:
    """Whether a payment can be given back by the provider that it came by."""
    try:
        connection = await find_provider(call.services, call.db, call.book, name)
    except NoProvider:
        return False
    return connection.provider.capabilities.has_refunds


async def _check_provider(call: Call, name: str) -> None:
    try:
        connection = await find_provider(call.services, call.db, call.book, name)
    except NoProvider:
        raise Refused(
            f"The payment came by {name}, which is not connected any more: connect it by "
            "PUT /v1/payment-providers, pay it out by POST /v1/wallet/withdrawals, or name the "
            "method by which the money was handed back."
        ) from None
    if not connection.provider.capabilities.has_refunds:
        raise Refused(
            f"{name} gives no payment back: pay it out by POST /v1/wallet/withdrawals, or pay the "
            "customer another way, and name that as method."
        )


async def of_credit(call: Call, order: OrderState, decided: DecidedRefund) -> Decimal:
    """The part that the customer's credit keeps; refused where it keeps less than is needed."""
    available = None
    if order.customer_id is not None:
        available = await lock_available(call.db, call.book.id, _credit(order))
    amount, is_of_lines = decided.amount, bool(decided.lines)
    after = refunded(order, amount, available, is_of_lines=is_of_lines)
    if order.amount_paid - after.amount_paid < amount:
        raise Refused(_SPENT)
    if available is None or order.position().kept <= 0:
        return Decimal(0)
    return amount - (after.refunded_amount - order.refunded_amount)


def _credit(order: OrderState) -> Account:
    assert order.customer_id is not None, "credit is somebody's"  # noqa: S101
    return Account("customer_credit", order.customer_id)


async def _hold(
    call: Call, order: OrderState, refund_id: UUID, account: Account, amount: Decimal
) -> UUID:
    ledger = Ledger(call.book.id, order.currency, call.now)
    source = Source(type=rules.SOURCE, id=refund_id, happened_at=call.now)
    try:
        return await hold(call.db, ledger, source, WantedHold(account, amount, account.kind))
    except Insufficient:
        available = await lock_available(call.db, call.book.id, account)
        raise Refused(rules.uncovered(amount, available, _INSTEAD)) from None
