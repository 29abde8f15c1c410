"""Refunds that end otherwise than was booked: the provider is asked again, or a booking is undone.

A refund may have gone back though it had failed, while others of its payment have its money. Both
can't be true of one payment: another one has failed as well, which isn't heard yet, or its
provider is about to refuse it. Until that is known the late refund stays as it is. The provider is
asked about the others; when one of them gives the money free, it is asked about the late one again.

A refund that didn't last is undone: its transactions of today count no more, those of a past day
stand.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_jobs
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Ledger, Movement, Postings, Source
from tillhouse.ledger.store.transactions import (
    is_any_of_a_past_day,
    is_of_a_past_day,
    update_reversed,
    update_reversed_of,
)
from tillhouse.orders.money_types import ONLINE
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.payins.returning import is_given_back

HEARD = "refund_heard"
"""The job that asks about a refund of an order once more."""


async def waits_for_others(db: Db, sent: SentRefund) -> bool:
    """Whether a locked refund that went back after all waits for others of its payment."""
    if sent.status != "failed":
        return False
    return await is_given_back(db, sent.book_id, sent.payin_id, sent.amount)


async def ask_about_others(
    db: Db, sent: SentRefund, kind: str, others: Sequence[UUID], now: datetime
) -> None:
    """Let the provider be asked about others of its payment, by their kind of job."""
    news = [
        NewJob(book_id=sent.book_id, kind=kind, subject_id=one, key=str(sent.id)) for one in others
    ]
    if news:
        await queue_jobs(db, news, now, now)


async def undo_own(db: Db, ledger: Ledger, source: Source, amount: Decimal) -> None:
    """Undo the transactions that a refund has of its own, which come to an amount."""
    which = (source.type, source.id)
    if await is_any_of_a_past_day(db, ledger, which, ("refund",)):
        await post(db, ledger, source, Postings((), (came_home(amount),)))
    else:
        await update_reversed_of(db, ledger, which, ("refund",))


async def undo_booked(
    db: Db, ledger: Ledger, transaction_id: UUID, amount: Decimal
) -> Movement | None:
    """Undo the transaction by which an order booked a refund, or say by which other one."""
    if await is_of_a_past_day(db, ledger, transaction_id):
        return came_home(amount)
    await update_reversed(db, ledger, transaction_id)
    return None


def came_home(amount: Decimal) -> Movement:
    """The transaction of today that undoes a refund of a past day."""
    return Movement("refund", ONLINE, amount)
