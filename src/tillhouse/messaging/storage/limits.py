"""Limits of what is stored: the quota of messages, the hooks that may wait, and the retention."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.access.usage import MIB, StoredKind
from tillhouse.db.pool import Db
from tillhouse.jobs.chores import walk
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Limited
from tillhouse.messaging.attachments.store import delete_unused
from tillhouse.messaging.storage.store import (
    MESSAGE_STORAGE,
    add_new_messages,
    delete_empty_conversations,
    delete_old_messages,
    find_waiting,
)

# An id is made when a request begins: its message is there within this time, or never.
_SETTLED = timedelta(minutes=1)
_ROWS = 5000
# Of the hooks of one book, so many portions and so many bytes may wait for a worker.
WAITING_MAX, WAITING_BYTES_MAX = 5_000, 64 * MIB
_AGAIN_S = 30

MESSAGES = StoredKind(
    name="messages",
    rows_setting="MESSAGE_LIMIT",
    mib_setting="MESSAGE_LIMIT_MIB",
    counts=MESSAGE_STORAGE,
    message=(
        "This environment holds as many messages, notes and conversations as {setting} lets it: "
        "ask whoever runs this server to raise the limit. What is there can still be read."
    ),
)
_FORGOTTEN_AT_ONCE = 1000


async def _count(db: Db, books: Sequence[UUID]) -> bool:
    return await add_new_messages(db, books, now() - _SETTLED, _ROWS) == _ROWS


COUNT = LocalKind(name="message_storage", run=partial(walk, _count), every=timedelta(minutes=1))


async def check_waiting(db: Db, book_id: UUID, kind: str) -> None:
    """Refuse a hook while so much of its book waits: the provider sends it again later."""
    count, size = await find_waiting(db, book_id, kind, WAITING_MAX)
    if count >= WAITING_MAX or size >= WAITING_BYTES_MAX:
        raise Limited(_AGAIN_S, "Too much waits to be worked off: send it again later.")


def retention(services: Services) -> LocalKind:
    """The chore that forgets old messages, where a retention is set."""
    kept_for = timedelta(days=services.settings.message_retention_days)
    return LocalKind(
        name="message_retention", run=partial(_sweep, kept_for), every=timedelta(hours=1)
    )


async def _sweep(kept_for: timedelta, db: Db, job: Job) -> bool:
    return bool(kept_for) and await walk(partial(_forget, now() - kept_for), db, job)


async def _forget(before: datetime, db: Db, books: Sequence[UUID]) -> bool:
    deleted = await delete_old_messages(db, books, before, _FORGOTTEN_AT_ONCE)
    files = [(one.book_id, one.attachment_id) for one in deleted if one.attachment_id]
    if files:
        await delete_unused(db, [book_id for book_id, _ in files], [file for _, file in files])
    emptied = await delete_empty_conversations(db, books, before, _FORGOTTEN_AT_ONCE)
    return _FORGOTTEN_AT_ONCE in (len(deleted), emptied)
