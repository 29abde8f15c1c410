"""The outcome of a refund of a stay: one function for an answer, a look and a hook.

The payment is locked first, then the stay, then the refund, so that of two that hear the same only
one acts.
"""

from decimal import Decimal

import msgspec

from tillhouse.access.call import Call, system_call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.folios import events, payments
from tillhouse.folios.facts import Stay
from tillhouse.folios.payments import Way
from tillhouse.folios.returning.rules import HEARD, SOURCE
from tillhouse.folios.returning.store import (
    BookedStayRefund,
    SentStayRefund,
    StayRefundEnding,
    list_known,
    list_transfers,
    lock_return,
    update_booked,
    update_ended,
    update_known,
)
from tillhouse.folios.store.payments import FolioPaymentRow
from tillhouse.folios.store.stays import lock_stay
from tillhouse.kit.ids import BookKey
from tillhouse.kit.text import storable
from tillhouse.ledger.posting import post, release, reverse, settle
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.payments.rules import Tender
from tillhouse.orders.returning import corrections
from tillhouse.orders.returning.corrections import undo_own
from tillhouse.orders.returning.rules import FUNDED, FUNDING, funded, short, step_of
from tillhouse.payins.outgoing import LockedRow
from tillhouse.payins.returning import count_given_back, find_left, lock_payments
from tillhouse.providers.payments.provider import SeenRefund

_WORDS_LENGTH_MAX = 300
_REFERENCE_MAX = 120
_FAILED = "The payment provider gave nothing back."


class StayRefundOutcome(msgspec.Struct, frozen=True):
    """A refund whose outcome is known, with its stay, both locked."""

    call: Call
    stay: Stay
    sent: SentStayRefund
    seen: SeenRefund

    @property
    def ledger(self) -> Ledger:
        """The ledger of its book."""
        return Ledger(self.sent.book_id, self.stay.currency, self.call.now)

    @property
    def source(self) -> Source:
        """The refund, as the ledger knows it."""
        return Source(
            type=SOURCE,
            id=self.sent.id,
            happened_at=self.call.now,
            customer_id=self.sent.customer_id,
        )

    @property
    def reason(self) -> str:
        """The provider's words."""
        return storable(self.seen.reason or _FAILED)[:_WORDS_LENGTH_MAX]

    async def count(self, amount: Decimal) -> None:
        """Let its payment know how much more, or less, refunds of ours give back of it."""
        sent, db, at = self.sent, self.call.db, self.call.now
        await count_given_back(db, sent.origin, sent.payin_id, amount, at)
        if amount < 0:
            await corrections.ask_about_others(
                db, sent, HEARD, await list_known(db, sent, "failed"), at
            )

    async def know(self) -> None:
        """Keep the provider's own name of it."""
        name = self.seen.provider_reference
        if name is not None and self.sent.provider_refund_id is None:
            await update_known(self.call.db, self.sent, name)

    async def end(self, ending: StayRefundEnding) -> None:
        """Keep how it ended."""
        await update_ended(self.call.db, self.sent, ending, self.call.now)


async def lock(
    services: Services, db: Db, asked: SentStayRefund
) -> LockedRow[SentStayRefund, SeenRefund] | None:
    """A refund with its payment and its stay, to be brought to the provider's state of it."""
    await lock_payments(db, asked.book_id, [asked.payin_id])
    stay = await lock_stay(db, BookKey(asked.book_id, asked.reservation_id))
    sent = await lock_return(db, asked.book_id, asked.id)
    if stay is None or sent is None:
        return None
    call = system_call(services, db, sent.business_id, sent.book)
    return LockedRow(
        row=sent,
        changes=lambda seen: step_of(sent.status, seen.state) is not None,
        apply=lambda seen: _apply(StayRefundOutcome(call, stay, sent, seen)),
    )


async def _apply(outcome: StayRefundOutcome) -> None:
    sent, db, at = outcome.sent, outcome.call.db, outcome.call.now
    match step_of(sent.status, outcome.seen.state):
        case "complete" if await corrections.waits_for_others(db, sent):
            await outcome.know()
            await corrections.ask_about_others(
                db, sent, HEARD, await list_known(db, sent, "successful"), at
            )
        case "complete":
            await _complete(outcome)
        case "fail":
            await _fail(outcome)
        case "undo":
            await _undo(outcome)
        case None:
            await outcome.know()


async def _complete(outcome: StayRefundOutcome) -> None:
    """Take the money out of the wallet, and out of the stay as any refund of it."""
    call, sent = outcome.call, outcome.sent
    given = await _left(outcome)
    await _take(outcome, given)
    reference = outcome.seen.provider_reference
    ending = StayRefundEnding(status="successful", provider_refund_id=reference)
    await outcome.end(ending)
    # It counts as on its way no more, so that this is part of the unspent money.
    found = await payments.available_of(call, outcome.stay)
    booked = min(given, found.get(sent.customer_id, Decimal(0)))
    row = await _book(outcome, booked, Way("refund", sent.reason)) if booked > 0 else None
    if booked < given:
        await post(call.db, outcome.ledger, outcome.source, short(given - booked))
    kept = BookedStayRefund(
        refund_id=None if row is None else row.id,
        transaction_id=None if row is None else row.transaction_id,
        shortfall=sent.amount - booked,
        taken_before=sent.amount - given,
    )
    await update_booked(call.db, sent, kept)
    if sent.status != "pending":
        await outcome.count(given)
    await events.announce_refunded(call, outcome.stay, sent, ending, row)


async def _left(outcome: StayRefundOutcome) -> Decimal:
    """The part of it that its payment has left: one that had failed gives only that."""
    sent = outcome.sent
    if sent.status == "pending":
        return sent.amount
    return min(sent.amount, await find_left(outcome.call.db, sent.book_id, sent.payin_id))


async def _take(outcome: StayRefundOutcome, given: Decimal) -> None:
    call, sent = outcome.call, outcome.sent
    if sent.status == "pending" and sent.hold_id is not None and sent.credit_hold_id is not None:
        await release(call.db, outcome.ledger, sent.credit_hold_id)
        await settle(call.db, outcome.ledger, sent.hold_id, FUNDING, kind=FUNDED)
        return
    # It had failed, and its holds are gone: the wallet gives all it has, the rest is a claim.
    if not given:
        return
    available = await lock_available(call.db, call.book.id, Account("wallet"))
    await post(call.db, outcome.ledger, outcome.source, funded(given, available))


async def _book(outcome: StayRefundOutcome, amount: Decimal, way: Way) -> FolioPaymentRow:
    reference = outcome.seen.provider_reference
    tender = Tender(
        amount=amount, method=METHOD, reference=reference[:_REFERENCE_MAX] if reference else None
    )
    return await payments.book(outcome.call, outcome.stay, outcome.sent.customer_id, tender, way)


async def _fail(outcome: StayRefundOutcome) -> None:
    """Release its holds."""
    call, sent = outcome.call, outcome.sent
    for hold_id in (sent.credit_hold_id, sent.hold_id):
        if hold_id is not None:
            await release(call.db, outcome.ledger, hold_id)
    await outcome.count(-sent.amount)
    reference = outcome.seen.provider_reference
    ending = StayRefundEnding(status="failed", provider_refund_id=reference, reason=outcome.reason)
    await outcome.end(ending)
    await events.announce_refunded(call, outcome.stay, sent, ending, None)


async def _undo(outcome: StayRefundOutcome) -> None:
    """The money that had gone back is the business's again, and the stay's."""
    call, sent = outcome.call, outcome.sent
    for number, transfer_id in enumerate(await list_transfers(call.db, sent)):
        await reverse(call.db, outcome.ledger, outcome.source, transfer_id, sequence=number)
    own = sent.shortfall - sent.taken_before
    await undo_own(call.db, outcome.ledger, outcome.source, own)
    booked = sent.amount - sent.shortfall
    row = await _book(outcome, booked, Way("payment", outcome.reason)) if booked > 0 else None
    ending = StayRefundEnding(status="reversed", reason=outcome.reason)
    await outcome.end(ending)
    await outcome.count(sent.taken_before - sent.amount)
    await events.announce_refunded(call, outcome.stay, sent, ending, row)
