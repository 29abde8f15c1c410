"""Accounts to pay into: one at a time for each target, opened by one call of a provider.

The row is committed before the provider is asked, so that whatever the provider tells later finds
it. A process that dies while it asks leaves a row that is `opening`; after the lease somebody else
asks again with the same reference.
"""

import asyncio
from datetime import datetime, timedelta
from random import Random

import msgspec
import structlog

from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.jobs.store import queue_job
from tillhouse.kit.clock import now
from tillhouse.kit.errors import Refused as RefusedProblem
from tillhouse.kit.ids import CHANCE, BookKey, new_id, random_text
from tillhouse.kit.partial import facts_of
from tillhouse.kit.text import storable
from tillhouse.payins.asking import first_asking
from tillhouse.payins.connections import EmailNeeded, choose_provider, find_provider
from tillhouse.payins.store import accounts as store
from tillhouse.payins.store.connections import update_down
from tillhouse.payins.types import AccountTarget, ProviderConnection, VirtualAccount
from tillhouse.providers.payments.provider import (
    AccountRequest,
    NotReached,
    OpenedAccount,
    ProviderRefused,
    Unclear,
    in_words,
)

CALL_S = 12.0
TRIES = 2
# Longer than all tries take.
LEASE = timedelta(seconds=30)
DOWN_FOR = timedelta(seconds=60)
REFUSED_FOR = timedelta(seconds=60)
_WAIT_S = 45.0
_PAUSE_S = 0.02
_PAUSE_MAX_S = 0.5
_REFUSED = "refused: "
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_REFERENCE_LENGTH = 28

log = structlog.get_logger()


class AccountRefused(RefusedProblem):
    """A provider opens no account for this."""


class _Claim(msgspec.Struct, frozen=True):
    """The current account of a target; with a connection, it is the caller's to open."""

    account: VirtualAccount
    connection: ProviderConnection | None = None


def new_reference() -> str:
    """An unguessable reference, in letters that every provider takes."""
    return f"th-{random_text(_ALPHABET, _REFERENCE_LENGTH)}"


async def open_account(
    services: Services, target: AccountTarget, rng: Random = CHANCE
) -> VirtualAccount:
    """The account that a target is paid into: the one that is open, or a new one.

    Call it outside of any transaction. Of callers at the same moment, one asks the provider and
    the others wait for its result.
    """
    pause_s, avoided = _PAUSE_S, set[str]()
    awaited: BookKey | None = None
    async with asyncio.timeout(_WAIT_S):
        while True:
            async with services.pool.transaction() as db:
                await _check_awaited(db, awaited)
                claim = await _claim(services, db, target, (rng, avoided))
            account = claim.account if claim else None
            if claim and claim.connection is not None:
                found = await _open(services, target, claim.account, claim.connection)
                if found is not None:
                    return found
                avoided.add(claim.account.provider)
                continue
            if account is not None and account.status == "open":
                return account
            awaited = BookKey(target.book.id, account.id) if account else None
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _PAUSE_MAX_S)


async def _check_awaited(db: Db, awaited: BookKey | None) -> None:
    """Fail as the caller did for whose answer this one waited."""
    account = await store.find_account(db, awaited) if awaited else None
    if account is not None and account.status == "failed":
        told = account.error or ""
        if told.startswith(_REFUSED):
            raise AccountRefused(_sentence(account.provider, told.removeprefix(_REFUSED)))


async def _claim(
    services: Services, db: Db, target: AccountTarget, choice: tuple[Random, set[str]]
) -> _Claim | None:
    """The current account, or the right to open it; None: somebody else was faster just now."""
    at = now()
    current = await store.lock_current(db, target.book.id, target.type, target.id)
    if current is not None:
        key = BookKey(target.book.id, current.id)
        is_stale = current.status == "opening" and current.updated_at + LEASE <= at
        fits = (current.amount, current.currency) == (target.amount, target.currency)
        if (current.is_open(at) and fits) or (current.status == "opening" and not is_stale):
            return _Claim(current)
        if is_stale and fits:
            connection = await find_provider(services, db, target.book, current.provider)
            if connection.provider.capabilities.needs_email and target.email is None:
                raise EmailNeeded
            await store.touch_opening(db, key, at)
            return _Claim(current, connection)
        await store.update_closed(db, key, at)
    await _check_refused(db, target, at)
    rng, avoided = choice
    connection = await choose_provider(
        services, db, target.book, target.collects, rng, avoided=avoided
    )
    key = BookKey(target.book.id, new_id())
    new = facts_of(
        store.AccountToOpen,
        target,
        target_type=target.type,
        target_id=target.id,
        provider=connection.provider.name,
        reference=new_reference(),
    )
    if not await store.insert_account(db, key, new, at):
        return None
    account = await store.find_account(db, key)
    assert account is not None, "it was inserted just now"  # noqa: S101
    return _Claim(account, connection)


async def _check_refused(db: Db, target: AccountTarget, at: datetime) -> None:
    """Answer for a while as the provider did last: each view of a page would ask it again."""
    last = await store.find_latest(db, target.book.id, (target.type, target.id))
    if last is None or last.status != "failed" or last.updated_at + REFUSED_FOR <= at:
        return
    told = last.error or ""
    fits = (last.amount, last.currency) == (target.amount, target.currency)
    if fits and told.startswith(_REFUSED):
        raise AccountRefused(_sentence(last.provider, told.removeprefix(_REFUSED)))


async def _open(
    services: Services,
    target: AccountTarget,
    account: VirtualAccount,
    connection: ProviderConnection,
) -> VirtualAccount | None:
    """Ask the provider and record its answer; None: it is away, so another may be asked."""
    key = BookKey(target.book.id, account.id)
    try:
        opened = await _ask(target, account, connection)
    except ProviderRefused as error:
        told = storable(str(error))
        async with services.pool.transaction() as db:
            await store.update_failed(db, key, f"{_REFUSED}{told}", now())
        raise AccountRefused(_sentence(account.provider, told)) from error
    except (NotReached, Unclear) as error:
        told = storable(in_words(error))
        log.warning("account_not_opened", provider=account.provider, error=told)
        async with services.pool.transaction() as db:
            at = now()
            await store.update_failed(db, key, told, at)
            await update_down(db, key.book_id, account.provider, at + DOWN_FOR, told)
        return None
    async with services.pool.transaction() as db:
        at = now()
        if await store.update_opened(db, key, facts_of(store.OpenedRow, opened), at):
            new, due_at = first_asking(target.book.id, account.id, at)
            await queue_job(db, new, due_at, at)
        found = await store.find_account(db, key)
    return found if found and found.status == "open" else None


async def _ask(
    target: AccountTarget, account: VirtualAccount, connection: ProviderConnection
) -> OpenedAccount:
    needs_email = connection.provider.capabilities.needs_email
    wanted = AccountRequest(
        reference=account.reference,
        amount=account.amount,
        currency=account.currency,
        email=target.email if needs_email else None,
        name=target.name,
        description=target.description,
        expires_at=target.expires_at,
        return_url=target.return_url,
    )
    for is_last in (*(False,) * (TRIES - 1), True):
        try:
            async with asyncio.timeout(CALL_S):
                opened = await connection.provider.open_account(connection.credentials, wanted)
                return _living(opened)
        except TimeoutError as error:
            if is_last:
                raise Unclear("no answer in time") from error
        except (NotReached, Unclear):
            if is_last:
                raise
    raise AssertionError("the last try returns or raises")


def _living(opened: OpenedAccount) -> OpenedAccount:
    if opened.expires_at is not None and opened.expires_at <= now():
        raise ProviderRefused("the account that was opened has expired already")
    return opened


def _sentence(provider: str, reason: str) -> str:
    return f"The payment provider {provider} opens no account for this: {reason}"
