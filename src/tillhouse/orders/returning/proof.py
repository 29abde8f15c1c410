"""Proof that a book's ledger agrees with its refunds through providers."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.orders.returning.rules import SOURCE, refund_faults
from tillhouse.orders.returning.store import find_there, list_stuck_returns, list_with_money
from tillhouse.room import SourceType

WAITING = "waiting refund"
"""The subject of a refund that no job brings to its end."""


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(list_with_money, db, book_id, batch):
        for told in refund_faults(facts):
            yield Fault("refund", str(facts.id), told)
    for row in await list_stuck_returns(db, book_id, batch):
        told = f"is on its way, and nothing works on it: {row['reason']}"
        yield Fault(WAITING, str(row["id"]), told)


REFUND_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Refunds through providers, as the proof of the ledger knows them."""
