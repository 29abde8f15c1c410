"""Proof that a book's ledger is sound; `tillhouse verify` asks for it.

The ledger proves its own invariants. A room that posts declares its type of source, by which
the ledger finds rows that lost theirs, and proves itself how its own rows agree with the money.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import LOWEST_ID, BookId
from tillhouse.ledger.rules import balance_faults
from tillhouse.ledger.store import proof as store
from tillhouse.room import SourceType

# Rows per statement: enough to be quick, few enough to hold no writer up.
BATCH = 500


class HasId(Protocol):
    """A row as a struct."""

    @property
    def id(self) -> UUID:
        """Its id."""
        ...


Row = TypeVar("Row", bound=HasId | Record)
# The rows of a book after an id, in the order of their ids, at most so many.
ListRows = Callable[[Db, UUID, UUID, int], Awaitable[Sequence[Row]]]


async def each_row(
    list_rows: ListRows[Row], db: Db, book_id: UUID, batch: int
) -> AsyncIterator[Row]:
    """Every row of a book that a room proves, a batch per statement."""
    last = LOWEST_ID
    while found := await list_rows(db, book_id, last, batch):
        for row in found:
            yield row
        end = found[-1]
        last = end["id"] if isinstance(end, Record) else end.id


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
        async for fault in _orphans(db, book_id, types, subject, batch):
            yield fault


async def _balances(db: Db, book_id: BookId, batch: int) -> AsyncIterator[Fault]:
    last: tuple[str, UUID] | None = ("", LOWEST_ID)
    while last is not None:
        found = await store.list_balances(db, book_id, last, batch)
        for facts in found:
            for fault in balance_faults(facts):
                yield fault
        last = (found[-1].kind, found[-1].owner_id) if found else None


async def _transfers(db: Db, book_id: BookId, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = LOWEST_ID
    while last is not None:
        found = await store.find_false_transfers(db, book_id, last, batch)
        for transfer_id in found.foreign:
            yield Fault("transfer", str(transfer_id), "has an account of no or another currency")
        for transfer_id in found.reversals:
            yield Fault("transfer", str(transfer_id), "is not the opposite of the one it reverses")
        last = found.last


async def _holds(db: Db, book_id: BookId, batch: int) -> AsyncIterator[Fault]:
    last: UUID | None = LOWEST_ID
    while last is not None:
        found = await store.find_false_holds(db, book_id, last, batch)
        for hold_id in found.untrue:
            yield Fault("hold", str(hold_id), "has no transfer of its account within its amount")
        last = found.last


async def _orphans(
    db: Db, book_id: BookId, types: Sequence[SourceType], subject: store.Subject, batch: int
) -> AsyncIterator[Fault]:
    """Rows whose source isn't there, or is of a type that no room declares."""
    known = {one.name: one for one in types}
    last: UUID | None = LOWEST_ID
    while last is not None:
        found = await store.list_sources(db, book_id, subject, last, batch)
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
