"""Proof that a book's ledger says what its orders say."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.ledger.rules import NOBODY
from tillhouse.orders.posting.faults import order_faults
from tillhouse.orders.posting.rules import SOURCE
from tillhouse.orders.posting.store import find_there, list_orders
from tillhouse.room import SourceType


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = NOBODY
    while last is not None:
        found = await list_orders(db, book_id, last, batch)
        for facts in found:
            for fault in order_faults(facts):
                yield fault
        last = found[-1].id if found else None


ORDER_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Orders, as the proof of the ledger knows them."""
