"""Statements on disputes."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, BookKey, OrderId
from tillhouse.kit.page import Page
from tillhouse.ledger.rules import NO_OWNER
from tillhouse.payins.disputes.rules import DisputeFacts
from tillhouse.payins.disputes.types import DisputedCredit, DisputedStayCredit, DisputeRow
from tillhouse.providers.payments.provider import SeenDispute

_ROW: LiteralString = """
    SELECT d.id, d.payin_id, d.status, d.amount, d.currency, d.taken_told, d.taken_amount, d.fee,
        d.claimed, d.closed_at, d.updated_at
    FROM disputes d WHERE d.book_id = $1
"""
_SHOWN: LiteralString = """
    SELECT d.id, d.status, d.amount, d.taken_amount, d.fee, d.currency, d.reason,
        iso(d.evidence_due_at) AS evidence_due_by, d.provider, d.provider_dispute_id,
        split_part(p.provider_transaction_id, '#', 1) AS provider_transaction_id,
        d.order_id, o.short_code AS order_short_code,
        CASE WHEN l.target_type = 'debt' THEN l.target_id END AS debt_id,
        r.id AS reservation_id, r.short_code AS reservation_short_code,
        CASE WHEN p.target_type = 'payment_link' THEN p.target_id END AS payment_link_id,
        p.amount AS payment_amount, iso(d.opened_at) AS opened_at, iso(d.closed_at) AS closed_at,
        iso(d.created_at) AS created_at, iso(d.updated_at) AS updated_at
    FROM disputes d
    JOIN payins p ON p.book_id = d.book_id AND p.id = d.payin_id
    LEFT JOIN orders o ON o.book_id = d.book_id AND o.id = d.order_id
    LEFT JOIN payment_links l ON p.target_type = 'payment_link'
        AND l.book_id = p.book_id AND l.id = p.target_id
    LEFT JOIN folio_payments f ON f.book_id = p.book_id AND f.receipt_id = p.id
        AND f.kind = 'payment'
    LEFT JOIN hotel_reservations r ON r.book_id = f.book_id AND r.id = f.reservation_id
    WHERE d.book_id = $1
"""


async def find_dispute(
    db: Db, book_id: BookId, provider: str, provider_dispute_id: str
) -> DisputeRow | None:
    """The dispute of this name, of a payment that is locked."""
    row = await db.fetchrow(
        _ROW + " AND d.provider = $2 AND d.provider_dispute_id = $3",
        book_id,
        provider,
        provider_dispute_id,
    )
    return DisputeRow(**row) if row else None


async def list_of_payment(db: Db, book_id: BookId, payin_id: UUID) -> list[DisputeRow]:
    """The disputes of a payment that is locked, the earliest first."""
    rows = await db.fetch(
        _ROW + " AND d.payin_id = $2 ORDER BY d.opened_at, d.id", book_id, payin_id
    )
    return [DisputeRow(**row) for row in rows]


async def insert_dispute(
    db: Db, key: BookKey, payin_id: UUID, seen: SeenDispute, now: datetime
) -> None:
    """Keep a dispute that is news, with nothing booked of it yet."""
    await db.execute(
        """
        INSERT INTO disputes (book_id, id, payin_id, order_id, provider, provider_dispute_id,
            status, reason, amount, currency, taken_told, evidence_due_at, opened_at, closed_at,
            created_at, updated_at)
        SELECT p.book_id, $2, p.id, v.order_id, p.provider, $4, $5, $6, $7, $8, $9, $10,
            coalesce($11, $13::timestamptz), $12, $13, $13
        FROM payins p
        LEFT JOIN virtual_accounts v ON v.book_id = p.book_id AND v.id = p.virtual_account_id
        WHERE p.book_id = $1 AND p.id = $3
        """,
        *key,
        payin_id,
        seen.provider_reference,
        seen.state,
        seen.reason,
        seen.amount,
        seen.currency,
        seen.taken,
        seen.evidence_by,
        seen.opened_at,
        seen.closed_at,
        now,
    )


async def update_told(db: Db, key: BookKey, seen: SeenDispute, now: datetime) -> None:
    """Keep the provider's latest state of it."""
    await db.execute(
        """
        UPDATE disputes SET status = $3, reason = coalesce($4, reason), amount = $5,
            taken_told = $6, evidence_due_at = coalesce($7, evidence_due_at), closed_at = $8,
            updated_at = $9
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        seen.state,
        seen.reason,
        seen.amount,
        seen.taken,
        seen.evidence_by,
        seen.closed_at,
        now,
    )


class BookedDispute(msgspec.Struct, frozen=True, kw_only=True):
    """The amounts of a dispute that are booked in all."""

    taken: Decimal
    fee: Decimal
    claimed: Decimal


async def update_booked(db: Db, key: BookKey, booked: BookedDispute, now: datetime) -> int:
    """Keep the booked amounts; how often one was booked."""
    return await db.fetchval(
        """
        UPDATE disputes SET taken_amount = $3, fee = $4, claimed = $5, updated_at = $6,
            postings = postings + 1
        WHERE book_id = $1 AND id = $2 RETURNING postings
        """,
        *key,
        *msgspec.structs.astuple(booked),
        now,
    )


class OpenDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute of which the wallet still owes a part, locked."""

    book_id: BookId
    id: UUID
    currency: str
    taken_amount: Decimal
    fee: Decimal
    claimed: Decimal


# Wallets are locked after disputes: one that is locked is left to its transaction.
_CLAIM: LiteralString = """
    SELECT d.book_id, d.id, p.currency, d.taken_amount, d.fee, d.claimed
    FROM disputes d
    JOIN ledger_balances b ON b.book_id = d.book_id AND b.kind = 'wallet' AND b.owner_id = $1
    JOIN payins p ON p.book_id = d.book_id AND p.id = d.payin_id
    WHERE d.claimed > 0 AND b.credits - b.debits - b.held > 0
"""
_FIRST: LiteralString = " ORDER BY d.book_id, d.id LIMIT 1 FOR NO KEY UPDATE OF d SKIP LOCKED"


async def lock_claim(db: Db) -> OpenDispute | None:
    """A dispute, of any book_id, of which something is claimed that its wallet has."""
    row = await db.fetchrow(_CLAIM + _FIRST, NO_OWNER)
    return OpenDispute(**row) if row else None


async def lock_claim_of_book(db: Db, book_id: BookId) -> OpenDispute | None:
    """One of a book."""
    row = await db.fetchrow(_CLAIM + " AND d.book_id = $2" + _FIRST, NO_OWNER, book_id)
    return OpenDispute(**row) if row else None


async def update_changes(db: Db, key: BookKey) -> Record:
    """Count one more change that is told of: how many, and the order that it is about."""
    [row] = await db.fetch(
        """
        UPDATE disputes SET changes = changes + 1 WHERE book_id = $1 AND id = $2
        RETURNING changes, order_id
        """,
        *key,
    )
    return row


_OF_CREDIT: LiteralString = """
    SELECT d.id, d.payin_id, d.taken_amount, d.credit_hold_id, d.credit_holds FROM disputes d
    WHERE d.book_id = $1 AND (d.taken_amount > 0 OR d.credit_hold_id IS NOT NULL)
"""
_LOCKED: LiteralString = " ORDER BY d.id FOR NO KEY UPDATE OF d"


async def lock_of_order(db: Db, book_id: BookId, order_id: OrderId) -> list[DisputedCredit]:
    """The disputes of an order that have taken money or hold credit, until the transaction ends."""
    rows = await db.fetch(_OF_CREDIT + " AND d.order_id = $2" + _LOCKED, book_id, order_id)
    return [DisputedCredit(**row) for row in rows]


async def lock_of_payments(
    db: Db, book_id: BookId, payin_ids: Sequence[UUID]
) -> list[DisputedCredit]:
    """Those of some payments."""
    rows = await db.fetch(
        _OF_CREDIT + " AND d.payin_id = ANY($2)" + _LOCKED, book_id, list(payin_ids)
    )
    return [DisputedCredit(**row) for row in rows]


async def lock_of_stay(db: Db, book_id: BookId, order_id: OrderId) -> list[DisputedStayCredit]:
    """Those of the money of the stay that an order belongs to, of the order's customer."""
    rows = await db.fetch(
        """
        SELECT d.id, d.payin_id, d.taken_amount, d.credit_hold_id, d.credit_holds,
            coalesce((SELECT h.amount FROM ledger_holds h
                WHERE h.book_id = d.book_id AND h.id = d.credit_hold_id), 0) AS held,
            (SELECT coalesce(sum(u.amount), 0) FROM folio_uses u
                WHERE u.book_id = o.book_id AND u.reservation_id = o.hotel_reservation_id
                    AND u.order_id = o.id) AS used
        FROM orders o
        JOIN folio_payments f ON f.book_id = o.book_id
            AND f.reservation_id = o.hotel_reservation_id AND f.customer_id = o.customer_id
            AND f.kind = 'payment'
        JOIN disputes d ON d.book_id = f.book_id AND d.payin_id = f.receipt_id
        WHERE o.book_id = $1 AND o.id = $2
            AND (d.taken_amount > 0 OR d.credit_hold_id IS NOT NULL)
        ORDER BY d.id FOR NO KEY UPDATE OF d
        """,
        book_id,
        order_id,
    )
    return [DisputedStayCredit(**row) for row in rows]


async def update_credit_hold(db: Db, key: BookKey, hold_id: UUID | None) -> None:
    """Say by which hold a dispute holds credit, if it does."""
    await db.execute(
        """
        UPDATE disputes SET credit_hold_id = $3, credit_holds = credit_holds
            + CASE WHEN $3::uuid IS NULL THEN 0 ELSE 1 END
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        hold_id,
    )


class DisputeQuery(msgspec.Struct, frozen=True):
    """Conditions on disputes; an absent one (None) lets all pass."""

    statuses: Sequence[str] | None
    order_id: OrderId | None
    reservation_id: UUID | None


def _where(book_id: BookId, query: DisputeQuery) -> Where:
    where = Where(book_id).and_("d.status = ANY($)", query.statuses)
    return where.and_("d.order_id = $", query.order_id).and_(
        "d.payin_id IN (SELECT f.receipt_id FROM folio_payments f"
        " WHERE f.book_id = $1 AND f.reservation_id = $ AND f.kind = 'payment')",
        query.reservation_id,
    )


async def show_dispute(db: Db, book_id: BookId, dispute_id: UUID) -> Record | None:
    """One dispute."""
    return await db.fetchrow(_SHOWN + " AND d.id = $2", book_id, dispute_id)


async def count_disputes(db: Db, book_id: BookId, query: DisputeQuery) -> int:
    """How many disputes fit."""
    where = _where(book_id, query)
    return await db.fetchval(
        "SELECT count(*) FROM disputes d WHERE d.book_id = $1" + where.sql(), *where.args
    )


async def list_disputes(
    db: Db, book_id: BookId, query: DisputeQuery, page: Page
) -> Sequence[Record]:
    """One page of the disputes that fit, the newest first."""
    where = _where(book_id, query)
    return await db.fetch(
        _SHOWN + where.sql() + " ORDER BY d.id DESC LIMIT " + where.window(page),
        *where.args,
    )


find_there = StoredIds("disputes")


async def list_with_money(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[DisputeFacts]:
    """Disputes by id, with the sums of their transfers, by kind."""
    rows = await db.fetch(
        """
        SELECT d.id, d.taken_told, d.taken_amount, d.fee, d.claimed,
            p.target_id IS NULL OR p.conditions && '{other_currency}' AS is_unapplied,
            ARRAY(SELECT t.kind FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_id = d.id AND t.source_type = 'dispute'
                ORDER BY t.id) AS kinds,
            ARRAY(SELECT t.amount::numeric FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_id = d.id AND t.source_type = 'dispute'
                ORDER BY t.id) AS amounts
        FROM disputes d JOIN payins p ON p.book_id = d.book_id AND p.id = d.payin_id
        WHERE d.book_id = $1 AND d.id > $2 ORDER BY d.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )
    return [DisputeFacts(**row) for row in rows]
