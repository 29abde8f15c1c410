"""The beginning of a statement that folds changes into the sums that lists read."""

from typing import LiteralString


def taking(changes: LiteralString) -> LiteralString:
    """CTEs: `gone` are up to $1 changes, taken out of their table; none while another folds them.

    Rows are moved in one statement, so a sum and its changes are exact in every snapshot.
    """
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
