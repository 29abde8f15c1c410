"""Folding: changes of the tallies of transactions become part of the sums."""

from tillhouse.db.folding import taking
from tillhouse.db.pool import Db


async def update_tallies(db: Db, limit: int) -> int:
    """Fold some changes into the tallies of their kinds; how many."""
    row = await db.write_once(
        taking("transaction_tally_changes")
        + """, kept AS (
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
