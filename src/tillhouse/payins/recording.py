"""The one way in which a payment is recorded, whether a hook, a question or a page told of it."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import structlog

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.text import storable
from tillhouse.ledger.rules import Ledger
from tillhouse.payins import rules
from tillhouse.payins.arrival_rules import arrivals, is_back, is_short
from tillhouse.payins.booking import book_received
from tillhouse.payins.noting import note
from tillhouse.payins.returning import queue_target, take_back
from tillhouse.payins.store import accounts, connections
from tillhouse.payins.store import payins as store
from tillhouse.payins.types import Origin, Payin, VirtualAccount
from tillhouse.providers.payments.provider import SeenPayment

log = structlog.get_logger()


async def find_account_of(db: Db, origin: Origin, seen: SeenPayment) -> VirtualAccount | None:
    """The account that a payment arrived in: by its reference, or by its number if it has none.

    Providers give numbers out again: one with somebody else's reference is somebody else's.
    """
    book_id, provider = origin.book.id, origin.provider
    if seen.reference is not None:
        return await accounts.find_by_reference(db, book_id, provider, seen.reference)
    if seen.account_number is not None:
        return await accounts.find_by_number(db, book_id, provider, seen.account_number)
    return None


async def record(
    db: Db,
    origin: Origin,
    told: Sequence[SeenPayment],
    account: VirtualAccount | None,
    now: datetime,
) -> int:
    """Record a transaction as its provider knows it, each payment once; how many were news.

    They are booked and their target gets jobs in the same transaction. `told` comes from the
    provider itself (`find_payments`), never from a hook.
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
    book_id, transaction = ledger.book_id, arrived[0].transaction
    await store.lock_transaction(db, book_id, origin.provider, transaction)
    own = await store.lock_payins_of(db, book_id, origin.provider, transaction)
    new = arrivals(own, arrived, now)
    for seen in new:
        await _receive(db, origin, ledger, seen, account)
    if not is_back(arrived):
        await _note_shortage(db, origin, own, arrived, now)
    if new:
        own = await store.lock_payins_of(db, book_id, origin.provider, transaction)
    return max(len(new), await take_back(db, origin, ledger, own, arrived))


async def _note_shortage(
    db: Db, origin: Origin, own: Sequence[Payin], told: Sequence[SeenPayment], now: datetime
) -> None:
    """Say that the provider tells of less than is recorded, or no longer does: once each."""
    short = is_short(own, told, now)
    for payin in own:
        is_noted = rules.SHORT in payin.conditions
        if payin.status != "received" or short is None or is_noted == short:
            continue
        key = BookKey(origin.book.id, payin.id)
        await store.update_short(db, key, now, is_short=short)
        there = ", ".join(f"{one.amount:f} {one.currency}" for one in told)
        await note(db, origin, payin, "differs" if short else "agrees", now, {"told": there})


async def _own_currency(db: Db, origin: Origin) -> str:
    book = await connections.find_book(db, origin.book.id)
    if book is None:
        raise LookupError("no such book")
    return book["currency"]


async def _receive(
    db: Db, origin: Origin, ledger: Ledger, seen: SeenPayment, account: VirtualAccount | None
) -> None:
    key = BookKey(ledger.book_id, new_id())
    new = _new_payin(origin, ledger, seen, account)
    await store.insert_payin(db, key, new, ledger.now)
    payin = await store.find_payin(db, key)
    assert payin is not None, "it was inserted just now"  # noqa: S101
    transaction_id = await book_received(db, ledger, payin)
    if transaction_id is not None:
        await store.update_transaction(db, key, transaction_id)
    if new.applied_at is None:
        await queue_target(db, payin, "received", ledger.now)
    else:
        await note(db, origin, payin, "received", ledger.now)
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
