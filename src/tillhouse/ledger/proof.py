"""Proof that a book's ledger says what its orders say; `tillhouse verify` asks for it."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.ledger.faults import Fault, balance_faults, order_faults
from tillhouse.ledger.rules import NOBODY
from tillhouse.ledger.store import proof as store

# Rows per statement: enough to be quick, few enough to hold nobody up.
BATCH = 500


async def prove(db: Db, book_id: UUID, batch: int = BATCH) -> AsyncIterator[Fault]:
    """Everything that is wrong in a book; each order is looked at as of one moment."""
    for part in (_orders, _balances, _transfers, _debts):
        async for fault in part(db, book_id, batch):
            yield fault


async def _orders(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = NOBODY
    while last is not None:
        found = await store.list_orders(db, book_id, last, batch)
        for facts in found:
            for fault in order_faults(facts):
                yield fault
        last = found[-1].id if found else None


async def _balances(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    last: tuple[str, UUID] | None = ("", NOBODY)
    while last is not None:
        found = await store.list_balances(db, book_id, last, batch)
        for facts in found:
            for fault in balance_faults(facts):
                yield fault
        last = (found[-1].kind, found[-1].owner_id) if found else None


async def _transfers(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = NOBODY
    while last is not None:
        last, orphans, reversals = await store.find_stray_transfers(db, book_id, last, batch)
        for transfer_id in orphans:
            yield Fault("transfer", str(transfer_id), "was posted for an order that isn't there")
        for transfer_id in reversals:
            yield Fault("transfer", str(transfer_id), "is not the opposite of the one it reverses")


async def _debts(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = NOBODY
    while last is not None:
        last, orphans = await store.find_stray_debts(db, book_id, last, batch)
        for debt_id in orphans:
            yield Fault("debt", str(debt_id), "belongs to an order that isn't there")
