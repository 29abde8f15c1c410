"""Proof that a book's ledger agrees with its orders."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.orders.posting.faults import order_faults
from tillhouse.orders.posting.rules import SOURCE
from tillhouse.orders.posting.store import find_there, list_orders
from tillhouse.room import SourceType


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(list_orders, db, book_id, batch):
        for fault in order_faults(facts):
            yield fault


ORDER_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Orders, as the proof of the ledger knows them."""
