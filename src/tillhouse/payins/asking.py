"""Asking providers what was paid: when somebody presses a button, and by itself."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import Job, OutsideKind
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey
from tillhouse.payins.connections import NoProvider, find_provider
from tillhouse.payins.recording import find_account_of, record
from tillhouse.payins.schedule import ASKING, next_asking
from tillhouse.payins.store import accounts
from tillhouse.payins.store.connections import find_book
from tillhouse.payins.store.payins import claim_asking, find_payin, find_received
from tillhouse.payins.types import Connection, Origin, VirtualAccount
from tillhouse.providers.payments.provider import (
    HeardPayment,
    NotReached,
    Refused,
    SeenPayment,
    Unclear,
    Unknown,
)

# However many press a button, a provider is asked about an account this often at most.
MIN_INTERVAL = timedelta(seconds=3)
_CALL_S = 15.0

log = structlog.get_logger()


class Looked(msgspec.Struct, frozen=True):
    """The answer of a provider: how many payments, of them news, of them of no account of ours."""

    seen: int = 0
    new: int = 0
    unmatched: int = 0


async def look_up(
    services: Services,
    connection: Connection,
    origin: Origin,
    heard: HeardPayment,
    *,
    account: VirtualAccount | None = None,
    takes_unknown: bool = True,
) -> Looked:
    """Ask the provider and record what it says, each of its transactions in one of ours."""
    try:
        found = await connection.provider.find_payments(connection.credentials, heard)
    except Unknown:
        return Looked()
    new = unmatched = 0
    for told in _by_transaction(found):
        async with services.pool.transaction() as db:
            own = await find_account_of(db, origin, told[0]) or account
            if own is None and not takes_unknown:
                unmatched += len(told)
            else:
                new += await record(db, origin, told, own, now())
    return Looked(len(found), new, unmatched)


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
    """Ask about an account, or the last one of a target (type, id), and record what was paid.

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
    heard = HeardPayment(None, payin.transaction)
    return await _look_up(services, book, (payin.provider, heard))


async def _ask(services: Services, book: Book, account: VirtualAccount) -> Looked | None:
    heard = HeardPayment(
        account.reference, None, account.account_number, account.provider_reference
    )
    return await _look_up(services, book, (account.provider, heard), account)


async def _look_up(
    services: Services,
    book: Book,
    what: tuple[str, HeardPayment],
    account: VirtualAccount | None = None,
) -> Looked | None:
    provider, heard = what
    try:
        async with services.pool.reading() as db:
            connection = await find_provider(services, db, book, provider)
            row = await find_book(db, book.id)
        if row is None:
            return None
        origin = Origin(row["business_id"], book, provider)
        async with asyncio.timeout(_CALL_S):
            return await look_up(services, connection, origin, heard, account=account)
    except (NotReached, Unclear, Refused, NoProvider, TimeoutError) as error:
        told = f"{type(error).__name__}: {error}"
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
