"""The account that the secrets of a connection are of: the provider is asked for its name.

The name is kept as a mark, by which a changed key of one account is told from another account.
A provider that doesn't tell it, or not yet, is asked again by a chore.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import msgspec

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.chores import walk
from tillhouse.jobs.kinds import Job, LocalKind, NewJob, OutsideKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.payins.connections import opened, provider_of
from tillhouse.payins.marks import account_mark
from tillhouse.payins.store import connections as store
from tillhouse.providers.payments.provider import (
    NotReached,
    PaymentProvider,
    ProviderRefused,
    ProviderSecrets,
    Unclear,
    Unknown,
)

NAMING = "payment_provider_account"
_ASK_S = 10.0


class Unnamed(msgspec.Struct, frozen=True, kw_only=True):
    """A connection whose account is not known."""

    key: BookKey
    credentials_sealed: bytes
    provider: PaymentProvider
    credentials: ProviderSecrets


def kind(services: Services) -> OutsideKind:
    """The job of asking for the name of one account."""
    return OutsideKind(
        name=NAMING,
        begin=partial(_begin, services),
        run=_ask,
        record=partial(_record, services),
    )


async def queue(db: Db, key: BookKey, at: datetime) -> None:
    """Have the account of new secrets asked for: a job of their own, as the last may be at work."""
    new = NewJob(book_id=key.book_id, kind=NAMING, subject_id=key.id, key=str(new_id()))
    await queue_job(db, new, at, at)


async def read_account_id(provider: PaymentProvider, credentials: ProviderSecrets) -> str | None:
    """The provider's name of an account; None: it doesn't tell, or doesn't answer."""
    try:
        async with asyncio.timeout(_ASK_S):
            return await provider.find_account_id(credentials)
    except (NotReached, Unclear, ProviderRefused, Unknown, TimeoutError):
        return None


async def _begin(services: Services, db: Db, job: Job) -> Unnamed | None:
    key = BookKey(job.book_id, job.subject_id)
    row = await store.find_unnamed(db, key)
    provider = None if row is None else provider_of(services, row["provider"])
    if row is None or provider is None:
        return None
    credentials = await opened(services, db, row)
    sealed = row["credentials_sealed"]
    return Unnamed(key=key, credentials_sealed=sealed, provider=provider, credentials=credentials)


async def _ask(unnamed: Unnamed) -> str | None:
    told = await read_account_id(unnamed.provider, unnamed.credentials)
    # A name among the secrets is the word of the person who typed it, and proves nothing.
    return None if told in unnamed.credentials.secrets.values() else told


async def _record(
    services: Services, db: Db, _job: Job, unnamed: Unnamed, account_id: str | None
) -> None:
    if account_id is not None:
        mark = account_mark(services.vault, unnamed.provider, unnamed.credentials, account_id)
        await store.update_account(db, unnamed.key, unnamed.credentials_sealed, mark)


async def _queue_some(db: Db, books: Sequence[UUID]) -> bool:
    await store.queue_unnamed(db, books, NAMING, now())
    return False


ASKING_ANEW = LocalKind(
    name="payment_provider_accounts", run=partial(walk, _queue_some), every=timedelta(hours=6)
)
