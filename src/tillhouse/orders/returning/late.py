"""Answers about refunds that can't be booked as they come: the provider is asked again.

A refund may have gone back though it had failed, while others of its payment have its money. Both
can't be true of one payment: another one has failed as well, which isn't heard yet, or its
provider is about to refuse it. Until that is known the late refund stays as it is. The provider is
asked about the others; when one of them gives the money free, it is asked about the late one again.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_jobs
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.payins.returning import is_given_back

HEARD = "refund_heard"
"""The job that asks about a refund of an order once more."""


async def waits(db: Db, sent: SentRefund) -> bool:
    """Whether a locked refund that went back after all waits for others of its payment."""
    if sent.status != "failed":
        return False
    return await is_given_back(db, sent.book_id, sent.payin_id, sent.amount)


async def ask(db: Db, sent: SentRefund, kind: str, others: Sequence[UUID], now: datetime) -> None:
    """Let the provider be asked about others of its payment, by their kind of job."""
    news = [
        NewJob(book_id=sent.book_id, kind=kind, subject_id=one, key=str(sent.id)) for one in others
    ]
    if news:
        await queue_jobs(db, news, now, now)
