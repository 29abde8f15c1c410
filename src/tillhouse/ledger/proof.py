"""Proof that a book's ledger is sound; `tillhouse verify` asks for it.

The ledger proves what holds of any ledger. A room that posts declares its type of source, by which
the ledger finds rows that lost theirs, and proves itself what its own rows say of money.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import BookId
from tillhouse.ledger.faults import balance_faults
from tillhouse.ledger.rules import NOBODY
from tillhouse.ledger.store import proof as store
from tillhouse.room import SourceType

# Rows per statement: enough to be quick, few enough to hold nobody up.
BATCH = 500


async def prove(
    db: Db, book_id: BookId, types: Sequence[SourceType], batch: int = BATCH
) -> AsyncIterator[Fault]:
    """Everything that is wrong in a book; each source is looked at as of one moment."""
    for one in types:
        async for fault in one.prove(db, book_id, batch):
            yield fault
    async for fault in _balances(db, book_id, batch):
        yield fault
    async for fault in _transfers(db, book_id, batch):
        yield fault
    async for fault in _holds(db, book_id, batch):
        yield fault
    for subject in store.SUBJECTS:
        async for fault in _orphans(db, book_id, types, (subject, batch)):
            yield fault


async def _balances(db: Db, book_id: BookId, batch: int) -> AsyncIterator[Fault]:
    last: tuple[str, UUID] | None = ("", NOBODY)
    while last is not None:
        found = await store.list_balances(db, book_id, last, batch)
        for facts in found:
            for fault in balance_faults(facts):
                yield fault
        last = (found[-1].kind, found[-1].owner_id) if found else None


async def _transfers(db: Db, book_id: BookId, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = NOBODY
    while last is not None:
        found = await store.find_false_transfers(db, book_id, last, batch)
        for transfer_id in found.foreign:
            yield Fault("transfer", str(transfer_id), "has an account of no or another currency")
        for transfer_id in found.reversals:
            yield Fault("transfer", str(transfer_id), "is not the opposite of the one it reverses")
        last = found.last


async def _holds(db: Db, book_id: BookId, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = NOBODY
    while last is not None:
        found = await store.find_false_holds(db, book_id, last, batch)
        for hold_id in found.untrue:
            yield Fault("hold", str(hold_id), "has no transfer of its account within its amount")
        last = found.last


async def _orphans(
    db: Db, book_id: BookId, types: Sequence[SourceType], which: tuple[store.Subject, int]
) -> AsyncIterator[Fault]:
    """Rows whose source isn't there, or is of a type that no room declares."""
    subject, batch = which
    known = {one.name: one for one in types}
    last: UUID | None = NOBODY
    while last is not None:
        found = await store.list_sources(db, book_id, subject, (last, batch))
        named: defaultdict[str, set[UUID]] = defaultdict(set)
        for row in found:
            named[row.source_type].add(row.source_id)
        there = {
            name: await known[name].find_there(db, book_id, sorted(ids))
            for name, ids in named.items()
            if name in known
        }
        for row in found:
            if row.source_id not in there.get(row.source_type, ()):
                yield Fault(subject, str(row.id), _lost(row, row.source_type in known))
        last = found[-1].id if found else None


def _lost(row: store.Sourced, is_known: bool) -> str:
    if is_known:
        return f"was posted for a source that isn't there: {row.source_type} {row.source_id}"
    return f"was posted for a source of an unknown type: {row.source_type} {row.source_id}"
