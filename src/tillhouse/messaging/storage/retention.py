"""Forgetting messages that are older than the retention, their files, empty conversations."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.chores import walk
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.messaging.attachments.store import delete_unused
from tillhouse.messaging.storage.store import delete_empty_conversations, delete_old_messages

_ROWS = 1000


def sweep(services: Services) -> LocalKind:
    """The chore that forgets old messages, where a retention is set."""
    kept_for = timedelta(days=services.settings.message_retention_days)
    return LocalKind(
        name="message_retention", run=partial(_sweep, kept_for), every=timedelta(hours=1)
    )


async def _sweep(kept_for: timedelta, db: Db, job: Job) -> bool:
    return bool(kept_for) and await walk(partial(_forget, now() - kept_for), db, job)


async def _forget(before: datetime, db: Db, books: Sequence[UUID]) -> bool:
    deleted = await delete_old_messages(db, books, before, _ROWS)
    files = [(one.book_id, one.attachment_id) for one in deleted if one.attachment_id]
    if files:
        await delete_unused(db, [book_id for book_id, _ in files], [file for _, file in files])
    emptied = await delete_empty_conversations(db, books, before, _ROWS)
    return _ROWS in (len(deleted), emptied)
