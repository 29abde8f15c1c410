"""Statements on the payments of folios."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.kit.ids import BookKey, CustomerId


class FolioPaymentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payment of a folio as it is written."""

    id: UUID
    customer_id: CustomerId
    kind: str
    method: str
    amount: Decimal
    reference: str | None
    reason: str | None
    transaction_id: UUID
    link_id: UUID | None
    receipt_id: UUID | None
    recorded_by_id: UUID
    recorded_by_name: str
    happened_at: datetime


async def insert_payment(db: Db, key: BookKey, row: FolioPaymentRow, now: datetime) -> None:
    """Keep a payment of a stay, or a refund."""
    await db.execute(
        """
        INSERT INTO folio_payments (book_id, reservation_id, id, customer_id, kind, method, amount,
            reference, reason, transaction_id, link_id, receipt_id, recorded_by_id,
            recorded_by_name, happened_at, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def find_payer(db: Db, key: BookKey, receipt_id: UUID) -> CustomerId | None:
    """The customer whose credit a receipt of a provider's became."""
    return await db.fetchval(
        """
        SELECT customer_id FROM folio_payments
        WHERE book_id = $1 AND reservation_id = $2 AND receipt_id = $3 AND kind = 'payment'
        """,
        *key,
        receipt_id,
    )


async def list_payers(db: Db, key: BookKey) -> dict[UUID, CustomerId]:
    """The payments by providers that came in for a stay, with the customer whose credit each is."""
    rows = await db.fetch(
        """
        SELECT receipt_id, customer_id FROM folio_payments
        WHERE book_id = $1 AND reservation_id = $2 AND receipt_id IS NOT NULL AND kind = 'payment'
        """,
        *key,
    )
    return {row["receipt_id"]: row["customer_id"] for row in rows}


find_there = StoredIds("folio_payments")


async def list_with_money(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """Payments by id, with the sums of their transfers and their transaction."""
    return await db.fetch(
        """
        SELECT p.id, p.kind, p.amount, p.method,
            coalesce((SELECT sum(CASE WHEN t.credit_kind = 'customer_credit'
                    AND t.credit_owner = p.customer_id THEN t.amount
                    WHEN t.debit_kind = 'customer_credit'
                    AND t.debit_owner = p.customer_id THEN -t.amount END)
                FROM ledger_transfers t WHERE t.book_id = $1 AND t.source_id = p.id
                    AND t.source_type = 'folio_payment'), 0) AS posted,
            x.amount AS seen, x.method AS seen_method, x.status
        FROM folio_payments p
        JOIN transactions x ON x.book_id = p.book_id AND x.id = p.transaction_id
        WHERE p.book_id = $1 AND p.id > $2 ORDER BY p.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )


async def list_overspent(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """Stays by id, with their payments, and uses that don't fit their payment."""
    return await db.fetch(
        """
        WITH stays AS MATERIALIZED (
            SELECT r.id, r.short_code FROM hotel_reservations r
            WHERE r.book_id = $1 AND r.id > $2 ORDER BY r.id LIMIT $3
        )
        SELECT s.id, s.short_code, p.paid, u.used, u.false_uses
        FROM stays s
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(CASE WHEN f.kind = 'payment' THEN f.amount ELSE -f.amount END), 0)
                AS paid
            FROM folio_payments f WHERE f.book_id = $1 AND f.reservation_id = s.id
        ) AS p
        CROSS JOIN LATERAL (
            -- An order holds no more of the folio than it holds of credit that it needs.
            SELECT coalesce(sum(greatest(least(w.used, w.credit), 0)), 0) AS used,
                coalesce(sum(w.false_uses), 0)::bigint AS false_uses
            FROM (
                SELECT sum(f.amount) AS used,
                    min(o.credit_amount - CASE
                        WHEN o.deleted_at IS NOT NULL OR o.status = 'cancelled'
                            THEN o.amount_paid - o.change_amount
                        WHEN o.status = 'scheduled' THEN 0
                        ELSE greatest(o.amount_paid - o.total_amount + o.refunded_amount, 0)
                            - o.change_amount END) AS credit,
                    count(*) FILTER (WHERE y.amount <> f.amount OR y.method <> 'credit')
                        AS false_uses
                FROM folio_uses f
                JOIN payments y ON y.book_id = $1 AND y.order_id = f.order_id
                    AND y.id = f.payment_id
                JOIN orders o ON o.book_id = $1 AND o.id = f.order_id
                WHERE f.book_id = $1 AND f.reservation_id = s.id GROUP BY f.order_id
            ) AS w
        ) AS u
        ORDER BY s.id
        """,
        book_id,
        after,
        limit,
    )
