"""When providers are asked by themselves about payments."""

from datetime import datetime, timedelta
from uuid import UUID

from tillhouse.jobs.kinds import NewJob

ASKING = "payin_asking"
# After each of these: a hook that was lost must not be money that is lost.
SCHEDULE = (
    timedelta(minutes=5),
    timedelta(hours=1),
    *(timedelta(days=1),) * 5,
)


def first_asking(book_id: UUID, account_id: UUID, now: datetime) -> tuple[NewJob, datetime]:
    """The first job about an account, and when it is due."""
    return NewJob(book_id=book_id, kind=ASKING, subject_id=account_id, key="0"), now + SCHEDULE[0]


def next_asking(
    book_id: UUID, account_id: UUID, key: str, now: datetime
) -> tuple[NewJob, datetime] | None:
    """The job that follows the one with this key; None: it was the last."""
    step = int(key) + 1
    if step >= len(SCHEDULE):
        return None
    new = NewJob(book_id=book_id, kind=ASKING, subject_id=account_id, key=str(step))
    return new, now + SCHEDULE[step]
