"""Statements on refunds that go back through a provider, or are paid out in its place."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.jobs.store import StuckRows
from tillhouse.kit.ids import BookId, BookKey, OrderId, TransferId
from tillhouse.orders.money_types import PaymentState
from tillhouse.orders.returning.rules import RefundFaultFacts, ReturnablePayment
from tillhouse.orders.returning.sent import SentRefund
from tillhouse.payins.hooks import HeardReturn

_SENT: LiteralString = """
    SELECT f.book_id, f.id, f.order_id, f.status, f.amount, f.reason, f.lines, f.restocks,
        f.restocked, p.provider, f.provider_refund_id, f.hold_id, f.credit_hold_id, f.asked_at,
        f.asked_with, f.is_unclear, f.withdrawal_id, f.created_at, f.shortfall, f.of_sale,
        f.taken_before, f.transaction_id, f.payin_id, p.currency, p.provider_transaction_id,
        v.reference AS payment_reference, b.business_id, b.environment
    FROM refunds f
    JOIN payins p ON p.book_id = f.book_id AND p.id = f.payin_id
    JOIN books b ON b.id = f.book_id
    LEFT JOIN virtual_accounts v ON v.book_id = p.book_id AND v.id = p.virtual_account_id
"""


class NewRefundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A refund that is about to go back: with a hold of its own, or by a withdrawal."""

    id: UUID
    order_id: OrderId
    amount: Decimal
    reason: str | None
    lines: str | None
    payment_id: UUID
    payin_id: UUID
    provider: str | None
    hold_id: UUID | None
    credit_hold_id: UUID | None
    restocks: bool
    by_id: UUID
    by_name: str
    withdrawal_id: UUID | None = None


class SentOrderRefund(SentRefund, frozen=True, kw_only=True):
    """A refund of an order that goes back, locked."""

    order_id: OrderId
    lines: list[dict[str, Any]] | None
    restocks: bool
    restocked: bool
    withdrawal_id: UUID | None
    of_sale: Decimal


class RefundEnding(msgspec.Struct, frozen=True, kw_only=True):
    """The next state of a refund, as the provider has told it."""

    status: PaymentState
    provider_refund_id: str | None = None
    reason: str | None = None
    shortfall: Decimal = Decimal(0)
    of_sale: Decimal = Decimal(0)
    taken_before: Decimal = Decimal(0)


async def list_returnable(db: Db, book_id: BookId, order_id: OrderId) -> list[ReturnablePayment]:
    """The payments of an order that came by a provider, the earliest first."""
    rows = await db.fetch(
        """
        SELECT p.id AS payment_id, i.id AS payin_id, i.provider, i.amount - i.returned_amount
            - i.disputed_amount - coalesce((
                SELECT sum(f.amount - f.taken_before) FROM refunds f
                WHERE f.book_id = $1 AND f.payin_id = i.id
                    AND f.status IN ('pending', 'successful')), 0) AS left,
            i.disputed_amount AS disputed,
            EXISTS (SELECT FROM refunds f
                WHERE f.book_id = $1 AND f.payin_id = i.id AND f.hold_id IS NOT NULL
                    AND f.status = 'failed') AS is_refused
        FROM payments p JOIN payins i ON i.book_id = $1 AND i.id = p.receipt_id
        WHERE p.book_id = $1 AND p.order_id = $2 AND i.status = 'received'
        ORDER BY p.id
        """,
        book_id,
        order_id,
    )
    return [ReturnablePayment(**row) for row in rows]


async def find_provided(db: Db, book_id: BookId, order_id: OrderId) -> Decimal:
    """The money of an order that came by a provider, less the part that went back through it.

    Money that a dispute holds is the order's still: its loss is one beside the sale.
    """
    return await db.fetchval(
        """
        SELECT coalesce(sum(i.amount - i.returned_amount - coalesce((
            SELECT sum(f.amount - f.taken_before) FROM refunds f
            WHERE f.book_id = $1 AND f.payin_id = i.id AND f.status = 'successful'), 0)), 0)
        FROM payments p JOIN payins i ON i.book_id = $1 AND i.id = p.receipt_id
        WHERE p.book_id = $1 AND p.order_id = $2 AND i.status = 'received'
        """,
        book_id,
        order_id,
    )


async def insert_return(db: Db, book_id: BookId, new: NewRefundRow, now: datetime) -> None:
    """Keep a refund that is about to go back."""
    await db.execute(
        """
        INSERT INTO refunds (book_id, id, order_id, method, amount, reason, lines, status,
            payment_id, payin_id, provider, hold_id, credit_hold_id, restocks, recorded_by_id,
            recorded_by_name, withdrawal_id, happened_at, created_at)
        VALUES ($1, $2, $3, 'cloove_pay', $4, $5, $6::jsonb, 'pending', $7, $8, $9, $10, $11, $12,
            $13, $14, $15, $16, $16)
        """,
        book_id,
        *msgspec.structs.astuple(new),
        now,
    )


async def add_returning(db: Db, key: BookKey, amount: Decimal, now: datetime) -> None:
    """Count so much more, or below zero less, as on its way from an order that is locked."""
    await db.execute(
        """
        UPDATE orders SET returning_amount = returning_amount + $3,
            updated_at = changed_at(updated_at, $4)
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        amount,
        now,
    )


async def lock_return(db: Db, book_id: BookId, refund_id: UUID) -> SentOrderRefund | None:
    """One refund, locked until the transaction ends."""
    return _sent(
        await db.fetchrow(
            _SENT
            + """ WHERE f.book_id = $1 AND f.id = $2 AND f.hold_id IS NOT NULL
            FOR NO KEY UPDATE OF f
            """,
            book_id,
            refund_id,
        )
    )


async def lock_paid_out(db: Db, book_id: BookId, withdrawal_id: UUID) -> SentOrderRefund | None:
    """The refund that a withdrawal pays out, locked until the transaction ends."""
    return _sent(
        await db.fetchrow(
            _SENT + " WHERE f.book_id = $1 AND f.withdrawal_id = $2 FOR NO KEY UPDATE OF f",
            book_id,
            withdrawal_id,
        )
    )


def _sent(row: Record | None) -> SentOrderRefund | None:
    if row is None:
        return None
    known: dict[str, Any] = dict(row)
    if known["lines"] is not None:
        known["lines"] = msgspec.json.decode(known["lines"])
    return SentOrderRefund(**known)


async def update_ended(db: Db, sent: SentOrderRefund, ending: RefundEnding, now: datetime) -> None:
    """The provider has said how it ended."""
    await db.execute(
        """
        UPDATE refunds SET status = $3, provider_refund_id = coalesce($4, provider_refund_id),
            failure_reason = $5, shortfall = $6, of_sale = $7, taken_before = $8,
            is_unclear = false, ended_at = $9
        WHERE book_id = $1 AND order_id = $10 AND id = $2
        """,
        *sent.key,
        *msgspec.structs.astuple(ending),
        now,
        sent.order_id,
    )


find_there = StoredIds("refunds", only="(hold_id IS NOT NULL OR withdrawal_id IS NOT NULL)")


async def list_with_money(
    db: Db, book_id: UUID, after: UUID, limit: int
) -> Sequence[RefundFaultFacts]:
    """Refunds by id, with the sums of their holds, their transfers and their transaction."""
    rows: Sequence[Record] = await db.fetch(
        """
        SELECT f.id, f.order_id, f.status, f.amount, f.shortfall, f.taken_before,
            p.status = 'reversed' AS is_undone, h.status AS hold,
            f.withdrawal_id IS NOT NULL AS is_paid_out,
            c.status AS credit_hold, f.credit_hold_id IS NOT NULL AS has_credit_hold,
            x.status AS transaction, p.amount AS arrived, m.funded, m.short, (
                SELECT coalesce(sum(r.amount - r.taken_before), 0) FROM refunds r
                WHERE r.book_id = $1 AND r.payin_id = f.payin_id
                    AND r.status IN ('pending', 'successful')) AS returned
        FROM refunds f
        JOIN payins p ON p.book_id = f.book_id AND p.id = f.payin_id
        LEFT JOIN ledger_holds h ON h.book_id = f.book_id AND h.id = f.hold_id
        LEFT JOIN ledger_holds c ON c.book_id = f.book_id AND c.id = f.credit_hold_id
        LEFT JOIN transactions x ON x.book_id = f.book_id AND x.id = f.transaction_id
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'wallet_funding'), 0)
                    - coalesce(sum(t.amount) FILTER (WHERE t.debit_kind = 'wallet_funding'), 0)
                    AS funded,
                coalesce(sum(t.amount) FILTER (WHERE t.credit_kind = 'provider_clearing'), 0)
                    - coalesce(sum(t.amount) FILTER (WHERE t.debit_kind = 'provider_clearing'), 0)
                    AS short
            FROM ledger_transfers t
            WHERE t.book_id = $1 AND t.source_id = f.id AND t.source_type = 'refund'
        ) m
        WHERE f.book_id = $1 AND f.id > $2
            AND (f.hold_id IS NOT NULL OR f.withdrawal_id IS NOT NULL)
        ORDER BY f.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )
    return [RefundFaultFacts(**row) for row in rows]


class ProvidedRefunds:
    """The statements on the refunds of a table that a provider gives back, each with its hold.

    `source` is their name in the ledger.
    """

    def __init__(self, table: LiteralString, source: LiteralString) -> None:
        self.table = table
        those: LiteralString = " WHERE f.book_id = $1 AND f.hold_id IS NOT NULL"
        self._select: LiteralString = "SELECT f.id FROM " + table + " f" + those
        self._update: LiteralString = "UPDATE " + table + " f SET "
        self._one: LiteralString = those + " AND f.id = $2"
        self._join: LiteralString = (
            "JOIN " + table + " f ON f.book_id = p.book_id AND f.payin_id = p.id "
            "AND f.hold_id IS NOT NULL"
        )
        self._transfers: LiteralString = (
            "SELECT id FROM ledger_transfers WHERE book_id = $1 AND source_type = '"
            + source
            + "' AND source_id = $2 AND reverses_id IS NULL ORDER BY id"
        )

    async def list_known(self, db: Db, sent: SentRefund, status: PaymentState) -> list[UUID]:
        """Other refunds of its payment, of a status, that their provider has a name for."""
        rows = await db.fetch(
            self._select
            + """ AND f.payin_id = $2 AND f.id <> $3 AND f.status = $4
                AND f.provider_refund_id IS NOT NULL ORDER BY f.id
            """,
            sent.book_id,
            sent.payin_id,
            sent.id,
            status,
        )
        return [row["id"] for row in rows]

    async def list_heard(
        self, db: Db, book_id: BookId, heard: HeardReturn, refund_id: UUID | None
    ) -> Sequence[UUID]:
        """Those that a provider may have told of: by our name, its own, or by their payment."""
        rows = await db.fetch(
            self._select
            + " AND f.id = $2 AND f.provider = $3 UNION "
            + self._select
            + " AND f.provider = $3 AND f.provider_refund_id = $4 UNION SELECT f.id FROM payins p "
            + self._join
            + """
            WHERE p.book_id = $1 AND p.provider = $3
                AND split_part(p.provider_transaction_id, '#', 1) = $5
            UNION
            SELECT f.id FROM virtual_accounts v
            JOIN payins p ON p.book_id = v.book_id AND p.target_type = v.target_type
                AND p.target_id = v.target_id AND p.virtual_account_id = v.id
            """
            + self._join
            + " WHERE v.book_id = $1 AND v.reference = $6 AND p.provider = $3",
            book_id,
            refund_id,
            heard.provider,
            heard.provider_reference,
            heard.transaction_id,
            heard.payment_reference,
        )
        return [row["id"] for row in rows]

    async def update_asked(
        self, db: Db, sent: SentRefund, asked_at: datetime | None, asked_with: bytes | None
    ) -> None:
        """The provider is asked for it, or is known not to have been reached."""
        await db.execute(
            self._update
            + """is_unclear = $3, asked_at = coalesce($4, asked_at),
                asked_with = coalesce($5, asked_with)"""
            + self._one,
            *sent.key,
            asked_at is not None,
            asked_at,
            asked_with,
        )

    async def update_known(self, db: Db, sent: SentRefund, provider_refund_id: str) -> None:
        """Keep the provider's own name of it."""
        await db.execute(
            self._update
            + "provider_refund_id = $3"
            + self._one
            + " AND f.provider_refund_id IS NULL",
            *sent.key,
            provider_refund_id,
        )

    async def list_transfers(self, db: Db, sent: SentRefund) -> Sequence[TransferId]:
        """The transfers that a refund has of its own, the first first."""
        rows = await db.fetch(self._transfers, *sent.key)
        return [row["id"] for row in rows]


REFUNDS = ProvidedRefunds("refunds", "refund")
STUCK_REFUNDS = StuckRows(
    "refunds f",
    shown="f.id, f.provider",
    kinds="'refund', 'refund_look'",
    on_their_way="f.hold_id IS NOT NULL AND f.status = 'pending'",
)
