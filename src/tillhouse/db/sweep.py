"""The statement of a chore that forgets rows by their age."""

from datetime import date
from typing import LiteralString

from tillhouse.db.pool import Db


class Sweep:
    """Deletes rows, of any book_id, whose moment or day is over: some at a time, the oldest first.

    `by` is a column of an index, or its expression; `only` narrows them down.
    """

    def __init__(
        self, table: LiteralString, by: LiteralString, only: LiteralString = "true"
    ) -> None:
        # By their places in the table: a join may be planned to read all of it.
        self.statement: LiteralString = (
            "DELETE FROM " + table  # noqa: S608 - of declared names alone
            + " WHERE ctid = ANY (ARRAY(SELECT ctid FROM " + table + " WHERE " + by + " < $1 AND "
            + only + " ORDER BY " + by + " LIMIT $2 FOR UPDATE SKIP LOCKED))"
        )  # fmt: skip

    async def __call__(self, db: Db, before: date, limit: int) -> int:
        """Forget some that were over before then; how many."""
        done = await db.execute(self.statement, before, limit)
        return int(done.rpartition(" ")[2])
