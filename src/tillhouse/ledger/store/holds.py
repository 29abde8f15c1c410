"""Statements that hold a part of a bounded balance, and end that hold.

Everywhere $1 is the book, $2 now, $3 the currency. A hold's row is locked before the balance.
"""

from datetime import datetime
from decimal import Decimal
from typing import Literal, LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, HoldId, TransferId
from tillhouse.ledger.rules import Account, EntryKind, Ledger, Source
from tillhouse.ledger.store.posting import OPEN, SETTLE, TRANSFER

_EXPIRED: LiteralString = """
    WITH due AS (
        SELECT h.book_id, h.id FROM ledger_holds h
        WHERE h.status = 'pending' AND h.expires_at <= $1
"""
# A transaction that ends such a hold at the same moment does so for both.
_END_THEM: LiteralString = """
        FOR UPDATE OF h SKIP LOCKED
    ), ended AS (
        UPDATE ledger_holds h SET status = 'released', ended_at = $1
        FROM due d WHERE h.book_id = d.book_id AND h.id = d.id
        RETURNING h.book_id, h.account_kind, h.account_owner, h.amount
    ), freed AS MATERIALIZED (
        SELECT book_id, account_kind, account_owner, sum(amount) AS amount, count(*) AS holds
        FROM ended GROUP BY book_id, account_kind, account_owner
    ), bounded AS MATERIALIZED (
        SELECT b.book_id FROM freed f
        JOIN ledger_balances b ON b.book_id = f.book_id AND b.kind = f.account_kind
            AND b.owner_id = f.account_owner
        ORDER BY b.book_id, b.kind, b.owner_id
        FOR NO KEY UPDATE OF b
    ), lowered AS (
        UPDATE ledger_balances b SET held = b.held - f.amount FROM freed f
        WHERE b.book_id = f.book_id AND b.kind = f.account_kind
            AND b.owner_id = f.account_owner AND (SELECT count(*) FROM bounded) >= 0
    )
    SELECT coalesce(sum(holds), 0)::bigint FROM freed
"""


class NewHold(msgspec.Struct, frozen=True, kw_only=True):
    """An amount to be held."""

    id: HoldId
    account: Account
    amount: Decimal
    kind: str
    sequence: int
    expires_at: datetime | None


class Settlement(msgspec.Struct, frozen=True, kw_only=True):
    """The transfer that a hold becomes; without an amount, the whole of it."""

    transfer_id: TransferId
    credit: Account
    amount: Decimal | None
    kind: EntryKind


class Hold(msgspec.Struct, frozen=True, kw_only=True):
    """A hold as it is kept."""

    id: UUID
    account_kind: str
    account_owner: UUID
    amount: Decimal
    kind: str
    source_type: str
    source_id: UUID
    status: Literal["pending", "posted", "released"]
    transfer_id: TransferId | None
    expires_at: datetime | None


class Balance(msgspec.Struct, frozen=True):
    """A bounded account: its credits less its debits, and the held part."""

    amount: Decimal
    held: Decimal

    @property
    def available(self) -> Decimal:
        """The part that can still be taken or held."""
        return self.amount - self.held


async def insert_hold(db: Db, ledger: Ledger, source: Source, new: NewHold) -> bool:
    """Hold an amount; False where less than that is available."""
    return await db.execute_one(
        """
        WITH reserved AS (
            UPDATE ledger_balances SET held = held + $6
            WHERE book_id = $1 AND kind = $4 AND owner_id = $5 AND credits - debits - held >= $6
            RETURNING kind, owner_id
        )
        INSERT INTO ledger_holds (book_id, id, account_kind, account_owner, amount, currency,
            kind, source_type, source_id, sequence, status, expires_at, created_at)
        SELECT $1, $7, kind, owner_id, $6, $3, $8, $9, $10, $11, 'pending', $12, $2
        FROM reserved
        RETURNING true
        """,
        ledger.book_id,
        ledger.now,
        ledger.currency,
        new.account.kind,
        new.account.owner_id,
        new.amount,
        new.id,
        new.kind,
        source.type,
        source.id,
        new.sequence,
        new.expires_at,
    )


async def record_settlement(
    db: Db, ledger: Ledger, hold_id: HoldId, settlement: Settlement
) -> bool:
    """Make a hold, or a part of it, a transfer; False unless it is pending and large enough."""
    return await db.execute_one(
        """
        WITH ended AS (
            UPDATE ledger_holds SET status = 'posted', transfer_id = $5, ended_at = $2
            WHERE book_id = $1 AND id = $4 AND status = 'pending' AND currency = $3
                AND amount >= coalesce($8, amount) AND (expires_at IS NULL OR expires_at > $2)
            RETURNING source_type, source_id, account_kind, account_owner, amount AS held,
                sequence
        ), source AS (
            SELECT source_type, source_id, $2::timestamptz AS happened_at FROM ended
        ), posting AS (
            SELECT source_id, $5::uuid AS id, account_kind AS debit_kind,
                account_owner AS debit_owner, $6::text AS credit_kind, $7::uuid AS credit_owner,
                coalesce($8::numeric, held) AS amount, $9::text AS kind, sequence
            FROM ended
        ), """
        + OPEN
        + ","
        + TRANSFER
        + ","
        + SETTLE
        + " SELECT true FROM ended",
        ledger.book_id,
        ledger.now,
        ledger.currency,
        hold_id,
        settlement.transfer_id,
        settlement.credit.kind,
        settlement.credit.owner_id,
        settlement.amount,
        settlement.kind,
    )


async def end_hold(db: Db, ledger: Ledger, hold_id: HoldId) -> bool:
    """Release a hold; False unless it is pending."""
    return await db.execute_one(
        """
        WITH ended AS (
            UPDATE ledger_holds SET status = 'released', ended_at = $2
            WHERE book_id = $1 AND id = $3 AND status = 'pending'
            RETURNING account_kind, account_owner, amount
        )
        UPDATE ledger_balances b SET held = b.held - e.amount FROM ended e
        WHERE b.book_id = $1 AND b.kind = e.account_kind AND b.owner_id = e.account_owner
        RETURNING true
        """,
        ledger.book_id,
        ledger.now,
        hold_id,
    )


async def end_expired_of(db: Db, book_id: BookId, account: Account, now: datetime) -> int:
    """Release the holds of one account whose time is over; how many those were."""
    return await db.fetchval(
        _EXPIRED
        + " AND h.book_id = $2 AND h.account_kind = $3 AND h.account_owner = $4 ORDER BY h.id"
        + _END_THEM,
        now,
        book_id,
        account.kind,
        account.owner_id,
    )


async def end_expired(db: Db, now: datetime, limit: int) -> int:
    """Release holds of any book whose time is over, the oldest first; how many those were."""
    return await db.fetchval(
        _EXPIRED + " ORDER BY h.expires_at, h.id LIMIT $2" + _END_THEM, now, limit
    )


async def show_hold(db: Db, book_id: BookId, hold_id: HoldId) -> Hold | None:
    """One hold."""
    row = await db.fetchrow(
        """
        SELECT id, account_kind, account_owner, amount, kind, source_type, source_id, status,
            transfer_id, expires_at
        FROM ledger_holds WHERE book_id = $1 AND id = $2
        """,
        book_id,
        hold_id,
    )
    return Hold(**row) if row else None


async def show_balance(db: Db, book_id: BookId, account: Account, now: datetime) -> Balance:
    """A bounded account; holds whose time is over no longer count."""
    row = await db.fetchrow(
        """
        SELECT b.credits - b.debits AS amount, b.held - (
            SELECT coalesce(sum(h.amount), 0) FROM ledger_holds h
            WHERE h.book_id = $1 AND h.account_kind = $2 AND h.account_owner = $3
                AND h.status = 'pending' AND h.expires_at <= $4) AS held
        FROM ledger_balances b WHERE b.book_id = $1 AND b.kind = $2 AND b.owner_id = $3
        """,
        book_id,
        account.kind,
        account.owner_id,
        now,
    )
    return Balance(**row) if row else Balance(Decimal(0), Decimal(0))


async def lock_available(db: Db, book_id: BookId, account: Account) -> Decimal:
    """The part of a bounded account that can be taken until the transaction ends."""
    available = await db.fetchval(
        """
        SELECT credits - debits - held FROM ledger_balances
        WHERE book_id = $1 AND kind = $2 AND owner_id = $3 FOR NO KEY UPDATE
        """,
        book_id,
        account.kind,
        account.owner_id,
    )
    return available or Decimal(0)


async def find_available(db: Db, book_id: BookId, account: Account) -> Decimal:
    """The part of a bounded account that can be taken now; another may take it first."""
    row = await db.read_before(
        """
        SELECT credits - debits - held AS available FROM ledger_balances
        WHERE book_id = $1 AND kind = $2 AND owner_id = $3
        """,
        book_id,
        account.kind,
        account.owner_id,
    )
    return row["available"] if row else Decimal(0)
