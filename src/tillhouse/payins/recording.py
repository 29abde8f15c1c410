"""The one way in which a payment is recorded, whether a hook, a question or a page told of it."""

from datetime import datetime
from decimal import Decimal

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
from tillhouse.payins.booking import book_received, book_reversed
from tillhouse.payins.store import accounts, connections
from tillhouse.payins.store import payins as store
from tillhouse.payins.types import Origin, Payin, VirtualAccount
from tillhouse.providers.payments.provider import SeenPayment

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
    db: Db, origin: Origin, seen: SeenPayment, account: VirtualAccount | None, now: datetime
) -> bool:
    """Record a payment as its provider knows it, each once; whether that was news.

    It is booked and its target gets a job in the same transaction. `seen` comes from the provider
    itself (`find_payments`), never from what a hook says.
    """
    if seen.state == "failed" and account is not None:
        told = f"A payment of {seen.amount:f} {seen.currency} failed."
        await accounts.update_attempt_failed(db, BookKey(origin.book.id, account.id), told, now)
    if seen.state not in ("successful", "reversed") or seen.amount <= 0:
        return False
    own_currency = await _own_currency(db, origin)
    ledger = Ledger(origin.book.id, own_currency, now)
    is_new = await _receive(db, origin, ledger, (seen, account))
    if seen.state == "reversed":
        return await _reverse(db, origin, ledger, seen) or is_new
    return is_new


async def _own_currency(db: Db, origin: Origin) -> str:
    book = await connections.find_book(db, origin.book.id)
    if book is None:
        raise LookupError("no such book")
    return book["currency"]


async def _receive(
    db: Db, origin: Origin, ledger: Ledger, what: tuple[SeenPayment, VirtualAccount | None]
) -> bool:
    seen, account = what
    key = BookKey(ledger.book_id, new_id())
    new = _new_payin(origin, ledger, seen, account)
    if not await store.insert_payin(db, key, new, ledger.now):
        return False
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
    return True


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


async def _reverse(db: Db, origin: Origin, ledger: Ledger, seen: SeenPayment) -> bool:
    payin = await store.lock_by_transaction(
        db, ledger.book_id, origin.provider, seen.transaction_id
    )
    if payin is None or payin.status == "reversed":
        return False
    key = BookKey(ledger.book_id, payin.id)
    is_uncovered = await book_reversed(db, ledger, payin)
    conditions = (rules.UNCOVERED,) if is_uncovered else ()
    await store.update_reversed(db, key, conditions, ledger.now)
    if payin.applied_at is not None and payin.target_id is not None:
        await _queue(db, payin, "reversed", ledger.now)
    await _note(db, origin, payin, "reversed")
    return True


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


async def _note(db: Db, origin: Origin, payin: Payin, verb: str) -> None:
    """Tell the business of what no target of its explains."""
    what = (f"payin.{verb}", f"Payment by {payin.provider} {verb}: {_reason(payin)}")
    metadata = {
        "payinId": str(payin.id),
        "amount": payin.amount,
        "currency": payin.currency,
        "providerTransactionId": payin.provider_transaction_id,
        "conditions": payin.conditions,
        "environment": origin.book.environment,
    }
    actor = Actor(payin.provider, "provider")
    await audit.append(db, origin.business_id, actor, what, metadata, payin.updated_at)


def _reason(payin: Payin) -> str:
    if rules.OTHER_CURRENCY in payin.conditions:
        return "in another currency"
    return "for nothing known" if payin.target_id is None else "after it was received"
