"""Statements that hold withdrawals against the ledger."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db


async def find_there(db: Db, book_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
    """Those of the ids that are withdrawals."""
    rows = await db.fetch(
        "SELECT id FROM withdrawals WHERE book_id = $1 AND id = ANY($2)", book_id, list(ids)
    )
    return {row["id"] for row in rows}


async def list_with_money(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """Withdrawals by id, with the sums of their hold, transfers, transaction and refund."""
    return await db.fetch(
        """
        SELECT w.id, w.status, w.amount, w.fee, w.fee_due, w.amount_due, h.status AS hold,
            x.status AS seen_status, x.amount AS seen_amount,
            w.order_id IS NOT NULL AS is_refund, f.status AS refund_status,
            f.amount AS refund_amount, f.shortfall,
            f.transaction_id IS NOT DISTINCT FROM w.transaction_id AS is_one, m.*
        FROM withdrawals w
        LEFT JOIN refunds f ON f.book_id = w.book_id AND f.withdrawal_id = w.id
        LEFT JOIN ledger_holds h ON h.book_id = w.book_id AND h.id = w.hold_id
        LEFT JOIN transactions x ON x.book_id = w.book_id AND x.id = w.transaction_id
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(t.amount) FILTER (WHERE t.debit_kind = 'wallet'), 0)
                    - coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'wallet'), 0) AS left,
                coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'withdrawals_in_transit'), 0)
                    - coalesce(sum(t.amount)
                        FILTER (WHERE t.debit_kind = 'withdrawals_in_transit'), 0) AS transit,
                coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'provider_clearing'), 0)
                    - coalesce(sum(t.amount)
                        FILTER (WHERE t.debit_kind = 'provider_clearing'), 0) AS paid,
                coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'wallet_funding'), 0)
                    - coalesce(sum(t.amount)
                        FILTER (WHERE t.debit_kind = 'wallet_funding'), 0) AS funded,
                coalesce(sum(t.amount) FILTER (WHERE t.debit_kind = 'fees'), 0)
                    - coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'fees'), 0) AS fees
            FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.source_id = w.id AND t.source_type = 'withdrawal'
        ) m
        WHERE w.book_id = $1 AND w.id > $2 ORDER BY w.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )


# A withdrawal that is frozen and was not handed over gets its job back when withdrawals go again.
_STUCK: LiteralString = """
    w.status IN ('requested', 'processing')
        AND NOT EXISTS (SELECT FROM jobs j
            WHERE j.book_id = w.book_id AND j.subject_id = w.id AND j.dead_at IS NULL
                AND j.kind IN ('withdrawal', 'withdrawal_look'))
        AND NOT EXISTS (SELECT FROM jobs j
            WHERE j.book_id = w.book_id AND j.kind = 'payouts_resumed' AND j.dead_at IS NULL)
        AND NOT EXISTS (SELECT FROM payout_controls c
            WHERE c.book_id = w.book_id AND c.frozen_at IS NOT NULL
                AND (w.status = 'requested' OR NOT w.is_unclear))
"""


async def list_stuck(db: Db, book_id: UUID, limit: int) -> Sequence[Record]:
    """Withdrawals of a book that no job brings to their end, with why the last one gave up."""
    return await db.fetch(
        """
        SELECT w.id, w.status, w.provider, coalesce((
                SELECT j.reason FROM jobs j
                WHERE j.book_id = w.book_id AND j.subject_id = w.id AND j.dead_at IS NOT NULL
                    AND j.kind IN ('withdrawal', 'withdrawal_look')
                ORDER BY j.dead_at DESC LIMIT 1), 'its job is gone') AS reason
        FROM withdrawals w WHERE w.book_id = $1 AND
        """
        + _STUCK
        + " ORDER BY w.id LIMIT $2",
        book_id,
        limit,
    )


async def count_stuck(db: Db) -> Record:
    """How many are stuck in all books, and of how many books they are."""
    [row] = await db.fetch(
        """
        SELECT count(*) AS count, count(DISTINCT w.book_id) AS books FROM withdrawals w WHERE
        """
        + _STUCK
    )
    return row


async def list_false_spends(db: Db, book_id: UUID) -> Sequence[Record]:
    """Limits that count more or less than the withdrawals of their day come to."""
    return await db.fetch(
        """
        SELECT * FROM (
            SELECT s.lineage_id, s.day, s.spent, (
                SELECT coalesce(sum(w.amount), 0) FROM withdrawals w
                WHERE w.book_id = $1 AND w.lineage_id = s.lineage_id AND w.counted_on = s.day
                    AND w.created_at > s.day - interval '3 days'
                    AND w.status IN ('requested', 'processing', 'completed')) AS counted
            FROM withdrawal_spends s WHERE s.book_id = $1
            UNION ALL
            SELECT NULL, c.day, c.spent, (
                SELECT coalesce(sum(w.amount), 0) FROM withdrawals w
                WHERE w.book_id = $1 AND w.counted_on = c.day
                    AND w.created_at > c.day - interval '3 days'
                    AND w.status IN ('requested', 'processing', 'completed'))
            FROM payout_controls c WHERE c.book_id = $1
        ) s WHERE s.spent <> s.counted
        """,
        book_id,
    )
