"""Money that arrives, in the ledger."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Postings, Source, TransactionType
from tillhouse.ledger.store.holds import lock_available
from tillhouse.ledger.store.transactions import is_any_of_a_past_day, update_reversed_of
from tillhouse.payins import rules
from tillhouse.payins.store.payins import update_postings
from tillhouse.payins.types import Payin

# The transactions that an arrival has of its own.
_OF_ARRIVAL: tuple[TransactionType, ...] = ("credit", "fee")
_OF_DEPOSIT: tuple[TransactionType, ...] = ("wallet_deposit",)


async def book_received(db: Db, ledger: Ledger, payin: Payin) -> UUID | None:
    """Post an arrival; the transaction by which it is seen, if it has one of its own.

    `ledger` is the one of the book, in its currency.
    """
    paid = rules.money(payin, ledger.currency)
    posted = await _post(db, ledger, payin, rules.received(paid))
    return posted[0] if paid.is_unapplied and posted else None


async def book_returned(
    db: Db, ledger: Ledger, payin: Payin, amount: Decimal, fee: Decimal
) -> bool:
    """Post the way back of an amount, less a fee that came back; whether the wallet lacked it."""
    paid = rules.money(payin, ledger.currency)
    source = (rules.SOURCE, payin.id)
    is_whole = (amount, fee) == (payin.amount, payin.fee)
    is_whole = is_whole and not await _is_told(db, ledger, payin, _OF_ARRIVAL)
    back = rules.ReturnedAmount(amount, fee, is_whole=is_whole)
    available = back.net
    if not paid.is_unapplied:
        available = await lock_available(db, ledger.book_id, Account("wallet"))
    await _post_next(db, ledger, payin, rules.returned(paid, back, available))
    if back.is_whole:
        await update_reversed_of(db, ledger, source, _OF_ARRIVAL)
    return not paid.is_unapplied and available < back.net


async def deposit_to_wallet(db: Db, ledger: Ledger, payin: Payin) -> UUID:
    """Post a payment that tops the wallet up; its transaction.

    Recording it has funded the wallet already, as with every payment for a target: this says
    only where the money came from.
    """
    posted = await _post(db, ledger, payin, rules.deposit(rules.money(payin, ledger.currency)))
    return posted[0]


async def take_back_deposit(db: Db, ledger: Ledger, payin: Payin, amount: Decimal) -> None:
    """Post that so much of a top-up went back; recording that took it out of the wallet."""
    is_whole = amount == payin.amount and not await _is_told(db, ledger, payin, _OF_DEPOSIT)
    await _post_next(db, ledger, payin, rules.deposit_reversed(amount, is_whole=is_whole))
    if is_whole:
        await update_reversed_of(db, ledger, (rules.SOURCE, payin.id), _OF_DEPOSIT)


async def _is_told(db: Db, ledger: Ledger, payin: Payin, types: Sequence[TransactionType]) -> bool:
    """Whether a past day has told of a transaction: it stays as it is, and another undoes it."""
    return await is_any_of_a_past_day(db, ledger, (rules.SOURCE, payin.id), types)


async def claim_shortfall(db: Db, ledger: Ledger, payin: Payin, amount: Decimal) -> None:
    """Post that so much went back which its target has given back before, by another way."""
    await _post_next(
        db, ledger, payin, rules.shortfall(rules.money(payin, ledger.currency), amount)
    )


async def _post(db: Db, ledger: Ledger, payin: Payin, postings: Postings) -> tuple[UUID, ...]:
    own = Ledger(ledger.book_id, payin.currency, ledger.now)
    source = Source(type=rules.SOURCE, id=payin.id, happened_at=payin.paid_at)
    return (await post(db, own, source, postings)).transactions


async def _post_next(db: Db, ledger: Ledger, payin: Payin, postings: Postings) -> None:
    """Post a step that may come more than once: by numbers and a time of its own."""
    own = Ledger(ledger.book_id, payin.currency, ledger.now)
    source = Source(type=rules.SOURCE, id=payin.id, happened_at=ledger.now)
    number = await update_postings(db, BookKey(ledger.book_id, payin.id))
    await post(db, own, source, postings, first=number * rules.POSTINGS_MAX)
