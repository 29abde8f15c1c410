"""Sums of the ledger: tallies of changes, and days that are over, which trial balances read."""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from tillhouse.db.folding import Folding, Tally, same
from tillhouse.db.pool import Db

TRANSACTION_TALLIES = Folding(
    "transaction_tally_changes",
    Tally(
        "transaction_tallies",
        key="transaction_tallies_kind_key",
        kinds=(("day", "d.day"), *same(("type", "status", "method", "store_id"))),
        sums=("transactions", "amount"),
        also=", LATERAL (VALUES (g.day), (NULL)) AS d (day)",
    ),
)

ACCOUNT_TALLIES = Folding(
    "ledger_tally_changes",
    Tally(
        "ledger_tallies",
        key="ledger_tallies_kind_key",
        kinds=(
            *same(("account_kind", "is_cost")),
            ("period", "p.period"),
            ("began_at", "date_bin(p.width, g.quarter_at, '2001-01-01Z')"),
            ("store_id", "g.store_id"),
        ),
        sums=("amount",),
        also=""", (VALUES ('quarter', interval '15 minutes'), ('hour', interval '1 hour'))
            AS p (period, width)""",
    ),
)


async def insert_days(db: Db, books: Sequence[UUID], before: date, limit: int) -> int:
    """Sum up the next day with entries of some of these books, by book_id; how many."""
    return await db.fetchval(
        """
        WITH next AS MATERIALIZED (
            SELECT b.book_id, d.day
            FROM unnest($1::uuid[]) AS b (book_id)
            LEFT JOIN ledger_summed_days s ON s.book_id = b.book_id
            CROSS JOIN LATERAL (
                SELECT (made_at(t.id) AT TIME ZONE 'UTC')::date AS day
                FROM ledger_transfers t
                WHERE t.book_id = b.book_id
                    AND t.id >= least_id(coalesce(s.day + 1, '1970-01-01')::timestamp
                        AT TIME ZONE 'UTC')
                ORDER BY t.id LIMIT 1
            ) d
            WHERE d.day < $2
            LIMIT $3
        ), summed AS (
            INSERT INTO ledger_summed_days AS s (book_id, day)
            SELECT book_id, day FROM next
            ON CONFLICT (book_id) DO UPDATE SET day = excluded.day WHERE s.day < excluded.day
            RETURNING s.book_id, s.day
        ), entry AS (
            SELECT t.book_id, t.happened_at, t.currency, side.kind, side.debit, side.credit
            FROM summed d
            JOIN ledger_transfers t ON t.book_id = d.book_id
                AND t.id >= least_id(d.day::timestamp AT TIME ZONE 'UTC')
                AND t.id < least_id((d.day + 1)::timestamp AT TIME ZONE 'UTC')
            CROSS JOIN LATERAL (VALUES (t.debit_kind, t.amount::numeric, 0),
                (t.credit_kind, 0, t.amount)) AS side (kind, debit, credit)
        ), kept AS (
            INSERT INTO ledger_sums AS s (book_id, period, began_at, account_kind, currency,
                debits, credits)
            SELECT e.book_id, p.period, date_bin(p.width, e.happened_at, '2001-01-01Z'), e.kind,
                e.currency, sum(e.debit), sum(e.credit)
            FROM entry e, (VALUES ('quarter', interval '15 minutes'), ('day', interval '1 day'))
                AS p (period, width)
            GROUP BY 1, 2, 3, 4, 5
            ON CONFLICT (book_id, period, began_at, account_kind, currency) DO UPDATE SET
                debits = s.debits + excluded.debits, credits = s.credits + excluded.credits
        )
        SELECT count(*) FROM summed
        """,
        books,
        before,
        limit,
    )
