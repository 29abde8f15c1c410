"""Folding: changes of the tallies of transactions become part of the sums."""

from tillhouse.db.pool import Db


async def update_tallies(db: Db, limit: int) -> int:
    """Fold some changes into the tallies of their kinds; how many."""
    row = await db.write_once(
        """
        WITH folding AS (
            SELECT pg_try_advisory_xact_lock(hashtextextended('transaction tallies', 0))
                AS is_mine
        ), gone AS (
            -- By their places in the table: as a join it may be planned to look again for each row.
            DELETE FROM transaction_tally_changes
            WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM transaction_tally_changes
                WHERE (SELECT is_mine FROM folding) LIMIT $1))
            RETURNING *
        ), kept AS (
            INSERT INTO transaction_tallies AS t (book_id, day, type, status, method, store_id,
                transactions, amount)
            SELECT book_id, d.day, type, status, method, store_id, sum(transactions), sum(amount)
            FROM gone, LATERAL (VALUES (gone.day), (NULL)) AS d (day)
            GROUP BY book_id, d.day, type, status, method, store_id
            ON CONFLICT ON CONSTRAINT transaction_tallies_kind_key DO UPDATE SET
                transactions = t.transactions + excluded.transactions,
                amount = t.amount + excluded.amount
        )
        SELECT count(*) FROM gone
        """,
        limit,
    )
    return row[0] if row else 0
