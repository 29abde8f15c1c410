"""Money that arrives, in the ledger."""

from decimal import Decimal
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Postings, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.ledger.store.transactions import update_reversed_of
from tillhouse.payins import rules
from tillhouse.payins.types import Payin


async def book_received(db: Db, ledger: Ledger, payin: Payin) -> UUID | None:
    """Post an arrival; the transaction by which it is seen, if it has one of its own.

    `ledger` is the one of the book, in its currency.
    """
    paid = rules.money(payin, ledger.currency)
    posted = await _post(db, ledger, payin, rules.received(paid))
    return posted[0] if paid.is_unapplied and posted else None


async def book_reversed(db: Db, ledger: Ledger, payin: Payin) -> bool:
    """Post the way back; whether the wallet no longer covered it."""
    paid = rules.money(payin, ledger.currency)
    available = paid.net
    if not paid.is_unapplied:
        available = await lock_available(db, ledger.book_id, Account("wallet"))
    await _post(db, ledger, payin, rules.reversed_(paid, available))
    await update_reversed_of(db, ledger, (rules.SOURCE, payin.id), ("credit", "fee"))
    return rules.is_uncovered(paid, available)


async def deposit_to_wallet(db: Db, ledger: Ledger, payin: Payin) -> UUID:
    """Post a payment that tops the wallet up; its transaction.

    Recording it has funded the wallet already, as with every payment for a target: this says
    only where the money came from.
    """
    posted = await _post(db, ledger, payin, rules.deposit(rules.money(payin, ledger.currency)))
    return posted[0]


async def take_back_deposit(db: Db, ledger: Ledger, payin: Payin) -> None:
    """Post that a top-up went back; recording that took it out of the wallet."""
    await _post(db, ledger, payin, rules.deposit_reversed(rules.money(payin, ledger.currency)))
    await update_reversed_of(db, ledger, (rules.SOURCE, payin.id), ("wallet_deposit",))


async def claim_shortfall(db: Db, ledger: Ledger, payin: Payin, amount: Decimal) -> None:
    """Post that so much went back which its target has given back before, by another way."""
    await _post(db, ledger, payin, rules.shortfall(amount))


async def _post(db: Db, ledger: Ledger, payin: Payin, postings: Postings) -> tuple[UUID, ...]:
    own = Ledger(ledger.book_id, payin.currency, ledger.now)
    source = Source(type=rules.SOURCE, id=payin.id, happened_at=payin.paid_at)
    return (await post(db, own, source, postings)).transactions
