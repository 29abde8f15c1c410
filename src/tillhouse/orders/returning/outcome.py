"""The outcome of a refund through a provider: one function for an answer, a look and a hook.

The payment is locked first, then the order, then the refund, so that of two that hear the same
only one acts.
"""

from decimal import Decimal
from functools import partial
from uuid import UUID

import msgspec

from tillhouse.access.call import Call, system_call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey
from tillhouse.ledger.posting import post, release, settle
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.orders import announce, stock
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import lock_order
from tillhouse.orders.changing.writing import Cause, Repayment, WrittenChange, write
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.posting.rules import MoneyMove
from tillhouse.orders.refunds.rules import refunded
from tillhouse.orders.returning import corrections, rules
from tillhouse.orders.returning.corrections import undo_booked
from tillhouse.orders.returning.ending import EndingRefund
from tillhouse.orders.returning.store import (
    REFUNDS,
    RefundEnding,
    SentOrderRefund,
    add_returning,
    lock_return,
    update_ended,
)
from tillhouse.payins.outgoing import LockedRow
from tillhouse.payins.returning import lock_payments
from tillhouse.providers.payments.provider import SeenRefund
from tillhouse.stock.facts import MovedStock
from tillhouse.webhooks.emit import emit_all


class RefundOutcome(EndingRefund[SentOrderRefund], frozen=True, kw_only=True):
    """A refund whose outcome is known, with its order, both locked."""

    refunds = REFUNDS
    heard = corrections.HEARD

    order: OrderState


def outcome_of(call: Call, order: OrderState, sent: SentOrderRefund) -> RefundOutcome:
    """The outcome of a refund that is locked with its order."""
    return RefundOutcome(
        call=call,
        order=order,
        sent=sent,
        ledger=Ledger(sent.book_id, order.currency, call.now),
        source=Source(
            type=rules.SOURCE,
            id=sent.id,
            happened_at=call.now,
            customer_id=order.customer_id,
            store_id=order.store_id,
        ),
    )


async def lock(
    services: Services, db: Db, asked: SentOrderRefund
) -> LockedRow[SentOrderRefund, SeenRefund] | None:
    """A refund with its payment and its order, to be brought to the provider's state of it."""
    await lock_payments(db, asked.book_id, [asked.payin_id])
    order = await lock_order(db, asked.book_id, asked.order_id)
    sent = await lock_return(db, asked.book_id, asked.id)
    if order is None or sent is None:
        return None
    call = system_call(services, db, sent.business_id, sent.book)
    return LockedRow(
        row=sent,
        changes=lambda seen: rules.step_of(sent.status, seen.state) is not None,
        apply=partial(_apply, outcome_of(call, order, sent)),
    )


async def _apply(refund: RefundOutcome, seen: SeenRefund) -> None:
    sent = refund.sent
    outcome = msgspec.structs.replace(
        refund, provider_reference=seen.provider_reference, words=seen.reason
    )
    match rules.step_of(sent.status, seen.state):
        case "complete" if await corrections.waits_for_others(refund.call.db, sent):
            await outcome.know()
            await outcome.ask_about_others("successful")
        case "complete":
            await complete(outcome)
        case "fail":
            await fail(outcome)
        case "undo":
            await undo(outcome)
        case None:
            await outcome.know()


async def complete(outcome: RefundOutcome) -> UUID | None:
    """Take the money out of the wallet, and book the refund by the function that books any.

    The transaction of the refund; None where the order had nothing left of it.
    """
    call, order, sent = outcome.call, outcome.order, outcome.sent
    given = sent.amount if sent.withdrawal_id is not None else await outcome.left()
    await _leave(outcome)
    available = await _credit(outcome)
    await _take(outcome, given)
    amount = min(given, order.amount_paid - order.change_amount)
    after = refunded(order, amount, available, is_of_lines=bool(sent.lines))
    booked = order.amount_paid - after.amount_paid
    written = WrittenChange()
    if booked > 0:
        written = await write(call, order, after, await _cause(outcome))
    if booked < given:
        # The order has given this part back already, by another way.
        await post(call.db, outcome.ledger, outcome.source, rules.short(given - booked))
    if sent.status != "pending":
        await _count(outcome, given)
    ending = RefundEnding(
        status="successful",
        provider_refund_id=outcome.provider_reference,
        shortfall=sent.amount - booked,
        of_sale=after.refunded_amount - order.refunded_amount,
        taken_before=sent.amount - given,
    )
    await update_ended(call.db, sent, ending, call.now)
    return None if written.refund is None else written.refund.transaction_id


async def _leave(outcome: RefundOutcome) -> None:
    """The refund is on its way no more."""
    call, sent = outcome.call, outcome.sent
    if sent.status == "pending":
        key = BookKey(sent.book_id, sent.order_id)
        await add_returning(call.db, key, -sent.amount, call.now)


async def _count(outcome: RefundOutcome, amount: Decimal) -> None:
    """Let its payment know how much more, or less, refunds of ours give back of it."""
    if outcome.sent.withdrawal_id is None:
        await outcome.count(amount)


async def _credit(outcome: RefundOutcome) -> Decimal | None:
    """The customer's credit without the part held for this; None: no bound."""
    call, order, sent = outcome.call, outcome.order, outcome.sent
    if sent.status == "pending" and sent.credit_hold_id is not None:
        await release(call.db, outcome.ledger, sent.credit_hold_id)
    if order.customer_id is None:
        return None
    account = Account("customer_credit", order.customer_id)
    return await lock_available(call.db, call.book.id, account)


async def _take(outcome: RefundOutcome, given: Decimal) -> None:
    call, sent = outcome.call, outcome.sent
    if sent.withdrawal_id is not None:
        # The withdrawal has taken it out.
        return
    if sent.status == "pending" and sent.hold_id is not None:
        await settle(call.db, outcome.ledger, sent.hold_id, rules.FUNDING, kind=rules.FUNDED)
        return
    # It had failed, and its hold is gone: the wallet gives all it has, the rest is a claim.
    available = await lock_available(call.db, call.book.id, Account("wallet"))
    await post(call.db, outcome.ledger, outcome.source, rules.funded(given, available))


async def _cause(outcome: RefundOutcome) -> Cause:
    sent = outcome.sent
    moved = await _restock(outcome)
    return Cause(
        move=MoneyMove(method=METHOD, is_refund=True, keeps_change=True),
        repayment=Repayment(
            refund_id=sent.id,
            reason=sent.reason,
            lines=sent.lines,
            restocked=bool(moved),
            moved=moved,
        ),
    )


async def _restock(outcome: RefundOutcome) -> list[MovedStock]:
    """The stock of its lines comes back with the money, unless all of it has since."""
    sent, order = outcome.sent, outcome.order
    if not sent.restocks or not sent.lines or order.stock_state != "taken":
        return []
    quantities = {UUID(line["itemId"]): Decimal(str(line["quantity"])) for line in sent.lines}
    return await stock.give_back(outcome.call, order, quantities)


async def fail(outcome: RefundOutcome) -> None:
    """Release its holds."""
    call, sent = outcome.call, outcome.sent
    await _leave(outcome)
    await outcome.release_holds()
    await _count(outcome, -sent.amount)
    ending = RefundEnding(
        status="failed", provider_refund_id=outcome.provider_reference, reason=outcome.reason
    )
    await update_ended(call.db, sent, ending, call.now)
    subject = announce.AnnouncedOrder(
        outcome.order.id, outcome.order.store_id, outcome.order.customer_id
    )
    await emit_all(call, [announce.refund_failed(call, subject, sent.id, outcome.reason)])


async def undo(outcome: RefundOutcome) -> None:
    """The money that had gone back is the business's again, and the order's."""
    call, order, sent = outcome.call, outcome.order, outcome.sent
    await outcome.undo()
    booked = sent.amount - sent.shortfall
    ending = RefundEnding(
        status="reversed",
        reason=outcome.reason,
        shortfall=sent.shortfall,
        of_sale=sent.of_sale,
        taken_before=sent.taken_before,
    )
    await update_ended(call.db, sent, ending, call.now)
    await _count(outcome, sent.taken_before - sent.amount)
    if sent.transaction_id is not None:
        counter = await undo_booked(call.db, outcome.ledger, sent.transaction_id, booked)
        cause = Cause(
            move=MoneyMove(method=METHOD, keeps_change=True),
            repayment=Repayment(refund_id=sent.id),
            undoes=True,
            counter=counter,
        )
        await write(call, order, rules.undone(order, booked, sent.of_sale), cause)
