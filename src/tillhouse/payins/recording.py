"""The one way in which a payment is recorded, whether a hook, a question or a page told of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import msgspec
import structlog

from tillhouse.access import audit
from tillhouse.access.audit import Actor
from tillhouse.db.pool import Db
from tillhouse.jobs.kinds import NewJob
from tillhouse.jobs.store import queue_job
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.text import storable
from tillhouse.ledger.rules import Ledger
from tillhouse.payins import rules
from tillhouse.payins.arrival_rules import arrivals, is_back, is_short
from tillhouse.payins.booking import book_received, book_reversed
from tillhouse.payins.store import accounts, connections
from tillhouse.payins.store import payins as store
from tillhouse.payins.types import Origin, Payin, VirtualAccount
from tillhouse.providers.payments.provider import SeenPayment

_NOTHING: Mapping[str, Any] = MappingProxyType({})

log = structlog.get_logger()


async def find_account_of(db: Db, origin: Origin, seen: SeenPayment) -> VirtualAccount | None:
    """The account that a payment arrived in: by our reference, else by its number."""
    found = None
    if seen.reference is not None:
        found = await accounts.find_by_reference(
            db, origin.book.id, origin.provider, seen.reference
        )
    if found is None and seen.account_number is not None:
        found = await accounts.find_by_number(
            db, origin.book.id, origin.provider, seen.account_number
        )
    return found


async def record(
    db: Db,
    origin: Origin,
    told: Sequence[SeenPayment],
    account: VirtualAccount | None,
    now: datetime,
) -> int:
    """Record a transaction as its provider knows it, each payment once; how many were news.

    They are booked and their target gets jobs in the same transaction. `told` comes from the
    provider itself (`find_payments`), never from what a hook says.
    """
    for seen in told:
        if seen.state == "failed" and account is not None:
            words = f"A payment of {seen.amount:f} {seen.currency} failed."
            await accounts.update_attempt_failed(
                db, BookKey(origin.book.id, account.id), words, now
            )
    arrived = [one for one in told if one.state in ("successful", "reversed") and one.amount > 0]
    if not arrived:
        return 0
    ledger = Ledger(origin.book.id, await _own_currency(db, origin), now)
    which = ledger.book_id, origin.provider, arrived[0].transaction
    await store.lock_transaction(db, *which)
    own = await store.lock_payins_of(db, *which)
    new = arrivals(own, arrived, now)
    for seen in new:
        await _receive(db, origin, ledger, (seen, account))
    if not is_back(arrived):
        await _note_shortage(db, origin, (own, arrived), now)
        return len(new)
    current = await store.lock_payins_of(db, *which) if new else own
    kept = [payin for payin in current if payin.status == "received"]
    for payin in kept:
        await _reverse(db, origin, ledger, payin)
    return max(len(new), len(kept))


async def _note_shortage(
    db: Db, origin: Origin, what: tuple[Sequence[Payin], Sequence[SeenPayment]], now: datetime
) -> None:
    """Say that the provider tells of less than is recorded, or no longer does: once each."""
    own, told = what
    short = is_short(own, told, now)
    for payin in own:
        is_noted = rules.SHORT in payin.conditions
        if payin.status != "received" or short is None or is_noted == short:
            continue
        key = BookKey(origin.book.id, payin.id)
        await store.update_short(db, key, now, is_short=short)
        there = ", ".join(f"{one.amount:f} {one.currency}" for one in told)
        noted = msgspec.structs.replace(payin, updated_at=now)
        await _note(db, origin, noted, "differs" if short else "agrees", {"told": there})


async def _own_currency(db: Db, origin: Origin) -> str:
    book = await connections.find_book(db, origin.book.id)
    if book is None:
        raise LookupError("no such book")
    return book["currency"]


async def _receive(
    db: Db, origin: Origin, ledger: Ledger, what: tuple[SeenPayment, VirtualAccount | None]
) -> None:
    seen, account = what
    key = BookKey(ledger.book_id, new_id())
    new = _new_payin(origin, ledger, seen, account)
    await store.insert_payin(db, key, new, ledger.now)
    payin = await store.find_payin(db, key)
    assert payin is not None, "it was inserted just now"  # noqa: S101
    transaction_id = await book_received(db, ledger, payin)
    if transaction_id is not None:
        await store.update_transaction(db, key, transaction_id)
    if new.applied_at is None:
        await _queue(db, payin, "received", ledger.now)
    else:
        await _note(db, origin, payin, "received")
    log.info("payin_recorded", payin=str(payin.id), provider=payin.provider)


def _new_payin(
    origin: Origin, ledger: Ledger, seen: SeenPayment, account: VirtualAccount | None
) -> store.NewPayin:
    paid_at = min(seen.paid_at or ledger.now, ledger.now)
    conditions: list[str] = []
    if account is None:
        conditions.append(rules.UNKNOWN)
    elif account.expires_at is not None and account.expires_at <= paid_at:
        conditions.append(rules.LATE)
    if seen.currency != ledger.currency:
        conditions.append(rules.OTHER_CURRENCY)
    is_unapplied = account is None or seen.currency != ledger.currency
    return store.NewPayin(
        provider=origin.provider,
        provider_transaction_id=seen.transaction_id,
        virtual_account_id=account.id if account else None,
        target_type=account.target_type if account else None,
        target_id=account.target_id if account else None,
        amount=seen.amount,
        fee=max(Decimal(0), min(seen.fee, seen.amount)),
        currency=seen.currency,
        payer_name=storable(seen.payer_name) if seen.payer_name else None,
        paid_at=paid_at,
        applied_at=ledger.now if is_unapplied else None,
        conditions=conditions,
    )


async def _reverse(db: Db, origin: Origin, ledger: Ledger, payin: Payin) -> None:
    key = BookKey(ledger.book_id, payin.id)
    is_uncovered = await book_reversed(db, ledger, payin)
    conditions = (rules.UNCOVERED,) if is_uncovered else ()
    await store.update_reversed(db, key, conditions, ledger.now)
    if payin.applied_at is not None and payin.target_id is not None:
        await _queue(db, payin, "reversed", ledger.now)
    await _note(db, origin, payin, "reversed")


async def _queue(db: Db, payin: Payin, what: str, now: datetime) -> None:
    """Give the target its job; a job of its own for each, so that none waits for another's row."""
    assert payin.target_id is not None, "only what has a target is applied"  # noqa: S101
    new = NewJob(
        book_id=payin.book_id,
        kind=job_kind(payin.target_type or ""),
        subject_id=payin.target_id,
        key=f"{payin.id}:{what}",
    )
    await queue_job(db, new, now, now)


def job_kind(target_type: str) -> str:
    """The name of the local job that the room of a target declares."""
    return f"payin:{target_type}"


async def _note(
    db: Db, origin: Origin, payin: Payin, verb: str, more: Mapping[str, Any] = _NOTHING
) -> None:
    """Tell the business of what no target of its explains."""
    what = (f"payin.{verb}", f"Payment by {payin.provider} {verb}: {_reason(payin)}")
    metadata = {
        "payinId": str(payin.id),
        "amount": payin.amount,
        "currency": payin.currency,
        "providerTransactionId": payin.provider_transaction_id,
        "conditions": payin.conditions,
        "environment": origin.book.environment,
        **more,
    }
    actor = Actor(payin.provider, "provider")
    await audit.append(db, origin.business_id, actor, what, metadata, payin.updated_at)


def _reason(payin: Payin) -> str:
    if rules.OTHER_CURRENCY in payin.conditions:
        return "in another currency"
    return "for nothing known" if payin.target_id is None else "after it was received"
