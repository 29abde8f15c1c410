"""Proof that a book's ledger agrees with its disputes."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.payins.disputes.rules import SOURCE, dispute_faults
from tillhouse.payins.disputes.store import find_there, list_with_money
from tillhouse.room import SourceType


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(list_with_money, db, book_id, batch):
        for wrong in dispute_faults(facts):
            yield Fault(SOURCE, str(facts.id), wrong)


DISPUTE_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Disputes, as the proof of the ledger knows them."""
