"""Money that a provider took back by itself, or for a dispute: never more than refunds leave.

Refunds of ours are counted by the room that gives payments back, under the lock of the payment: it
locks the payment before anything else, as the rooms do that apply payments.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.ledger.rules import Ledger
from tillhouse.payins import return_rules, rules
from tillhouse.payins.booking import book_returned
from tillhouse.payins.disputes.recording import record_disputes, settle_disputes
from tillhouse.payins.noting import note
from tillhouse.payins.return_rules import ProviderReturn
from tillhouse.payins.store import payins as store
from tillhouse.payins.store.connections import find_book
from tillhouse.payins.types import Origin, Payin
from tillhouse.providers.payments.provider import SeenPayment

__all__ = [
    "count_given_back",
    "find_left",
    "is_given_back",
    "job_kind",
    "lock_payments",
    "queue_target",
    "take_back",
]


def job_kind(target_type: str) -> str:
    """The name of the local job that the room of a target declares."""
    return f"payin:{target_type}"


async def queue_target(db: Db, payin: Payin, what: str, now: datetime) -> None:
    """Give the target its job; a job of its own for each, so that none waits for another's row."""
    assert payin.target_id is not None, "only what has a target is applied"  # noqa: S101
    new = NewJob(
        book_id=payin.book_id,
        kind=job_kind(payin.target_type or ""),
        subject_id=payin.target_id,
        key=f"{payin.id}:{what}",
    )
    await queue_job(db, new, now, now)


async def take_back(
    db: Db, origin: Origin, ledger: Ledger, own: Sequence[Payin], told: Sequence[SeenPayment]
) -> int:
    """Book the returns of a transaction that its provider tells; how many payments changed."""
    changed = 0
    for back in return_rules.returned(own, told):
        if back.is_news:
            await _book(db, origin, ledger, back)
            changed += 1
    disputes = [one for seen in told for one in seen.disputes]
    for index, payin in enumerate(own):
        # A provider tells of the disputes of a transaction: its first payment has them.
        seen_disputes = disputes if index == 0 else ()
        if seen_disputes or payin.disputed_amount:
            changed += await record_disputes(db, origin, ledger, payin, seen_disputes)
    return changed


async def _book(db: Db, origin: Origin, ledger: Ledger, back: ProviderReturn) -> None:
    payin, more = back.payin, back.booked - back.payin.returned_amount
    key = BookKey(ledger.book_id, payin.id)
    conditions: list[str] = []
    fee = max(back.fee, payin.returned_fee)
    if more > 0 or fee > payin.returned_fee:
        is_uncovered = await book_returned(db, ledger, payin, more, fee - payin.returned_fee)
        conditions += [rules.UNCOVERED] if is_uncovered else []
    row = store.ReturnedSums(
        told=back.told,
        amount=back.booked,
        fee=fee,
        is_reversed=back.is_reversed,
        conditions=conditions,
    )
    await store.update_returned(db, key, row, ledger.now)
    if more > 0 and payin.target_id is not None and payin.applied_at is not None:
        await queue_target(db, payin, f"returned:{back.booked.normalize():f}", ledger.now)
    verb = "reversed" if back.is_reversed else "returned"
    told = {"wentBack": f"{back.told:f}", "booked": f"{back.booked:f}"}
    await note(db, origin, payin, verb, ledger.now, told)


async def lock_payments(db: Db, book_id: BookId, ids: Sequence[UUID]) -> None:
    """Let nothing else go back of some payments until the transaction ends."""
    if ids:
        await store.lock_payins(db, book_id, ids)


async def find_left(db: Db, book_id: BookId, payin_id: UUID) -> Decimal:
    """The part of a payment that neither refunds of ours nor its provider have given back.

    The payment is locked. The part that disputes hold counts as left: a refund makes them give way.
    """
    payin = await store.find_payin(db, BookKey(book_id, payin_id))
    return Decimal(0) if payin is None else max(payin.room - payin.returned_amount, Decimal(0))


async def is_given_back(db: Db, book_id: BookId, payin_id: UUID, amount: Decimal) -> bool:
    """Whether refunds of ours leave less than an amount of a payment, which is locked.

    Of one that its provider has undone as a whole nothing is left that is to be told apart.
    """
    payin = await store.find_payin(db, BookKey(book_id, payin_id))
    return payin is not None and payin.status == "received" and payin.room < amount


async def count_given_back(
    db: Db, origin: Origin, payin_id: UUID, amount: Decimal, now: datetime
) -> None:
    """Count so much more (below zero: less) as given back by refunds of ours.

    Where that leaves more for the provider's own returns, they are booked now.
    """
    key = BookKey(origin.book.id, payin_id)
    await store.update_given_back(db, key, amount, now)
    payin, book = await store.find_payin(db, key), await find_book(db, origin.book.id)
    if payin is None or book is None:
        return
    back = return_rules.again(payin)
    ledger = Ledger(origin.book.id, book["currency"], now)
    if back.is_news:
        await _book(db, origin, ledger, back)
    await settle_disputes(db, origin, ledger, payin_id)
