"""The outcome of a refund through a provider: one function for an answer, a look and a hook.

The order is locked first, then the refund, so that of two that hear the same only one acts.
"""

from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call, system_call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, OrderId
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import post, release, reverse, settle
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.ledger.store.transactions import update_reversed
from tillhouse.orders import announce, stock
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.changing.store import lock_order
from tillhouse.orders.changing.writing import Cause, Repayment, Written, write
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.posting.rules import MoneyMove
from tillhouse.orders.refunds.rules import refunded
from tillhouse.orders.returning import rules
from tillhouse.orders.returning.store import (
    Ending,
    Sent,
    add_returning,
    list_transfers,
    lock_return,
    update_ended,
    update_known,
)
from tillhouse.providers.payments.provider import SeenRefund
from tillhouse.stock.facts import Moved
from tillhouse.webhooks.emit import emit_all

_WORDS_LENGTH_MAX = 300
_FAILED = "The payment provider gave nothing back."


class Which(msgspec.Struct, frozen=True):
    """A refund of an order."""

    book_id: BookId
    refund_id: UUID
    order_id: OrderId


class Back(msgspec.Struct, frozen=True):
    """A refund whose outcome is known, with its order, both locked."""

    call: Call
    order: OrderState
    sent: Sent
    # The provider's own name of it, and its words.
    provider_reference: str | None = None
    words: str | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger of its book."""
        return Ledger(self.sent.book_id, self.order.currency, self.call.now)

    @property
    def source(self) -> Source:
        """The refund, as the ledger knows it."""
        return Source(
            type=rules.SOURCE,
            id=self.sent.id,
            happened_at=self.call.now,
            customer_id=self.order.customer_id,
            store_id=self.order.store_id,
        )

    @property
    def reason(self) -> str:
        """The provider's words."""
        return storable(self.words or _FAILED)[:_WORDS_LENGTH_MAX]


async def apply(services: Services, db: Db, which: Which, seen: SeenRefund | None) -> Sent | None:
    """Bring a refund to what the provider says of it, if anything; the refund as it was before."""
    order = await lock_order(db, which.book_id, which.order_id)
    sent = await lock_return(db, which.book_id, which.refund_id)
    if order is None or sent is None or seen is None:
        return sent
    call = system_call(services, db, sent.business_id, sent.book)
    back = Back(call, order, sent, seen.provider_reference, seen.reason)
    match rules.step_of(sent.status, seen.state):
        case "complete":
            await complete(back)
        case "fail":
            await fail(back)
        case "undo":
            await undo(back)
        case None:
            if seen.provider_reference is not None and sent.provider_refund_id is None:
                await update_known(db, sent, seen.provider_reference)
    return sent


async def complete(back: Back) -> UUID | None:
    """Take the money out of the wallet, and book the refund by the function that books any.

    The transaction of the refund; None where the order had nothing left of it.
    """
    call, order, sent = back.call, back.order, back.sent
    await _leave(back)
    available = await _credit(back)
    await _take(back)
    amount = min(sent.amount, order.amount_paid - order.change_amount)
    after = refunded(order, amount, available)
    booked = order.amount_paid - after.amount_paid
    written = Written()
    if booked > 0:
        written = await write(call, order, after, await _cause(back))
    if booked < sent.amount:
        # The order has given this part back already, by another way.
        await post(call.db, back.ledger, back.source, rules.short(sent.amount - booked))
    ending = Ending(
        status="successful",
        provider_refund_id=back.provider_reference,
        shortfall=sent.amount - booked,
        of_sale=after.refunded_amount - order.refunded_amount,
    )
    await update_ended(call.db, sent, ending, call.now)
    return None if written.refund is None else written.refund.transaction_id


async def _leave(back: Back) -> None:
    """The refund is on its way no more."""
    call, sent = back.call, back.sent
    if sent.status == "pending":
        key = BookKey(sent.book_id, sent.order_id)
        await add_returning(call.db, key, -sent.amount, call.now)


async def _credit(back: Back) -> Decimal | None:
    """The customer's credit without what is held of it for this; None: no bound."""
    call, order, sent = back.call, back.order, back.sent
    if sent.status == "pending" and sent.credit_hold_id is not None:
        await release(call.db, back.ledger, sent.credit_hold_id)
    if order.customer_id is None:
        return None
    account = Account("customer_credit", order.customer_id)
    return await lock_available(call.db, call.book.id, account)


async def _take(back: Back) -> None:
    call, sent = back.call, back.sent
    if sent.withdrawal_id is not None:
        # The withdrawal has taken it out.
        return
    if sent.status == "pending" and sent.hold_id is not None:
        await settle(call.db, back.ledger, sent.hold_id, rules.FUNDING, kind=rules.FUNDED)
        return
    # It had failed, and its hold is gone: the wallet gives what it has, the rest is a claim.
    available = await lock_available(call.db, call.book.id, Account("wallet"))
    await post(call.db, back.ledger, back.source, rules.funded(sent.amount, available))


async def _cause(back: Back) -> Cause:
    sent = back.sent
    moved = await _restock(back)
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


async def _restock(back: Back) -> list[Moved]:
    """The stock of its lines comes back with the money, unless all of it has since."""
    sent, order = back.sent, back.order
    if not sent.restocks or not sent.lines or order.stock_state != "taken":
        return []
    quantities = {UUID(line["itemId"]): Decimal(str(line["quantity"])) for line in sent.lines}
    return await stock.give_back(back.call, order, quantities)


async def fail(back: Back) -> None:
    """Let go of what was held."""
    call, sent = back.call, back.sent
    await _leave(back)
    for hold_id in (sent.credit_hold_id, sent.hold_id):
        if hold_id is not None:
            await release(call.db, back.ledger, hold_id)
    ending = Ending(status="failed", provider_refund_id=back.provider_reference, reason=back.reason)
    await update_ended(call.db, sent, ending, call.now)
    subject = announce.Subject(back.order.id, back.order.store_id, back.order.customer_id)
    await emit_all(call, [announce.refund_failed(call, subject, sent.id, back.reason)])


async def undo(back: Back) -> None:
    """The money that had gone back is the business's again, and the order's."""
    call, order, sent = back.call, back.order, back.sent
    for number, transfer_id in enumerate(await list_transfers(call.db, sent)):
        await reverse(call.db, back.ledger, back.source, transfer_id, sequence=number)
    booked = sent.amount - sent.shortfall
    ending = Ending(
        status="reversed", reason=back.reason, shortfall=sent.shortfall, of_sale=sent.of_sale
    )
    await update_ended(call.db, sent, ending, call.now)
    if sent.transaction_id is not None:
        await update_reversed(call.db, back.ledger, sent.transaction_id)
        cause = Cause(
            move=MoneyMove(method=METHOD, keeps_change=True),
            repayment=Repayment(refund_id=sent.id),
            undoes=True,
        )
        await write(call, order, rules.undone(order, booked, sent.of_sale), cause)
