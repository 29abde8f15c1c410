"""Statements that read both sides of a reconciliation."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.finance.reconciling.types import OwnPayment, OwnPayout, OwnRefund, Scope
from tillhouse.ledger.rules import NOBODY

_PAYMENT: LiteralString = """
    SELECT p.id, p.status, p.amount, p.fee, p.currency, p.paid_at,
        split_part(p.provider_transaction_id, '#', 1) AS transaction
    FROM payins p WHERE p.book_id = $1 AND p.provider = $2
"""
_PAYOUT: LiteralString = """
    SELECT w.id, w.provider_key AS reference, w.status, w.amount, w.fee, w.asked_at
    FROM withdrawals w WHERE w.book_id = $1 AND w.provider = $2
"""


_REFUND: LiteralString = """
    SELECT f.id, f.status, f.amount, f.asked_at, f.provider_refund_id,
        p.provider_transaction_id AS transaction_id, v.reference AS payment_reference
    FROM refunds f
    JOIN payins p ON p.book_id = f.book_id AND p.id = f.payin_id
    LEFT JOIN virtual_accounts v ON v.book_id = p.book_id AND v.id = p.virtual_account_id
    WHERE f.book_id = $1 AND f.provider = $2 AND f.hold_id IS NOT NULL
"""


async def list_books(db: Db, scope: Scope) -> Sequence[Record]:
    """The books of a scope, by business."""
    return await db.fetch(
        """
        SELECT b.id AS book_id, b.business_id, b.environment FROM books b
        WHERE ($1::uuid IS NULL OR b.business_id = $1) AND ($2::uuid IS NULL OR b.id = $2)
        ORDER BY b.business_id, b.environment
        """,
        scope.business_id,
        scope.book,
    )


async def list_providers(db: Db, book_id: UUID, scope: Scope) -> Sequence[Record]:
    """The providers that a book has, or had money by in this time."""
    return await db.fetch(
        """
        SELECT n.provider, min(c.created_at) AS connected_at FROM (
            SELECT provider FROM payment_providers
            WHERE book_id = $1 AND credentials_sealed IS NOT NULL
            UNION
            SELECT 'sandbox' FROM books WHERE id = $1 AND environment = 'test'
            UNION
            SELECT provider FROM payins WHERE book_id = $1 AND paid_at >= $2 AND paid_at < $3
            UNION
            SELECT provider FROM withdrawals
            WHERE book_id = $1 AND created_at >= $2 AND created_at < $3
            UNION
            SELECT provider FROM refunds
            WHERE book_id = $1 AND hold_id IS NOT NULL AND created_at >= $2 AND created_at < $3
        ) n
        LEFT JOIN payment_providers c ON c.book_id = $1 AND c.provider = n.provider
        WHERE $4::text IS NULL OR n.provider = $4
        GROUP BY n.provider ORDER BY n.provider
        """,
        book_id,
        scope.since,
        scope.until,
        scope.provider,
    )


async def list_of_transactions(
    db: Db, book_id: UUID, provider: str, transactions: Sequence[str]
) -> list[OwnPayment]:
    """Everything that is recorded of some transactions of a provider's."""
    rows = await db.fetch(
        _PAYMENT
        + """ AND split_part(p.provider_transaction_id, '#', 1) = ANY($3)
        ORDER BY p.created_at, p.id
        """,
        book_id,
        provider,
        transactions,
    )
    return [OwnPayment(**row) for row in rows]


async def list_payments(
    db: Db, which: tuple[UUID, str], span: tuple[datetime, datetime], after: OwnPayment | None,
    limit: int,
) -> list[OwnPayment]:  # fmt: skip
    """A page of the payments (book, provider) of a time, the earliest first."""
    since, until = span
    rows = await db.fetch(
        _PAYMENT
        + """ AND p.paid_at >= $3 AND p.paid_at < $4 AND (p.paid_at, p.id) > ($5, $6)
        ORDER BY p.paid_at, p.id LIMIT $7
        """,
        *which,
        since,
        until,
        after.paid_at if after else since,
        after.id if after else NOBODY,
        limit,
    )
    return [OwnPayment(**row) for row in rows]


async def list_payouts(
    db: Db, which: tuple[UUID, str], span: tuple[datetime, datetime], after: UUID, limit: int
) -> list[OwnPayout]:
    """A page of the withdrawals (book, provider) that were sent in a time, or are under way."""
    rows = await db.fetch(
        _PAYOUT
        + """ AND w.id > $5 AND (w.status = 'processing'
            OR (w.sent_at >= $3 AND w.sent_at < $4))
        ORDER BY w.id LIMIT $6
        """,
        *which,
        *span,
        after,
        limit,
    )
    return [OwnPayout(**row) for row in rows]


async def list_of_references(
    db: Db, book_id: UUID, provider: str, references: Sequence[str]
) -> list[OwnPayout]:
    """The withdrawals that a provider calls so."""
    rows = await db.fetch(_PAYOUT + " AND w.provider_key = ANY($3)", book_id, provider, references)
    return [OwnPayout(**row) for row in rows]


async def list_refunds(
    db: Db, which: tuple[UUID, str], span: tuple[datetime, datetime], after: UUID, limit: int
) -> list[OwnRefund]:
    """A page of the refunds (book, provider) that were asked for in a time, or are under way."""
    rows = await db.fetch(
        _REFUND
        + """ AND f.id > $5 AND f.asked_at IS NOT NULL
            AND (f.status = 'pending' OR (f.asked_at >= $3 AND f.asked_at < $4))
        ORDER BY f.id LIMIT $6
        """,
        *which,
        *span,
        after,
        limit,
    )
    return [OwnRefund(**row) for row in rows]


async def list_of_refunds(
    db: Db, which: tuple[UUID, str], ids: Sequence[UUID], transactions: Sequence[str]
) -> list[OwnRefund]:
    """The refunds (book, provider) of these ids, and those of some payments."""
    rows = await db.fetch(
        _REFUND
        + """ AND (f.id = ANY($3) OR f.payin_id IN (
            SELECT o.id FROM payins o
            WHERE o.book_id = $1 AND o.provider = $2 AND o.provider_transaction_id = ANY($4)))
        """,
        *which,
        ids,
        transactions,
    )
    return [OwnRefund(**row) for row in rows]


async def list_unbooked(
    db: Db, book_id: UUID, span: tuple[datetime, datetime], limit: int
) -> Sequence[Record]:
    """Payments that were applied, and that no order, no stay and no wallet has."""
    return await db.fetch(
        """
        SELECT p.id, p.provider, p.amount FROM payins p
        WHERE p.book_id = $1 AND p.paid_at >= $2 AND p.paid_at < $3
            AND p.target_id IS NOT NULL AND NOT p.conditions && '{other_currency}'
            AND p.applied_at IS NOT NULL AND p.applied_at IS DISTINCT FROM p.reversed_at
            AND NOT EXISTS (SELECT FROM payments y
                WHERE y.book_id = $1 AND y.receipt_id = p.id
                    AND y.amount::numeric = p.amount::numeric)
            AND NOT EXISTS (SELECT FROM folio_payments f
                WHERE f.book_id = $1 AND f.receipt_id = p.id AND f.kind = 'payment'
                    AND f.amount::numeric = p.amount::numeric)
            AND NOT EXISTS (SELECT FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_id = p.id AND t.source_type = 'payin'
                    AND t.kind = 'wallet_deposit')
        ORDER BY p.paid_at, p.id LIMIT $4
        """,
        book_id,
        *span,
        limit,
    )


async def list_links(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """A page of the links, with what they and their payments say they have received."""
    return await db.fetch(
        """
        SELECT l.id, l.reference, l.amount_received AS kept, l.payments_count AS count,
            p.amount, p.payments
        FROM payment_links l CROSS JOIN LATERAL (
            SELECT coalesce(sum(p.amount), 0) AS amount, count(*) AS payments FROM payins p
            WHERE p.book_id = $1 AND p.target_type = 'payment_link' AND p.target_id = l.id
                AND p.applied_at IS NOT NULL AND NOT p.conditions && '{other_currency}'
                AND p.applied_at IS DISTINCT FROM p.reversed_at
                AND (p.status = 'received' OR p.reversal_applied_at IS NULL)
        ) p
        WHERE l.book_id = $1 AND l.id > $2 ORDER BY l.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )


async def show_wallet(db: Db, book_id: UUID) -> dict[str, Any]:
    """The balance of the wallet, and the sum that its payments and withdrawals come to."""
    row = await db.fetchrow(
        """
        SELECT coalesce((SELECT b.credits - b.debits FROM ledger_balances b
                WHERE b.book_id = $1 AND b.kind = 'wallet' AND b.owner_id = $2), 0) AS balance,
            coalesce((SELECT sum(p.amount - p.fee) FROM payins p
                WHERE p.book_id = $1 AND p.status = 'received' AND p.target_id IS NOT NULL
                    AND NOT p.conditions && '{other_currency}'), 0) AS paid_in,
            coalesce((SELECT sum(t.amount) FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_type = 'payin'
                    AND t.kind = 'reversal_claim'), 0) AS claimed,
            coalesce((SELECT sum(w.amount) FROM withdrawals w
                WHERE w.book_id = $1 AND w.status IN ('processing', 'completed')), 0) AS paid_out,
            coalesce((SELECT sum(CASE WHEN t.credit_kind = 'wallet' THEN t.amount
                    ELSE -t.amount END)
                FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_type NOT IN ('payin', 'withdrawal')
                    AND 'wallet' IN (t.credit_kind, t.debit_kind)), 0) AS other
        """,
        book_id,
        NOBODY,
    )
    assert row is not None, "it has no condition"  # noqa: S101
    return dict(row)
