"""Proof that a book's ledger agrees with its orders, and with their refunds through providers."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.orders.posting.faults import order_faults
from tillhouse.orders.posting.rules import SOURCE
from tillhouse.orders.posting.store import find_there, list_orders
from tillhouse.orders.returning import rules as refund_rules
from tillhouse.orders.returning import store as refunds
from tillhouse.room import SourceType

WAITING = "waiting refund"
"""The subject of a refund that no job brings to its end."""


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(list_orders, db, book_id, batch):
        for fault in order_faults(facts):
            yield fault


ORDER_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Orders, as the proof of the ledger knows them."""


async def _prove_refunds(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(refunds.list_with_money, db, book_id, batch):
        for told in refund_rules.refund_faults(facts):
            yield Fault("refund", str(facts.id), told)
    for row in await refunds.STUCK_REFUNDS.list(db, book_id, batch):
        told = f"is on its way, and nothing works on it: {row['reason']}"
        yield Fault(WAITING, str(row["id"]), told)


REFUND_SOURCE = SourceType(refund_rules.SOURCE, refunds.find_there, _prove_refunds)
"""Refunds through providers, as the proof of the ledger knows them."""
