"""Statements that move a withdrawal from one state to the next; its row is locked before."""

from datetime import date, datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.db.pool import Db
from tillhouse.kit.ids import AppId, BookId, BusinessId, HoldId, OrderId, TransferId
from tillhouse.payouts.withdrawals.types import WithdrawalStatus

_STATE: LiteralString = """
    SELECT w.book_id, w.id, w.status, w.amount, w.currency, w.narration, w.payout_account_id,
        w.provider, w.bank_code, w.account_number, w.account_name, w.provider_key, w.is_unclear,
        w.asked_at, w.asked_with, w.fee, w.fee_due, w.amount_due, w.lineage_id, w.counted_on,
        w.hold_id, w.transfer_id, w.payout_transfer_id, w.transaction_id, w.order_id, w.created_at,
        k.business_id, k.environment
    FROM withdrawals w JOIN books k ON k.id = w.book_id
    WHERE w.book_id = $1
"""


class WithdrawalState(msgspec.Struct, frozen=True, kw_only=True):
    """A withdrawal that is locked."""

    book_id: BookId
    id: UUID
    status: WithdrawalStatus
    amount: Decimal
    currency: str
    narration: str | None
    payout_account_id: UUID
    provider: str
    bank_code: str
    account_number: str
    account_name: str
    provider_key: str
    is_unclear: bool
    asked_at: datetime | None
    asked_with: bytes | None
    fee: Decimal
    # The parts of fee and amount that the wallet has not given yet.
    fee_due: Decimal
    amount_due: Decimal
    lineage_id: AppId | None
    counted_on: date
    hold_id: HoldId
    transfer_id: TransferId | None
    payout_transfer_id: TransferId | None
    # Of a refund, the refund's: None until it is completed.
    transaction_id: UUID | None
    # The order that it pays a refund of out.
    order_id: OrderId | None
    created_at: datetime
    business_id: BusinessId
    environment: str

    @property
    def book(self) -> Book:
        """The book that it is in."""
        return Book(self.book_id, "live" if self.environment == "live" else "test")


class WithdrawalEnding(msgspec.Struct, frozen=True, kw_only=True):
    """The next state of a withdrawal that was sent."""

    status: WithdrawalStatus
    provider_reference: str | None = None
    reason: str | None = None
    # None: as it is.
    fee: Decimal | None = None
    fee_due: Decimal | None = None
    amount_due: Decimal = Decimal(0)
    payout_transfer_id: UUID | None = None
    transaction_id: UUID | None = None


async def find_order_id(db: Db, book_id: BookId, withdrawal_id: UUID) -> OrderId | None:
    """The order that a withdrawal pays a refund of out, which never changes; None: of none."""
    return await db.fetchval(
        "SELECT order_id FROM withdrawals WHERE book_id = $1 AND id = $2", book_id, withdrawal_id
    )


async def lock_withdrawal(db: Db, book_id: BookId, withdrawal_id: UUID) -> WithdrawalState | None:
    """One withdrawal, locked until the transaction ends."""
    row = await db.fetchrow(
        _STATE + " AND w.id = $2 FOR NO KEY UPDATE OF w", book_id, withdrawal_id
    )
    return WithdrawalState(**row) if row else None


async def lock_without_order(
    db: Db, book_id: BookId, withdrawal_id: UUID
) -> WithdrawalState | None:
    """One that pays no refund out, locked; None where it isn't there, or does."""
    row = await db.fetchrow(
        _STATE + " AND w.id = $2 AND w.order_id IS NULL FOR NO KEY UPDATE OF w",
        book_id,
        withdrawal_id,
    )
    return WithdrawalState(**row) if row else None


async def lock_by_provider_key(
    db: Db, book_id: BookId, provider_key: str
) -> WithdrawalState | None:
    """The withdrawal that a provider calls so, locked."""
    row = await db.fetchrow(
        _STATE + " AND w.provider_key = $2 FOR NO KEY UPDATE OF w", book_id, provider_key
    )
    return WithdrawalState(**row) if row else None


async def update_sent(db: Db, state: WithdrawalState, transfer_id: UUID, now: datetime) -> None:
    """The amount has left the wallet."""
    await db.execute(
        """
        UPDATE withdrawals SET status = 'processing', transfer_id = $3, sent_at = $4,
            updated_at = $4
        WHERE book_id = $1 AND id = $2
        """,
        state.book_id,
        state.id,
        transfer_id,
        now,
    )


async def update_asked(
    db: Db,
    state: WithdrawalState,
    asked_at: datetime | None,
    asked_with: bytes | None,
    now: datetime,
) -> None:
    """The provider may be asked to pay, or (None) is known not to have been reached."""
    await db.execute(
        """
        UPDATE withdrawals SET is_unclear = $3, asked_at = coalesce($4, asked_at),
            asked_with = coalesce($5, asked_with), updated_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        state.book_id,
        state.id,
        asked_at is not None,
        asked_at,
        asked_with,
        now,
    )


async def claim_look(db: Db, state: WithdrawalState, before: datetime, now: datetime) -> bool:
    """Ask now about a withdrawal, unless it was asked about since a moment; False: wait."""
    return await db.execute_one(
        """
        UPDATE withdrawals SET looked_at = $4
        WHERE book_id = $1 AND id = $2 AND (looked_at IS NULL OR looked_at <= $3)
        """,
        state.book_id,
        state.id,
        before,
        now,
    )


async def update_cancelled(db: Db, state: WithdrawalState, now: datetime) -> None:
    """It is not sent any more."""
    await db.execute(
        """
        UPDATE withdrawals SET status = 'cancelled', ended_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = $2
        """,
        state.book_id,
        state.id,
        now,
    )


async def update_ended(
    db: Db, state: WithdrawalState, ending: WithdrawalEnding, now: datetime
) -> None:
    """The provider has said how it ended."""
    await db.execute(
        """
        UPDATE withdrawals SET status = $3,
            provider_reference = coalesce($4, provider_reference),
            failure_reason = CASE WHEN $3::withdrawal_status = 'completed' THEN NULL
                ELSE coalesce($5, failure_reason) END,
            fee = coalesce($6, fee), fee_due = coalesce($7, fee_due), amount_due = $8,
            payout_transfer_id = coalesce($9, payout_transfer_id),
            transaction_id = coalesce(transaction_id, $10),
            is_unclear = false, ended_at = $11, updated_at = $11
        WHERE book_id = $1 AND id = $2
        """,
        state.book_id,
        state.id,
        *msgspec.structs.astuple(ending),
        now,
    )


async def update_fee(db: Db, state: WithdrawalState, fee: Decimal, now: datetime) -> None:
    """The provider has taken so much in all."""
    await db.execute(
        "UPDATE withdrawals SET fee = $3, updated_at = $4 WHERE book_id = $1 AND id = $2",
        state.book_id,
        state.id,
        fee,
        now,
    )
