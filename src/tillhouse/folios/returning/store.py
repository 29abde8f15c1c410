"""Statements on the refunds of stays that go back through a provider."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.folios.returning.rules import ReturnableStayPayment, ReturnFaultFacts
from tillhouse.jobs.store import StuckRows
from tillhouse.kit.ids import BookId, BookKey, CustomerId
from tillhouse.orders.money_types import PaymentState
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.orders.returning.store import ProvidedRefunds

_SENT: LiteralString = """
    SELECT f.book_id, f.id, f.reservation_id, f.customer_id, f.status, f.amount, f.reason,
        f.provider, f.provider_refund_id, f.hold_id, f.credit_hold_id, f.asked_at, f.asked_with,
        f.is_unclear, f.created_at, f.shortfall, f.taken_before, f.transaction_id, f.payin_id,
        p.currency, p.provider_transaction_id, v.reference AS payment_reference, b.business_id,
        b.environment
    FROM folio_returns f
    JOIN payins p ON p.book_id = f.book_id AND p.id = f.payin_id
    JOIN books b ON b.id = f.book_id
    LEFT JOIN virtual_accounts v ON v.book_id = p.book_id AND v.id = p.virtual_account_id
"""


class NewStayRefundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A refund of a stay that is about to go back, with its holds."""

    id: UUID
    reservation_id: UUID
    customer_id: CustomerId
    payment_id: UUID
    payin_id: UUID
    provider: str
    amount: Decimal
    reason: str | None
    hold_id: UUID
    credit_hold_id: UUID
    by_id: UUID
    by_name: str


class SentStayRefund(SentRefund, frozen=True, kw_only=True):
    """A refund of a stay that goes back, locked."""

    reservation_id: UUID
    customer_id: CustomerId


async def list_payins(db: Db, key: BookKey) -> list[UUID]:
    """The payments of providers' that came in for a stay."""
    rows = await db.fetch(
        """
        SELECT p.receipt_id FROM folio_payments p
        WHERE p.book_id = $1 AND p.reservation_id = $2 AND p.receipt_id IS NOT NULL
            AND p.kind = 'payment'
        """,
        *key,
    )
    return [row["receipt_id"] for row in rows]


async def list_returnable(db: Db, key: BookKey) -> list[ReturnableStayPayment]:
    """The payments of a stay that came by a provider, the earliest first."""
    rows = await db.fetch(
        """
        SELECT p.id AS payment_id, i.id AS payin_id, i.provider, p.customer_id,
            i.amount - i.returned_amount - i.disputed_amount - i.given_back AS left,
            i.disputed_amount AS disputed
        FROM folio_payments p JOIN payins i ON i.book_id = $1 AND i.id = p.receipt_id
        WHERE p.book_id = $1 AND p.reservation_id = $2 AND p.kind = 'payment'
            AND i.status = 'received'
        ORDER BY p.id
        """,
        *key,
    )
    return [ReturnableStayPayment(**row) for row in rows]


async def insert_return(db: Db, book_id: BookId, new: NewStayRefundRow, now: datetime) -> None:
    """Keep a refund that is about to go back."""
    await db.execute(
        """
        INSERT INTO folio_returns (book_id, id, reservation_id, customer_id, payment_id, payin_id,
            provider, amount, reason, hold_id, credit_hold_id, recorded_by_id, recorded_by_name,
            created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
        """,
        book_id,
        *msgspec.structs.astuple(new),
        now,
    )


async def lock_return(db: Db, book_id: BookId, refund_id: UUID) -> SentStayRefund | None:
    """One refund, locked until the transaction ends."""
    row = await db.fetchrow(
        _SENT + " WHERE f.book_id = $1 AND f.id = $2 FOR NO KEY UPDATE OF f", book_id, refund_id
    )
    return SentStayRefund(**row) if row else None


class StayRefundEnding(msgspec.Struct, frozen=True, kw_only=True):
    """The next state of a refund, as the provider has told it."""

    status: PaymentState
    provider_refund_id: str | None = None
    reason: str | None = None


async def update_ended(
    db: Db, sent: SentStayRefund, ending: StayRefundEnding, now: datetime
) -> None:
    """The provider has said how it ended."""
    await db.execute(
        """
        UPDATE folio_returns SET status = $3, provider_refund_id = coalesce($4, provider_refund_id),
            failure_reason = $5, is_unclear = false, ended_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        *sent.key,
        *msgspec.structs.astuple(ending),
        now,
    )


class BookedStayRefund(msgspec.Struct, frozen=True, kw_only=True):
    """The refund of the stay that one through a provider became, and its missing part."""

    # None: the stay had nothing left of it.
    refund_id: UUID | None
    transaction_id: UUID | None
    shortfall: Decimal
    # The part of the shortfall that the provider had taken back by itself before.
    taken_before: Decimal


async def update_booked(db: Db, sent: SentStayRefund, booked: BookedStayRefund) -> None:
    """Keep its booked amounts."""
    await db.execute(
        """
        UPDATE folio_returns SET refund_id = $3, transaction_id = $4, shortfall = $5,
            taken_before = $6
        WHERE book_id = $1 AND id = $2
        """,
        *sent.key,
        *msgspec.structs.astuple(booked),
    )


find_there = StoredIds("folio_returns")


async def list_with_money(
    db: Db, book_id: UUID, after: UUID, limit: int
) -> Sequence[ReturnFaultFacts]:
    """Refunds by id, with the sums of their holds and their transfers."""
    rows: Sequence[Record] = await db.fetch(
        """
        SELECT f.id, f.status, f.amount, f.shortfall, f.taken_before, h.status AS hold,
            p.status = 'reversed' AS is_undone,
            c.status AS credit_hold, r.amount AS booked, m.funded, m.short,
            p.amount AS arrived, p.given_back, (
                SELECT coalesce(sum(o.amount - o.taken_before), 0) FROM folio_returns o
                WHERE o.book_id = $1 AND o.payin_id = f.payin_id
                    AND o.status IN ('pending', 'successful')) AS told
        FROM folio_returns f
        JOIN payins p ON p.book_id = f.book_id AND p.id = f.payin_id
        LEFT JOIN ledger_holds h ON h.book_id = f.book_id AND h.id = f.hold_id
        LEFT JOIN ledger_holds c ON c.book_id = f.book_id AND c.id = f.credit_hold_id
        LEFT JOIN folio_payments r ON r.book_id = f.book_id AND r.id = f.refund_id
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'wallet_funding'), 0)
                    - coalesce(sum(t.amount) FILTER (WHERE t.debit_kind = 'wallet_funding'), 0)
                    AS funded,
                coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'provider_clearing'), 0)
                    - coalesce(sum(t.amount) FILTER (WHERE t.debit_kind = 'provider_clearing'), 0)
                    AS short
            FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.source_id = f.id AND t.source_type = 'folio_return'
        ) m
        WHERE f.book_id = $1 AND f.id > $2
        ORDER BY f.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )
    return [ReturnFaultFacts(**row) for row in rows]


STAY_REFUNDS = ProvidedRefunds("folio_returns", "folio_return")
STUCK_STAY_REFUNDS = StuckRows(
    "folio_returns f",
    shown="f.id, f.provider",
    kinds="'stay_refund', 'stay_refund_look'",
    on_their_way="f.status = 'pending'",
)
