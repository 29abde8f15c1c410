"""Record the disputes of providers: each once, and its money as far as the payment goes.

The payment is locked by the caller, so that its refunds, what its provider took back and its
disputes are judged together: whichever comes first, they never take more than came in. Amounts that
the wallet didn't have are claims, which are taken as money comes in.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.text import storable
from tillhouse.ledger.collecting import Collecting
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.payins.disputes import rules, store
from tillhouse.payins.disputes.rules import Step
from tillhouse.payins.disputes.types import DisputeRow
from tillhouse.payins.events import ORDER_DISPUTE, PAYIN_DISPUTE
from tillhouse.payins.noting import note
from tillhouse.payins.rules import money
from tillhouse.payins.store.payins import find_payin, update_disputed
from tillhouse.payins.types import Origin, Payin
from tillhouse.providers.payments.provider import SeenDispute

_WORDS_MAX = 300


async def record_disputes(
    db: Db, origin: Origin, ledger: Ledger, payin: Payin, told: Sequence[SeenDispute]
) -> int:
    """Record the told disputes of a payment, and book their money; how many were news."""
    news: set[UUID] = set()
    fees: dict[UUID, SeenDispute] = {}
    for seen in told:
        if seen.amount <= 0 or seen.currency != payin.currency:
            await note(db, origin, payin, "differs", ledger.now, {"dispute": str(seen.amount)})
            continue
        found, is_news = await _keep(db, origin, ledger, payin, _fit(seen, ledger))
        if found is not None:
            fees[found] = seen
            news |= {found} if is_news else set()
    return await settle_disputes(db, origin, ledger, payin.id, fees=fees, news=news)


def _fit(seen: SeenDispute, ledger: Ledger) -> SeenDispute:
    """The same, fit to be kept."""
    closed_at = (seen.closed_at or ledger.now) if seen.state in rules.CLOSED else None
    reason = None if seen.reason is None else storable(seen.reason)[:_WORDS_MAX]
    taken = max(seen.taken, Decimal(0))
    return msgspec.structs.replace(seen, closed_at=closed_at, reason=reason, taken=taken)


async def _keep(
    db: Db, origin: Origin, ledger: Ledger, payin: Payin, seen: SeenDispute
) -> tuple[UUID | None, bool]:
    """The dispute that is told of, and whether it was changed by that; None: that is older."""
    book_id = origin.book.id
    own = await store.find_dispute(db, book_id, origin.provider, seen.provider_reference)
    if own is None:
        key = BookKey(book_id, new_id())
        await store.insert_dispute(db, key, payin.id, seen, ledger.now)
        return key.id, True
    if rules.is_older(own, seen, ledger.now):
        return None, False
    known = own.status, own.amount, own.taken_told
    if known == (seen.state, seen.amount, seen.taken):
        return own.id, False
    kept = own.closed_at if own.status == seen.state else seen.closed_at
    told = msgspec.structs.replace(seen, closed_at=kept)
    await store.update_told(db, BookKey(book_id, own.id), told, ledger.now)
    return own.id, True


async def settle_disputes(
    db: Db,
    origin: Origin,
    ledger: Ledger,
    payin_id: UUID,
    *,
    fees: dict[UUID, SeenDispute] | None = None,
    news: set[UUID] | None = None,
) -> int:
    """Bring the booked disputes of a payment to the rest of it; how many changed."""
    key = BookKey(origin.book.id, payin_id)
    disputes = await store.list_of_payment(db, origin.book.id, payin_id)
    payin = await find_payin(db, key) if disputes else None
    if payin is None:
        return 0
    changed, known, taken_in_all = set(news or ()), fees or {}, Decimal(0)
    for one, taken in rules.bookings(payin, disputes):
        seen = known.get(one.id)
        step = Step(taken - one.taken_amount, (one.fee if seen is None else seen.fee) - one.fee)
        taken_in_all += taken
        if step.taken or step.fee:
            await _post(db, ledger, payin, one, step)
            changed.add(one.id)
    await update_disputed(db, key, taken_in_all)
    for dispute_id in sorted(changed):
        await _tell(db, origin, ledger, dispute_id)
    return len(changed)


async def _post(db: Db, ledger: Ledger, payin: Payin, one: DisputeRow, step: Step) -> None:
    paid = money(payin, ledger.currency)
    available = abs(step.net)
    if not paid.is_unapplied and step.net > 0:
        available = await lock_available(db, ledger.book_id, Account("wallet"))
    claimed = one.claimed
    if not paid.is_unapplied:
        claimed = rules.claim_after(step, one.claimed, available)
    booked = store.BookedDispute(
        taken=one.taken_amount + step.taken, fee=one.fee + step.fee, claimed=claimed
    )
    number = await store.update_booked(db, BookKey(ledger.book_id, one.id), booked, ledger.now)
    own = Ledger(ledger.book_id, payin.currency, ledger.now)
    source = Source(type=rules.SOURCE, id=one.id, happened_at=ledger.now)
    posted = rules.postings(paid, step, one.claimed, available)
    await post(db, own, source, posted, first=number * rules.POSTINGS_MAX)


async def _tell(db: Db, origin: Origin, ledger: Ledger, dispute_id: UUID) -> None:
    """Let the room of the target tell of the change, or tell it as one of a payment."""
    row = await store.update_changes(db, BookKey(origin.book.id, dispute_id))
    new = NewJob(
        book_id=origin.book.id,
        kind=PAYIN_DISPUTE if row["order_id"] is None else ORDER_DISPUTE,
        subject_id=dispute_id,
        key=str(row["changes"]),
    )
    await queue_job(db, new, ledger.now, ledger.now)


async def _settle(db: Db, found: store.OpenDispute, at: datetime) -> bool:
    """Take money of the wallet for one dispute; whether any was taken."""
    given = min(found.claimed, await lock_available(db, found.book_id, Account("wallet")))
    if given <= 0:
        return False
    key = BookKey(found.book_id, found.id)
    booked = store.BookedDispute(
        taken=found.taken_amount, fee=found.fee, claimed=found.claimed - given
    )
    number = await store.update_booked(db, key, booked, at)
    source = Source(type=rules.SOURCE, id=found.id, happened_at=at)
    ledger = Ledger(found.book_id, found.currency, at)
    await post(db, ledger, source, rules.settled(given), first=number * rules.POSTINGS_MAX)
    return True


_CLAIMS = Collecting(
    name="dispute_claims",
    lock=store.lock_claim,
    lock_of_book=store.lock_claim_of_book,
    take=_settle,
)
settle_claims = _CLAIMS.of_book
"""Take the claims of a book for disputes, before more is withdrawn from its wallet."""
SETTLING = _CLAIMS.chore()
"""The chore that takes claimed money."""
