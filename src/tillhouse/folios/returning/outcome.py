"""The outcome of a refund of a stay: one function for an answer, a look and a hook.

The payment is locked first, then the stay, then the refund, so that of two that hear the same only
one acts.
"""

from decimal import Decimal
from functools import partial

import msgspec

from tillhouse.access.call import Call, system_call
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.folios import events, payments
from tillhouse.folios.facts import Stay
from tillhouse.folios.payments import Way
from tillhouse.folios.returning.rules import HEARD, SOURCE
from tillhouse.folios.returning.store import (
    STAY_REFUNDS,
    BookedStayRefund,
    SentStayRefund,
    StayRefundEnding,
    lock_return,
    update_booked,
    update_ended,
)
from tillhouse.folios.store.payments import FolioPaymentRow
from tillhouse.folios.store.stays import lock_stay
from tillhouse.kit.ids import BookKey
from tillhouse.ledger.posting import post, release, settle
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.orders.deposits.beginning import METHOD
from tillhouse.orders.payments.rules import Tender
from tillhouse.orders.returning import corrections
from tillhouse.orders.returning.ending import EndingRefund
from tillhouse.orders.returning.rules import FUNDED, FUNDING, funded, short, step_of
from tillhouse.payins.outgoing import LockedRow
from tillhouse.payins.returning import lock_payments
from tillhouse.providers.payments.provider import SeenRefund

_REFERENCE_MAX = 120


class StayRefundOutcome(EndingRefund[SentStayRefund], frozen=True, kw_only=True):
    """A refund whose outcome is known, with its stay, both locked."""

    refunds = STAY_REFUNDS
    heard = HEARD

    stay: Stay

    async def end(self, ending: StayRefundEnding) -> None:
        """Keep how it ended."""
        await update_ended(self.call.db, self.sent, ending, self.call.now)


def _outcome_of(call: Call, stay: Stay, sent: SentStayRefund) -> StayRefundOutcome:
    """The outcome of a refund that is locked with its stay."""
    return StayRefundOutcome(
        call=call,
        stay=stay,
        sent=sent,
        ledger=Ledger(sent.book_id, stay.currency, call.now),
        source=Source(
            type=SOURCE,
            id=sent.id,
            happened_at=call.now,
            customer_id=sent.customer_id,
        ),
    )


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
        apply=partial(_apply, _outcome_of(call, stay, sent)),
    )


async def _apply(refund: StayRefundOutcome, seen: SeenRefund) -> None:
    sent = refund.sent
    outcome = msgspec.structs.replace(
        refund, provider_reference=seen.provider_reference, words=seen.reason
    )
    match step_of(sent.status, seen.state):
        case "complete" if await corrections.waits_for_others(refund.call.db, sent):
            await outcome.know()
            await outcome.ask_about_others("successful")
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
    given = await outcome.left()
    await _take(outcome, given)
    ending = StayRefundEnding(status="successful", provider_refund_id=outcome.provider_reference)
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
    reference = outcome.provider_reference
    tender = Tender(
        amount=amount, method=METHOD, reference=reference[:_REFERENCE_MAX] if reference else None
    )
    return await payments.book(outcome.call, outcome.stay, outcome.sent.customer_id, tender, way)


async def _fail(outcome: StayRefundOutcome) -> None:
    """Release its holds."""
    call, sent = outcome.call, outcome.sent
    await outcome.release_holds()
    await outcome.count(-sent.amount)
    ending = StayRefundEnding(
        status="failed", provider_refund_id=outcome.provider_reference, reason=outcome.reason
    )
    await outcome.end(ending)
    await events.announce_refunded(call, outcome.stay, sent, ending, None)


async def _undo(outcome: StayRefundOutcome) -> None:
    """The money that had gone back is the business's again, and the stay's."""
    call, sent = outcome.call, outcome.sent
    await outcome.undo()
    booked = sent.amount - sent.shortfall
    row = await _book(outcome, booked, Way("payment", outcome.reason)) if booked > 0 else None
    ending = StayRefundEnding(status="reversed", reason=outcome.reason)
    await outcome.end(ending)
    await outcome.count(sent.taken_before - sent.amount)
    await events.announce_refunded(call, outcome.stay, sent, ending, row)
