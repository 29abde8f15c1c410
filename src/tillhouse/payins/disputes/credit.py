"""Credit of a payment whose money a dispute has taken: held, so that it can't be spent.

Money that was paid too much, or for nothing yet, is the customer's credit. While a provider has
taken it for a dispute, it is neither spent nor handed out; a dispute that is won gives it free.
"""

from collections.abc import Sequence
from decimal import Decimal

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey, CustomerId
from tillhouse.ledger.posting import WantedHold, hold, release
from tillhouse.ledger.rules import Account, Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.payins.disputes.rules import SOURCE
from tillhouse.payins.disputes.store import update_credit_hold
from tillhouse.payins.disputes.types import DisputedCredit


async def free(db: Db, ledger: Ledger, disputes: Sequence[DisputedCredit]) -> None:
    """Let go of the credit that locked disputes hold."""
    for one in disputes:
        if one.credit_hold_id is not None:
            await release(db, ledger, one.credit_hold_id)
            await update_credit_hold(db, BookKey(ledger.book_id, one.id), None)


async def hold_anew(
    db: Db, ledger: Ledger, disputes: Sequence[DisputedCredit], whose: CustomerId, credit: Decimal
) -> None:
    """Hold so much of a customer's credit as locked disputes, which hold none, took of it."""
    account = Account("customer_credit", whose)
    for one in disputes:
        wanted = min(one.taken_amount, credit)
        if wanted > 0:
            wanted = min(wanted, await lock_available(db, ledger.book_id, account))
        if wanted <= 0:
            continue
        source = Source(type=SOURCE, id=one.id, happened_at=ledger.now)
        new = WantedHold(account, wanted, "disputed_credit", sequence=one.credit_holds)
        hold_id = await hold(db, ledger, source, new)
        await update_credit_hold(db, BookKey(ledger.book_id, one.id), hold_id)
        credit -= wanted
