"""Fetching the files of customers: by a job, outside of any transaction, never in the hook.

The provider names a file by an id. It is asked for the address, which it is then fetched from:
both within a time and a size. Asking changes nothing, so it is asked again until it answers.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import msgspec

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Again, Job, OutsideKind, Retry
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, BookKey, NumberId
from tillhouse.messaging.attachments import rules, store
from tillhouse.messaging.attachments.quota import ATTACHMENTS
from tillhouse.messaging.attachments.types import AttachmentFile, Kind
from tillhouse.providers.messaging.provider import Fetched, MessagingAccount

FETCH = "attachment_fetch"
_RETRY = Retry(attempts_max=8, base=timedelta(seconds=20))
_LEASE = timedelta(seconds=90)
_AT_ONCE = 4
_ERROR_LENGTH_MAX = 300

# The account of a number, None when it is disconnected; and the file of an id.
FindsAccount = Callable[[Db, BookId, NumberId], Awaitable[MessagingAccount | None]]
Fetches = Callable[[MessagingAccount, str, int], Awaitable[Fetched]]


class FileToFetch(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is to be fetched."""

    account: MessagingAccount | None
    kind: Kind
    filename: str | None
    provider_media_id: str
    sha256: str | None


def kind(services: Services, finds_account: FindsAccount, fetches: Fetches) -> OutsideKind:
    """The job of fetching one file."""
    return OutsideKind(
        name=FETCH,
        begin=partial(_begin, services, finds_account),
        run=partial(_ask, fetches),
        record=_record,
        give_up=_give_up,
        retry=_RETRY,
        lease=_LEASE,
        # A file is held in memory while it is fetched.
        at_once=_AT_ONCE,
    )


async def _begin(
    services: Services, finds_account: FindsAccount, db: Db, job: Job
) -> FileToFetch | None:
    key = BookKey(job.book_id, job.subject_id)
    row = await store.lock_fetching(db, key)
    if row is None:
        return None
    if services.storage.is_full(ATTACHMENTS.name, job.book_id):
        await store.update_failed(db, key, "attachment_limit", now())
        return None
    return FileToFetch(
        account=await finds_account(db, job.book_id, row["number_id"]),
        kind=row["kind"],
        filename=row["filename"],
        provider_media_id=row["provider_media_id"],
        sha256=row["provider_sha256"],
    )


async def _ask(fetches: Fetches, ready: FileToFetch) -> tuple[Fetched, rules.Examined | None]:
    """The file, and its type."""
    if ready.account is None:
        return Fetched("failed", error="number_disconnected"), None
    most = rules.BYTES_MAX[ready.kind]
    fetched = await fetches(ready.account, ready.provider_media_id, most)
    if fetched.content is None:
        return fetched, None
    return fetched, await asyncio.to_thread(rules.examine, fetched.content, ready.filename)


async def _record(
    db: Db, job: Job, ready: FileToFetch, came: tuple[Fetched, rules.Examined | None]
) -> Again | None:
    key, (fetched, examined) = BookKey(job.book_id, job.subject_id), came
    if fetched.result == "later":
        return Again(fetched.error or "not fetched")
    content = fetched.content
    if content is None or examined is None:
        await store.update_failed(db, key, (fetched.error or "refused")[:_ERROR_LENGTH_MAX], now())
        return None
    if not rules.is_sum(ready.sha256, examined.sha256):
        return Again("another file than was announced")
    content_type = rules.fetched(ready.kind, examined)
    file = AttachmentFile(ready.kind, content_type, ready.filename, content)
    await store.update_ready(db, key, "fetching", file, examined.sha256, now())
    return None


async def _give_up(db: Db, job: Job, reason: str) -> None:
    key = BookKey(job.book_id, job.subject_id)
    await store.update_failed(db, key, reason[:_ERROR_LENGTH_MAX], now())
