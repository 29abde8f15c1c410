"""The transactions of a refund that didn't last: of today they count no more, a past day stands."""

from decimal import Decimal
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.ledger.posting import post
from tillhouse.ledger.rules import Ledger, Movement, Postings, Source
from tillhouse.ledger.store.transactions import (
    is_any_of_a_past_day,
    is_of_a_past_day,
    update_reversed,
    update_reversed_of,
)
from tillhouse.orders.money_types import ONLINE


async def undo_own(db: Db, ledger: Ledger, source: Source, amount: Decimal) -> None:
    """Undo the transactions that a refund has of its own, which come to an amount."""
    which = (source.type, source.id)
    if await is_any_of_a_past_day(db, ledger, which, ("refund",)):
        await post(db, ledger, source, Postings((), (came_home(amount),)))
    else:
        await update_reversed_of(db, ledger, which, ("refund",))


async def undo_booked(
    db: Db, ledger: Ledger, transaction_id: UUID, amount: Decimal
) -> Movement | None:
    """Undo the transaction by which an order booked a refund, or say by which other one."""
    if await is_of_a_past_day(db, ledger, transaction_id):
        return came_home(amount)
    await update_reversed(db, ledger, transaction_id)
    return None


def came_home(amount: Decimal) -> Movement:
    """The transaction of today that undoes a refund of a past day."""
    return Movement("refund", ONLINE, amount)
