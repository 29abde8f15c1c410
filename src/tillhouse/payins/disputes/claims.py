"""Amounts of disputes that the wallet didn't have: taken as money comes in."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey
from tillhouse.ledger.collecting import Collecting
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.payins.disputes import rules, store


async def _settle(db: Db, found: store.OpenDispute, at: datetime) -> bool:
    """Take money of the wallet for one dispute; whether any was taken."""
    given = min(found.claimed, await lock_available(db, found.book_id, Account("wallet")))
    if given <= 0:
        return False
    key = BookKey(found.book_id, found.id)
    booked = store.BookedDispute(
        taken=found.taken_amount, fee=found.fee, claimed=found.claimed - given
    )
    number = await store.update_booked(db, key, booked, at)
    source = Source(type=rules.SOURCE, id=found.id, happened_at=at)
    ledger = Ledger(found.book_id, found.currency, at)
    await post(db, ledger, source, rules.settled(given), first=number * rules.POSTINGS_MAX)
    return True


_CLAIMS = Collecting(
    name="dispute_claims",
    lock=store.lock_claim,
    lock_of_book=store.lock_claim_of_book,
    take=_settle,
)
settle_claims = _CLAIMS.of_book
"""Take the claims of a book for disputes, before more is withdrawn from its wallet."""
SETTLING = _CLAIMS.chore()
"""The chore that takes claimed money."""
