"""Amounts that payouts took and the wallet didn't have: taken as money comes in."""

from datetime import datetime

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey
from tillhouse.ledger.collecting import Collecting
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Ledger, Source
from tillhouse.ledger.store.holds import lock_available
from tillhouse.payouts.withdrawals import rules
from tillhouse.payouts.withdrawals.posting_rules import WALLET, DueAmounts, taken
from tillhouse.payouts.withdrawals.store import dues


async def _collect(db: Db, found: dues.DueRow, at: datetime) -> bool:
    """Take money of the wallet for one withdrawal; whether any was taken."""
    ledger = Ledger(found.book_id, found.currency, at)
    due = DueAmounts(found.amount_due, found.fee_due)
    given = due.given(max(await lock_available(db, found.book_id, WALLET), rules.NOTHING))
    if given.is_nothing:
        return False
    source = Source(type=rules.SOURCE, id=found.id, happened_at=at)
    first = await dues.count_transfers(db, found.book_id, found.id)
    await post(db, ledger, source, taken(given), first=first)
    await dues.update_due(db, BookKey(found.book_id, found.id), due.less(given), at)
    return True


_DUES = Collecting(
    name="payouts_due",
    lock=dues.lock_due,
    lock_of_book=dues.lock_due_of_book,
    take=_collect,
)
collect_of_book = _DUES.of_book
"""Take the dues of a book, before more is withdrawn from its wallet."""
COLLECTING = _DUES.chore()
"""The chore that takes due money."""
