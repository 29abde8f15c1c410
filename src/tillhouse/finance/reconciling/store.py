"""Statements that read both sides of a reconciliation."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.finance.reconciling.types import (
    OwnBalances,
    OwnDispute,
    OwnPayment,
    OwnPayout,
    OwnRefund,
    ProviderPeriod,
    ReconciledPart,
)
from tillhouse.ledger.rules import NO_OWNER

_PAYMENT: LiteralString = """
    SELECT p.id, p.status, p.amount, p.fee, p.currency, p.returned_told AS returned, p.paid_at,
        p.returned_amount, p.returned_applied, p.returned_fee,
        p.applied_at IS NOT NULL AS is_applied,
        split_part(p.provider_transaction_id, '#', 1) AS transaction
    FROM payins p WHERE p.book_id = $1 AND p.provider = $2
"""
_PAYOUT: LiteralString = """
    SELECT w.id, w.provider_key AS reference, w.status, w.amount, w.fee, w.asked_at, w.sent_at,
        w.order_id IS NOT NULL AS is_refund
    FROM withdrawals w WHERE w.book_id = $1 AND w.provider = $2
"""


_REFUND: LiteralString = """
    SELECT f.id, f.status, f.amount, f.taken_before, f.asked_at, f.provider_refund_id,
        split_part(p.provider_transaction_id, '#', 1) AS transaction_id,
        v.reference AS payment_reference
    FROM (
        SELECT r.book_id, r.id, r.status, r.amount, r.taken_before, r.asked_at,
            r.provider_refund_id, r.provider, r.payin_id
        FROM refunds r WHERE r.book_id = $1 AND r.hold_id IS NOT NULL
        UNION ALL
        SELECT s.book_id, s.id, s.status, s.amount, s.taken_before, s.asked_at,
            s.provider_refund_id, s.provider, s.payin_id
        FROM folio_returns s WHERE s.book_id = $1
    ) f
    JOIN payins p ON p.book_id = f.book_id AND p.id = f.payin_id
    LEFT JOIN virtual_accounts v ON v.book_id = p.book_id AND v.id = p.virtual_account_id
    WHERE f.book_id = $1 AND f.provider = $2
"""

_DISPUTE: LiteralString = """
    SELECT d.provider_dispute_id, d.status, d.currency, d.taken_told, d.taken_amount, d.fee,
        d.opened_at, split_part(p.provider_transaction_id, '#', 1) AS transaction
    FROM disputes d JOIN payins p ON p.book_id = d.book_id AND p.id = d.payin_id
    WHERE d.book_id = $1 AND d.provider = $2
"""


async def list_books(db: Db, scope: ReconciledPart) -> Sequence[Record]:
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


async def list_providers(db: Db, book_id: UUID, scope: ReconciledPart) -> Sequence[Record]:
    """The providers that a book has, or had money by in this time."""
    return await db.fetch(
        """
        SELECT n.provider, min(c.created_at) AS connected_at,
            (SELECT u.currency FROM books b JOIN businesses u ON u.id = b.business_id
                WHERE b.id = $1) AS currency
        FROM (
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
            UNION
            SELECT provider FROM folio_returns
            WHERE book_id = $1 AND created_at >= $2 AND created_at < $3
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
    db: Db, period: ProviderPeriod, transactions: Sequence[str]
) -> list[OwnPayment]:
    """Everything that is recorded of some transactions of a provider's."""
    rows = await db.fetch(
        _PAYMENT
        + """ AND split_part(p.provider_transaction_id, '#', 1) = ANY($3)
        ORDER BY p.created_at, p.id
        """,
        *period.key,
        transactions,
    )
    return [OwnPayment(**row) for row in rows]


async def list_payments(
    db: Db, period: ProviderPeriod, after: OwnPayment | None, limit: int
) -> list[OwnPayment]:
    """A page of the payments of a period, the earliest first."""
    rows = await db.fetch(
        _PAYMENT
        + """ AND p.paid_at >= $3 AND p.paid_at < $4 AND (p.paid_at, p.id) > ($5, $6)
        ORDER BY p.paid_at, p.id LIMIT $7
        """,
        *period.key,
        *period.span,
        after.paid_at if after else period.since,
        after.id if after else NO_OWNER,
        limit,
    )
    return [OwnPayment(**row) for row in rows]


async def list_payouts(db: Db, period: ProviderPeriod, after: UUID, limit: int) -> list[OwnPayout]:
    """A page of the withdrawals that were sent in a period, or are under way."""
    rows = await db.fetch(
        _PAYOUT
        + """ AND w.id > $5 AND (w.status = 'processing'
            OR (w.sent_at >= $3 AND w.sent_at < $4))
        ORDER BY w.id LIMIT $6
        """,
        *period.key,
        *period.span,
        after,
        limit,
    )
    return [OwnPayout(**row) for row in rows]


async def list_of_references(
    db: Db, period: ProviderPeriod, references: Sequence[str]
) -> list[OwnPayout]:
    """The withdrawals that a provider calls so."""
    rows = await db.fetch(_PAYOUT + " AND w.provider_key = ANY($3)", *period.key, references)
    return [OwnPayout(**row) for row in rows]


async def list_refunds(db: Db, period: ProviderPeriod, after: UUID, limit: int) -> list[OwnRefund]:
    """A page of the refunds that were asked for in a period, or are under way."""
    rows = await db.fetch(
        _REFUND
        + """ AND f.id > $5 AND f.asked_at IS NOT NULL
            AND (f.status = 'pending' OR (f.asked_at >= $3 AND f.asked_at < $4))
        ORDER BY f.id LIMIT $6
        """,
        *period.key,
        *period.span,
        after,
        limit,
    )
    return [OwnRefund(**row) for row in rows]


async def list_of_refunds(
    db: Db, period: ProviderPeriod, ids: Sequence[UUID], transactions: Sequence[str]
) -> list[OwnRefund]:
    """The refunds of a provider with these ids, and those of some payments."""
    rows = await db.fetch(
        _REFUND
        + """ AND (f.id = ANY($3) OR f.payin_id IN (
            SELECT o.id FROM payins o
            WHERE o.book_id = $1 AND o.provider = $2
                AND split_part(o.provider_transaction_id, '#', 1) = ANY($4)))
        """,
        *period.key,
        ids,
        transactions,
    )
    return [OwnRefund(**row) for row in rows]


async def list_of_disputes(
    db: Db, period: ProviderPeriod, names: Sequence[str]
) -> list[OwnDispute]:
    """The disputes that the provider calls so."""
    rows = await db.fetch(_DISPUTE + " AND d.provider_dispute_id = ANY($3)", *period.key, names)
    return [OwnDispute(**row) for row in rows]


async def list_disputes(db: Db, period: ProviderPeriod, after: str, limit: int) -> list[OwnDispute]:
    """A page of the disputes that were opened in a period, by the provider's names."""
    rows = await db.fetch(
        _DISPUTE
        + """ AND d.opened_at >= $3 AND d.opened_at < $4 AND d.provider_dispute_id > $5
        ORDER BY d.provider_dispute_id LIMIT $6
        """,
        *period.key,
        *period.span,
        after,
        limit,
    )
    return [OwnDispute(**row) for row in rows]


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
    """A page of the links, with their own sums received and those of their payments."""
    return await db.fetch(
        """
        SELECT l.id, l.reference, l.amount_received AS kept, l.payments_count AS count,
            p.amount, p.payments
        FROM payment_links l CROSS JOIN LATERAL (
            SELECT coalesce(sum(p.amount - p.returned_applied), 0) AS amount,
                count(*) FILTER (WHERE NOT (p.returned_applied > 0
                    AND (p.status = 'reversed' OR p.returned_amount >= p.amount))) AS payments
            FROM payins p
            WHERE p.book_id = $1 AND p.target_type = 'payment_link' AND p.target_id = l.id
                AND p.applied_at IS NOT NULL AND NOT p.conditions && '{other_currency}'
                AND p.applied_at IS DISTINCT FROM p.reversed_at
        ) p
        WHERE l.book_id = $1 AND l.id > $2 ORDER BY l.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )


async def show_wallet(db: Db, book_id: UUID) -> dict[str, Any]:
    """The balance of the wallet, and the sum that its payments and withdrawals come to."""
    [row] = await db.fetch(
        """
        SELECT coalesce((SELECT b.credits - b.debits FROM ledger_balances b
                WHERE b.book_id = $1 AND b.kind = 'wallet' AND b.owner_id = $2), 0) AS balance,
            coalesce((SELECT sum(p.amount - p.fee - p.returned_amount + p.returned_fee)
                FROM payins p
                WHERE p.book_id = $1 AND p.target_id IS NOT NULL
                    AND NOT p.conditions && '{other_currency}'), 0) AS paid_in,
            coalesce((SELECT sum(t.amount) FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_type = 'payin'
                    AND t.kind = 'reversal_claim'), 0) AS claimed,
            coalesce((SELECT sum(w.fee - w.fee_due - w.amount_due
                    + CASE WHEN w.status IN ('processing', 'completed') THEN w.amount ELSE 0 END)
                FROM withdrawals w WHERE w.book_id = $1), 0) AS paid_out,
            coalesce((SELECT sum(CASE WHEN t.credit_kind = 'wallet' THEN t.amount
                    ELSE -t.amount END)
                FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_type NOT IN ('payin', 'withdrawal')
                    AND 'wallet' IN (t.credit_kind, t.debit_kind)), 0) AS other
        """,
        book_id,
        NO_OWNER,
    )
    return dict(row)


async def find_own_balances(db: Db, book_id: UUID) -> OwnBalances:
    """The balance of the wallet, and that booked at providers, in the book's currency."""
    [row] = await db.fetch(
        """
        SELECT coalesce((SELECT b.credits - b.debits FROM ledger_balances b
                WHERE b.book_id = $1 AND b.kind = 'wallet' AND b.owner_id = $2), 0) AS wallet,
            coalesce((SELECT sum(t.amount) FROM ledger_tallies t
                WHERE t.book_id = $1 AND t.account_kind = 'provider_clearing'
                    AND t.period = 'hour'), 0)
                + coalesce((SELECT sum(c.amount) FROM ledger_tally_changes c
                    WHERE c.book_id = $1 AND c.account_kind = 'provider_clearing'), 0) AS booked
        """,
        book_id,
        NO_OWNER,
    )
    return OwnBalances(row["wallet"], row["booked"])


async def list_connected(db: Db, provider: str) -> Sequence[Record]:
    """The connections to a provider, of every book_id."""
    return await db.fetch(
        """
        SELECT p.id, p.book_id, b.business_id, p.credentials_sealed
        FROM payment_providers p JOIN books b ON b.id = p.book_id
        WHERE p.provider = $1 AND p.credentials_sealed IS NOT NULL
        """,
        provider,
    )


async def find_references_elsewhere(db: Db, book_id: UUID, references: Sequence[str]) -> set[str]:
    """Those of the references that another book has given to a payer."""
    rows = await db.fetch(
        "SELECT a.reference FROM virtual_accounts a WHERE a.reference = ANY($2)"
        " AND a.book_id <> $1",
        book_id,
        references,
    )
    return {row["reference"] for row in rows}


async def find_payouts_elsewhere(db: Db, book_id: UUID, references: Sequence[str]) -> set[str]:
    """Those of the references that a withdrawal of another book has."""
    rows = await db.fetch(
        "SELECT w.provider_key FROM withdrawals w WHERE w.provider_key = ANY($2)"
        " AND w.book_id <> $1",
        book_id,
        references,
    )
    return {row["provider_key"] for row in rows}


async def find_recorded_in(
    db: Db, books: Sequence[UUID], provider: str, transactions: Sequence[str]
) -> set[str]:
    """Those of a provider's transactions that one of these books has recorded."""
    rows = await db.fetch(
        """
        SELECT DISTINCT split_part(p.provider_transaction_id, '#', 1) AS transaction
        FROM payins p WHERE p.book_id = ANY($1) AND p.provider = $2
            AND split_part(p.provider_transaction_id, '#', 1) = ANY($3)
        """,
        books,
        provider,
        transactions,
    )
    return {row["transaction"] for row in rows}
