"""Proof that a book's ledger agrees with its refunds of stays through providers."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.folios.returning.rules import SOURCE, return_faults
from tillhouse.folios.returning.store import find_there, list_stuck_of_stays, list_with_money
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.orders.returning.proof import WAITING
from tillhouse.room import SourceType


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(list_with_money, db, book_id, batch):
        for told in return_faults(facts):
            yield Fault(SOURCE, str(facts.id), told)
    for row in await list_stuck_of_stays(db, book_id, batch):
        told = f"is on its way, and nothing works on it: {row['reason']}"
        yield Fault(WAITING, str(row["id"]), told)


RETURN_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Refunds of stays through providers, as the proof of the ledger knows them."""
