"""The statement that finds which of some ids a table has."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from tillhouse.db.pool import Db


class StoredIds:
    """Finds those of the ids that are rows of a book in a table, deleted ones too.

    `only` narrows the rows down.
    """

    def __init__(self, table: LiteralString, only: LiteralString = "true") -> None:
        self.statement: LiteralString = (
            "SELECT id FROM "  # noqa: S608 - of declared names alone
            + table
            + " WHERE book_id = $1 AND id = ANY($2) AND "
            + only
        )

    async def __call__(self, db: Db, book_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
        """The ids that are there."""
        rows = await db.fetch(self.statement, book_id, list(ids))
        return {row["id"] for row in rows}
