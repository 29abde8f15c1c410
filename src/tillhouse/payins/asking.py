"""Asking providers for payments: when somebody presses a button, and by itself."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, NewJob, OutsideKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey
from tillhouse.payins.connections import SANDBOX, NoProvider, find_provider
from tillhouse.payins.recording import find_account_of, record
from tillhouse.payins.store import accounts, payins
from tillhouse.payins.store.connections import find_book
from tillhouse.payins.store.payins import claim_asking, find_payin, find_received
from tillhouse.payins.types import Origin, ProviderConnection, VirtualAccount
from tillhouse.providers.payments.provider import (
    HeardPayment,
    NotReached,
    ProviderRefused,
    SeenPayment,
    Unclear,
    in_words,
)

# However many press a button, a provider is asked about an account this often at most.
MIN_INTERVAL = timedelta(seconds=3)
_CALL_S = 15.0

log = structlog.get_logger()
ASKING = "payin_asking"
# After each of these: a hook that was lost must not be money that is lost.
SCHEDULE = (
    timedelta(minutes=5),
    timedelta(hours=1),
    *(timedelta(days=1),) * 5,
)


class Looked(msgspec.Struct, frozen=True):
    """The answer of a provider: how many payments, of them news, of them of no account of ours."""

    seen: int = 0
    new: int = 0
    unmatched: int = 0


async def look_up(
    services: Services,
    connection: ProviderConnection,
    origin: Origin,
    heard: HeardPayment,
    *,
    account: VirtualAccount | None = None,
    takes_unknown: bool = True,
) -> Looked:
    """Ask the provider and record its answer, each of its transactions in one of ours."""
    found = await connection.provider.find_payments(connection.credentials, heard)
    new = unmatched = 0
    others: list[tuple[Book, UUID]] = []
    for told in _by_transaction(found):
        async with services.pool.transaction() as db:
            own = await find_account_of(db, origin, told[0]) or account
            other = None if own else await _of_another_book(db, origin, told[0])
            if other is not None:
                others.append(other)
            elif own is None and await _is_recorded_elsewhere(db, origin, told[0]):
                continue
            elif own is None and not takes_unknown:
                unmatched += len(told)
            else:
                new += await record(db, origin, told, own, now())
    for book, account_id in others:
        await ask(services, book, account_id)
    return Looked(len(found), new, unmatched)


async def _of_another_book(db: Db, origin: Origin, seen: SeenPayment) -> tuple[Book, UUID] | None:
    """The account of another book whose reference a payment names: that book is asked instead."""
    if seen.reference is None:
        return None
    row = await accounts.find_elsewhere(db, origin.book.id, origin.provider, seen.reference)
    return None if row is None else (Book(row["book_id"], row["environment"]), row["id"])


async def _is_recorded_elsewhere(db: Db, origin: Origin, seen: SeenPayment) -> bool:
    """Whether another book on the provider's account took a payment that names none; locked."""
    if origin.provider == SANDBOX:
        return False
    await payins.lock_unnamed(db, origin.provider, seen.transaction)
    return await payins.is_recorded_elsewhere(db, origin.book.id, origin.provider, seen.transaction)


def _by_transaction(found: Sequence[SeenPayment]) -> Iterable[list[SeenPayment]]:
    by: defaultdict[str, list[SeenPayment]] = defaultdict(list)
    for seen in found:
        by[seen.transaction].append(seen)
    return by.values()


async def ask(
    services: Services,
    book: Book,
    what: UUID | tuple[str, UUID],
    *,
    min_interval: timedelta = MIN_INTERVAL,
) -> Looked | None:
    """Ask about an account, or the last one of a target (type, id), and record the payments.

    Call it outside of any transaction. None: somebody asked just now, or the provider is away.
    """
    at = now()
    async with services.pool.transaction() as db:
        if isinstance(what, tuple):
            account = await accounts.find_latest(db, book.id, what)
        else:
            account = await accounts.find_account(db, BookKey(book.id, what))
        if account is None:
            return None
        key = BookKey(book.id, account.id)
        if not await accounts.claim_asking(db, key, at - min_interval, at):
            return None
    return await _ask(services, book, account)


async def ask_about(services: Services, book: Book, payin_id: UUID) -> Looked | None:
    """Ask about a payment, or all of the account that it arrived in; as `ask` does."""
    key, at = BookKey(book.id, payin_id), now()
    async with services.pool.transaction() as db:
        payin = await find_payin(db, key)
        if payin is None or (
            payin.virtual_account_id is None
            and not await claim_asking(db, key, at - MIN_INTERVAL, at)
        ):
            return None
    if payin.virtual_account_id is not None:
        return await ask(services, book, payin.virtual_account_id)
    heard = HeardPayment(None, payin.transaction, may_be_back=True)
    return await _look_up(services, book, payin.provider, heard)


async def _ask(services: Services, book: Book, account: VirtualAccount) -> Looked | None:
    heard = HeardPayment(
        account.reference, None, account.account_number, account.provider_reference
    )
    return await _look_up(services, book, account.provider, heard, account)


async def _look_up(
    services: Services,
    book: Book,
    provider: str,
    heard: HeardPayment,
    account: VirtualAccount | None = None,
) -> Looked | None:
    try:
        async with services.pool.reading() as db:
            connection = await find_provider(services, db, book, provider)
            row = await find_book(db, book.id)
        if row is None:
            return None
        origin = Origin(row["business_id"], book, provider)
        async with asyncio.timeout(_CALL_S):
            return await look_up(services, connection, origin, heard, account=account)
    except (NotReached, Unclear, ProviderRefused, NoProvider, TimeoutError) as error:
        told = in_words(error)
        log.warning("provider_not_asked", provider=provider, error=told)
        return None


def kind(services: Services) -> OutsideKind:
    """The job that asks by itself, so that a lost hook heals."""
    return OutsideKind(name=ASKING, begin=_begin, run=partial(_run, services), record=_record_next)


class _Due(msgspec.Struct, frozen=True):
    book: Book
    account_id: UUID


async def _begin(db: Db, job: Job) -> _Due | None:
    key = BookKey(job.book_id, job.subject_id)
    account, row = await accounts.find_account(db, key), await find_book(db, job.book_id)
    if account is None or row is None or await find_received(db, key) >= account.amount:
        return None
    return _Due(Book(job.book_id, row["environment"]), account.id)


async def _run(services: Services, due: _Due) -> Looked | None:
    return await ask(services, due.book, due.account_id)


async def _record_next(db: Db, job: Job, _due: _Due, _looked: Looked | None) -> None:
    at = now()
    following = next_asking(job.book_id, job.subject_id, job.key, at)
    if following is not None:
        await queue_job(db, following[0], following[1], at)


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
