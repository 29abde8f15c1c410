"""Statements that hold withdrawals against the ledger."""

from collections.abc import Sequence
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.jobs.store import StuckRows

find_there = StoredIds("withdrawals")


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


STUCK_WITHDRAWALS = StuckRows(
    "withdrawals w",
    shown="w.id, w.status, w.provider",
    kinds="'withdrawal', 'withdrawal_look'",
    # One that is frozen and was not handed over gets its job back when withdrawals go again.
    on_their_way="""w.status IN ('requested', 'processing')
        AND NOT EXISTS (SELECT FROM jobs j
            WHERE j.book_id = w.book_id AND j.kind = 'payouts_resumed' AND j.dead_at IS NULL)
        AND NOT EXISTS (SELECT FROM payout_controls c
            WHERE c.book_id = w.book_id AND c.frozen_at IS NOT NULL
                AND (w.status = 'requested' OR NOT w.is_unclear))""",
)


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
