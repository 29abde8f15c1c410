"""Folding: changes that were gathered, row by row, become part of the sums that lists read.

Adding a row makes no request wait, and no statement can forget to count. The tables of sums are
declared, and one statement moves changes into all of those that they belong to, so that a sum and
its changes are exact in every snapshot.
"""

from collections.abc import Sequence
from typing import LiteralString, NamedTuple

from tillhouse.db.pool import Db


class Tally(NamedTuple):
    """A table of sums, one row for each kind of thing that is counted in a book."""

    table: LiteralString
    key: LiteralString
    """The constraint by which a kind has one row."""
    kinds: Sequence[tuple[LiteralString, LiteralString]]
    """Its columns beside `book_id`, each with its expression over a change `g`."""
    sums: Sequence[LiteralString]
    """Its columns that are added up."""
    also: LiteralString = ""
    """Joined to the changes: one that counts on a day and in a month is counted twice."""
    only: LiteralString = "true"
    """The changes that it counts."""


def same(columns: Sequence[LiteralString]) -> list[tuple[LiteralString, LiteralString]]:
    """Columns that a change has under the same name."""
    return [(name, "g." + name) for name in columns]


class Folding:
    """A table of changes, and the tallies that they become part of."""

    def __init__(self, changes: LiteralString, *tallies: Tally) -> None:
        self.changes = changes
        self.statement: LiteralString = (
            _taking(changes)  # noqa: S608 - of declared names alone
            + "".join(map(_kept, tallies))
            + " SELECT count(*) FROM gone"
        )

    async def fold(self, db: Db, limit: int) -> int:
        """Fold some changes, of any book; how many they were."""
        row = await db.write_once(self.statement, limit)
        return row[0] if row else 0


def _taking(changes: LiteralString) -> LiteralString:
    """CTEs: `gone` are up to $1 changes, taken out of their table, by one statement at a time."""
    # By their places in the table: as a join it may be planned to look again for each row.
    return (
        "WITH folding AS (SELECT pg_try_advisory_xact_lock(hashtextextended('"  # noqa: S608
        + changes
        + "', 0)) AS is_mine), gone AS (DELETE FROM "
        + changes
        + " WHERE ctid = ANY(ARRAY(SELECT ctid FROM "
        + changes
        + " WHERE (SELECT is_mine FROM folding) LIMIT $1)) RETURNING *)"
    )


def _kept(tally: Tally) -> LiteralString:
    """A CTE: the sums of the changes by kind, added to those that there are."""
    columns = ", ".join(["book_id", *(name for name, _ in tally.kinds)])
    kinds = ", ".join(["g.book_id", *(value for _, value in tally.kinds)])
    sums = ", ".join("coalesce(sum(g." + name + "), 0)" for name in tally.sums)
    added = ", ".join(name + " = t." + name + " + excluded." + name for name in tally.sums)
    return (
        ", kept_" + tally.table  # noqa: S608 - of declared names alone
        + " AS (INSERT INTO " + tally.table + " AS t (" + columns
        + ", " + ", ".join(tally.sums) + ") SELECT " + kinds + ", " + sums + " FROM gone g"
        + tally.also + " WHERE " + tally.only + " GROUP BY " + kinds
        + " ON CONFLICT ON CONSTRAINT " + tally.key + " DO UPDATE SET " + added + ")"
    )  # fmt: skip
