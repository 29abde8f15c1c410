"""Statements on the records of the sandbox."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import LiteralString, NamedTuple
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey

_PAYMENT: LiteralString = """
    SELECT p.id, p.reference, p.account_number, p.state, p.amount, p.fee, p.currency, p.payer_name,
        p.paid_at, p.paid_at AS at, p.id::text AS name
    FROM sandbox_payments p WHERE p.book_id = $1
"""


PAGE = 500
"""So many lines of a statement are read at once."""


class Place(NamedTuple):
    """The last line of a page of a statement."""

    at: datetime
    name: str

    @classmethod
    def read(cls, cursor: str | None) -> "Place":
        """The place that a cursor tells; without one, before everything."""
        moment, _, name = (cursor or "0").partition("|")
        return cls(datetime.fromtimestamp(int(moment) / 1000, UTC), name)


def following(rows: Sequence[Record]) -> str | None:
    """The cursor behind these lines; None: they are the last."""
    if len(rows) < PAGE:
        return None
    return f"{rows[-1]['at'].timestamp() * 1000:.0f}|{rows[-1]['name']}"


class SandboxPaymentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as it is written."""

    reference: str | None
    account_number: str
    state: str
    amount: Decimal
    fee: Decimal
    currency: str
    payer_name: str | None
    paid_at: datetime


class NewDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute as it is written."""

    payment_id: UUID
    state: str
    amount: Decimal
    fee: Decimal
    currency: str
    evidence_by: datetime
    created_at: datetime
    closed_at: datetime | None


class PayoutRow(msgspec.Struct, frozen=True, kw_only=True):
    """A payout as it is written."""

    state: str
    amount: Decimal
    fee: Decimal
    currency: str
    bank_code: str
    account_number: str
    reason: str | None


class SandboxRefundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A refund as it is written."""

    payment_id: UUID
    state: str
    amount: Decimal
    currency: str
    reason: str | None


async def insert_payment(db: Db, key: BookKey, row: SandboxPaymentRow) -> None:
    """Keep a payment."""
    await db.execute(
        """
        INSERT INTO sandbox_payments (book_id, id, reference, account_number, state, amount, fee,
            currency, payer_name, paid_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """,
        *key,
        *msgspec.structs.astuple(row),
    )


async def list_payments(db: Db, book_id: UUID, account_number: str) -> Sequence[Record]:
    """The payments into an account, the earliest first."""
    return await db.fetch(
        _PAYMENT + " AND p.account_number = $2 ORDER BY p.paid_at, p.id", book_id, account_number
    )


async def list_payments_between(
    db: Db, book_id: UUID, span: tuple[datetime, datetime], after: Place
) -> Sequence[Record]:
    """A page of the payments of a time, the earliest first."""
    return await db.fetch(
        _PAYMENT
        + """ AND p.paid_at >= $2 AND p.paid_at < $3 AND (p.paid_at, p.id) > ($4, $5::text::uuid)
        ORDER BY p.paid_at, p.id LIMIT $6
        """,
        book_id,
        *span,
        after.at,
        after.name or str(UUID(int=0)),
        PAGE,
    )


async def list_payouts_between(
    db: Db, book_id: UUID, span: tuple[datetime, datetime], after: Place
) -> Sequence[Record]:
    """A page of the payouts of a time, the earliest first."""
    return await db.fetch(
        """
        SELECT p.reference, p.state, p.amount, p.fee, p.currency, p.reason, p.created_at AS at,
            p.reference AS name
        FROM sandbox_payouts p
        WHERE p.book_id = $1 AND p.created_at >= $2 AND p.created_at < $3
            AND (p.created_at, p.reference) > ($4, $5)
        ORDER BY p.created_at, p.reference LIMIT $6
        """,
        book_id,
        *span,
        *after,
        PAGE,
    )


async def list_refunds_between(
    db: Db, book_id: UUID, span: tuple[datetime, datetime], after: Place
) -> Sequence[Record]:
    """A page of the refunds of a time, the earliest first."""
    return await db.fetch(
        """
        SELECT f.reference, f.state, f.amount, f.payment_id, f.created_at AS at,
            f.reference AS name
        FROM sandbox_refunds f
        WHERE f.book_id = $1 AND f.created_at >= $2 AND f.created_at < $3
            AND (f.created_at, f.reference) > ($4, $5)
        ORDER BY f.created_at, f.reference LIMIT $6
        """,
        book_id,
        *span,
        *after,
        PAGE,
    )


async def find_payment(db: Db, key: BookKey) -> Record | None:
    """One payment."""
    return await db.fetchrow(_PAYMENT + " AND p.id = $2", *key)


async def lock_payment(db: Db, key: BookKey) -> Record | None:
    """One payment, locked against other refunds."""
    return await db.fetchrow(_PAYMENT + " AND p.id = $2 FOR NO KEY UPDATE OF p", *key)


async def update_payment_reversed(db: Db, key: BookKey) -> None:
    """Take a payment back."""
    await db.execute(
        """
        UPDATE sandbox_payments SET state = 'reversed'
        WHERE book_id = $1 AND id = $2 AND state = 'successful'
        """,
        *key,
    )


_DISPUTE: LiteralString = """
    SELECT d.id, d.payment_id, d.state, d.amount, d.fee, d.currency,
        d.evidence_due_at AS evidence_by, d.created_at,
        d.closed_at, d.created_at AS at, d.id::text AS name
    FROM sandbox_disputes d WHERE d.book_id = $1
"""


async def insert_dispute(db: Db, key: BookKey, row: NewDispute) -> None:
    """Keep a dispute."""
    await db.execute(
        """
        INSERT INTO sandbox_disputes (book_id, id, payment_id, state, amount, fee, currency,
            evidence_due_at, created_at, closed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """,
        *key,
        *msgspec.structs.astuple(row),
    )


async def list_disputes_of(db: Db, book_id: UUID, payments: Sequence[UUID]) -> Sequence[Record]:
    """The disputes of some payments, the earliest first."""
    return await db.fetch(
        _DISPUTE + " AND d.payment_id = ANY($2) ORDER BY d.created_at, d.id",
        book_id,
        list(payments),
    )


async def list_disputes_between(
    db: Db, book_id: UUID, span: tuple[datetime, datetime], after: Place
) -> Sequence[Record]:
    """A page of the disputes of a time, the earliest first."""
    return await db.fetch(
        _DISPUTE
        + """ AND d.created_at >= $2 AND d.created_at < $3
            AND (d.created_at, d.id) > ($4, $5::text::uuid)
        ORDER BY d.created_at, d.id LIMIT $6
        """,
        book_id,
        *span,
        after.at,
        after.name or str(UUID(int=0)),
        PAGE,
    )


async def update_dispute(db: Db, key: BookKey, state: str, now: datetime) -> None:
    """Decide a dispute that is open."""
    await db.execute(
        """
        UPDATE sandbox_disputes SET state = $3, closed_at = $4
        WHERE book_id = $1 AND id = $2 AND closed_at IS NULL
        """,
        *key,
        state,
        now,
    )


async def insert_payout(
    db: Db, book_id: UUID, reference: str, row: PayoutRow, now: datetime
) -> bool:
    """Keep a payout; False where one of this reference is there."""
    return await db.execute_one(
        """
        INSERT INTO sandbox_payouts (book_id, reference, state, amount, fee, currency, bank_code,
            account_number, reason, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        ON CONFLICT (book_id, reference) DO NOTHING
        """,
        book_id,
        reference,
        *msgspec.structs.astuple(row),
        now,
    )


async def find_payout(db: Db, book_id: UUID, reference: str) -> Record | None:
    """One payout."""
    return await db.fetchrow(
        """
        SELECT reference, state, amount, fee, currency, reason, asked FROM sandbox_payouts
        WHERE book_id = $1 AND reference = $2
        """,
        book_id,
        reference,
    )


async def touch_payout(db: Db, book_id: UUID, reference: str, enough: int) -> Record | None:
    """One payout, asked for once more; a slow one completes when it was asked for often enough."""
    return await db.fetchrow(
        """
        UPDATE sandbox_payouts SET asked = asked + 1,
            state = CASE WHEN state = 'processing' AND asked + 1 >= $3 THEN 'completed'
                ELSE state END
        WHERE book_id = $1 AND reference = $2
        RETURNING reference, state, amount, fee, currency, reason, asked
        """,
        book_id,
        reference,
        enough,
    )


async def update_payout_reversed(db: Db, book_id: UUID, reference: str, reason: str) -> None:
    """Send a completed payout back."""
    await db.execute(
        """
        UPDATE sandbox_payouts SET state = 'reversed', reason = $3
        WHERE book_id = $1 AND reference = $2 AND state = 'completed'
        """,
        book_id,
        reference,
        reason,
    )


async def update_payout_completed(db: Db, book_id: UUID, reference: str) -> None:
    """Let a payout that failed complete after all."""
    await db.execute(
        """
        UPDATE sandbox_payouts SET state = 'completed', reason = NULL
        WHERE book_id = $1 AND reference = $2 AND state = 'failed'
        """,
        book_id,
        reference,
    )


async def insert_refund(
    db: Db, book_id: UUID, reference: str, row: SandboxRefundRow, now: datetime
) -> bool:
    """Keep a refund; False where one of this reference is there."""
    return await db.execute_one(
        """
        INSERT INTO sandbox_refunds (book_id, reference, payment_id, state, amount, currency,
            reason, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (book_id, reference) DO NOTHING
        """,
        book_id,
        reference,
        *msgspec.structs.astuple(row),
        now,
    )


async def find_refund(db: Db, book_id: UUID, reference: str) -> Record | None:
    """One refund."""
    return await db.fetchrow(
        """
        SELECT reference, state, amount, reason FROM sandbox_refunds
        WHERE book_id = $1 AND reference = $2
        """,
        book_id,
        reference,
    )


async def touch_refund(db: Db, book_id: UUID, reference: str, enough: int) -> Record | None:
    """One refund, asked for once more; a slow one succeeds when it was asked for often enough."""
    return await db.fetchrow(
        """
        UPDATE sandbox_refunds SET asked = asked + 1,
            state = CASE WHEN state = 'pending' AND asked + 1 >= $3 THEN 'successful'
                ELSE state END
        WHERE book_id = $1 AND reference = $2
        RETURNING reference, state, amount, reason
        """,
        book_id,
        reference,
        enough,
    )


async def update_refund_failed(db: Db, book_id: UUID, reference: str, reason: str) -> None:
    """Let a refund that succeeded fail after all."""
    await db.execute(
        """
        UPDATE sandbox_refunds SET state = 'failed', reason = $3
        WHERE book_id = $1 AND reference = $2 AND state = 'successful'
        """,
        book_id,
        reference,
        reason,
    )


async def find_refunded(db: Db, key: BookKey) -> Decimal:
    """How much of a payment was given back, or is being."""
    return await db.fetchval(
        """
        SELECT coalesce(sum(amount), 0) FROM sandbox_refunds
        WHERE book_id = $1 AND payment_id = $2 AND state <> 'failed'
        """,
        *key,
    )
