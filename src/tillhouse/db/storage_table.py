"""Counts of what books hold of a kind: their rows and bytes, which limits are compared with."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db

_USE: LiteralString = """
    SELECT coalesce(sum(rows), 0)::bigint AS rows, coalesce(sum(bytes), 0)::bigint AS bytes,
        coalesce(array_agg(book_id) FILTER (WHERE rows >= $1 AND $1 > 0), '{}') AS full_by_rows,
        coalesce(array_agg(book_id) FILTER (WHERE bytes >= $2 AND $2 > 0), '{}') AS full_by_bytes
    FROM kept
"""


class StorageLimits(msgspec.Struct, frozen=True):
    """How many rows and how many bytes of a kind a book may hold; 0 = any number."""

    rows: int
    bytes: int

    @property
    def are_set(self) -> bool:
        """Whether there is any."""
        return self.rows > 0 or self.bytes > 0


class StorageUse(msgspec.Struct, frozen=True):
    """How much all books hold of a kind, and which of them are full, by rows and by bytes."""

    rows: int
    bytes: int
    full_by_rows: Sequence[UUID]
    full_by_bytes: Sequence[UUID]


class StoredInBook(msgspec.Struct, frozen=True):
    """How much one book holds of a kind."""

    book_id: UUID
    rows: int
    bytes: int


class StorageTable:
    """A table with `bytes` and a column of rows, of one row a book or of several."""

    def __init__(self, name: LiteralString, rows: LiteralString) -> None:
        self.name = name
        self._measure: LiteralString = (
            "WITH kept AS (SELECT book_id, sum("  # noqa: S608 - of declared names alone
            + rows
            + ") AS rows, sum(bytes) AS bytes FROM "
            + name
            + " GROUP BY book_id) "
            + _USE
        )
        self._list: LiteralString = (
            "SELECT book_id, sum("  # noqa: S608 - of declared names alone
            + rows
            + ")::bigint AS rows, sum(bytes)::bigint AS bytes FROM "
            + name
            + " WHERE book_id = ANY($1) GROUP BY book_id"
        )

    async def measure(self, db: Db, limits: StorageLimits) -> StorageUse:
        """How much all books hold, and those that hold as much as they may."""
        row = await db.fetchrow(self._measure, limits.rows, limits.bytes)
        assert row is not None, "an aggregate has one row"  # noqa: S101
        return StorageUse(**row)

    async def list_books(self, db: Db, books: Sequence[UUID]) -> list[StoredInBook]:
        """How much some books hold, as far as it was counted; one without a count is left out."""
        return [StoredInBook(**row) for row in await db.fetch(self._list, books)]
