"""Statements on the payments that arrived."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.payins.types import Payin

_PAYIN: LiteralString = """
    SELECT p.book_id, p.id, p.provider, p.provider_transaction_id, p.status, p.virtual_account_id,
        p.target_type, p.target_id, p.amount, p.fee, p.currency, p.payer_name, p.paid_at,
        p.applied_at, p.reversed_at, p.reversal_applied_at, p.conditions, p.transaction_id,
        p.created_at, p.updated_at
    FROM payins p WHERE p.book_id = $1
"""


class NewPayin(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as it is first recorded."""

    provider: str
    provider_transaction_id: str
    virtual_account_id: UUID | None
    target_type: str | None
    target_id: UUID | None
    amount: Decimal
    fee: Decimal
    currency: str
    payer_name: str | None
    paid_at: datetime
    # Set at once where no target takes it.
    applied_at: datetime | None
    conditions: list[str]


async def insert_payin(db: Db, key: BookKey, new: NewPayin, now: datetime) -> None:
    """Record a payment of a transaction that is locked."""
    await db.execute(
        """
        INSERT INTO payins (book_id, id, provider, provider_transaction_id, virtual_account_id,
            target_type, target_id, amount, fee, currency, payer_name, paid_at, applied_at,
            conditions, status, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 'received', $15, $15)
        """,
        *key,
        *msgspec.structs.astuple(new),
        now,
    )


async def lock_transaction(db: Db, book_id: BookId, provider: str, transaction: str) -> None:
    """Let nobody else record payments of a provider's transaction meanwhile."""
    await db.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
        f"payin {book_id} {provider} {transaction}",
    )


async def lock_payins_of(db: Db, book_id: BookId, provider: str, transaction: str) -> list[Payin]:
    """The payments of a provider's transaction, locked, the earliest first."""
    rows = await db.fetch(
        _PAYIN
        + """ AND p.provider = $2 AND split_part(p.provider_transaction_id, '#', 1) = $3
        ORDER BY p.created_at, p.id FOR NO KEY UPDATE OF p
        """,
        book_id,
        provider,
        transaction,
    )
    return [Payin(**row) for row in rows]


async def lock_to_apply(db: Db, book_id: BookId, target: tuple[str, UUID]) -> list[Payin]:
    """Payments that a target (type, id) has yet to take or to give back, by time, locked."""
    rows = await db.fetch(
        _PAYIN
        + """ AND p.target_type = $2 AND p.target_id = $3
            AND (p.applied_at IS NULL
                OR (p.status = 'reversed' AND p.reversal_applied_at IS NULL))
        ORDER BY p.paid_at, p.id FOR NO KEY UPDATE OF p
        """,
        book_id,
        *target,
    )
    return [Payin(**row) for row in rows]


async def list_targets(
    db: Db, book_id: BookId, provider: str, transaction: str
) -> list[tuple[str, UUID]]:
    """The targets (type, id) that have yet to take, or to give back, part of a transaction."""
    rows = await db.fetch(
        """
        SELECT DISTINCT p.target_type, p.target_id FROM payins p
        WHERE p.book_id = $1 AND p.provider = $2
            AND split_part(p.provider_transaction_id, '#', 1) = $3
            AND (p.applied_at IS NULL
                OR (p.status = 'reversed' AND p.reversal_applied_at IS NULL))
        """,
        book_id,
        provider,
        transaction,
    )
    return [(row["target_type"], row["target_id"]) for row in rows]


async def find_payin(db: Db, key: BookKey) -> Payin | None:
    """One payment."""
    row = await db.fetchrow(_PAYIN + " AND p.id = $2", *key)
    return Payin(**row) if row else None


async def find_received(db: Db, key: BookKey) -> Decimal:
    """How much has arrived in an account, without what went back."""
    return await db.fetchval(
        """
        SELECT coalesce(sum(p.amount), 0) FROM payins p
        JOIN virtual_accounts a ON a.book_id = p.book_id AND a.id = p.virtual_account_id
        WHERE a.book_id = $1 AND a.id = $2 AND p.status = 'received'
            AND p.target_type = a.target_type AND p.target_id = a.target_id
        """,
        *key,
    )


async def claim_asking(db: Db, key: BookKey, before: datetime, now: datetime) -> bool:
    """Ask now about a payment that nobody has asked about since a moment; False: wait."""
    done = await db.execute(
        """
        UPDATE payins SET asked_at = $4
        WHERE book_id = $1 AND id = $2 AND (asked_at IS NULL OR asked_at <= $3)
        """,
        *key,
        before,
        now,
    )
    return done.endswith(" 1")


async def update_applied(
    db: Db, key: BookKey, at: datetime, what: tuple[UUID | None, Sequence[str]]
) -> None:
    """A target took a payment: (its transaction, how it did not fit)."""
    await db.execute(
        """
        UPDATE payins SET applied_at = $3, transaction_id = coalesce($4, transaction_id),
            conditions = ARRAY(SELECT DISTINCT unnest(conditions || $5::text[]) ORDER BY 1),
            updated_at = $3
        WHERE book_id = $1 AND id = $2 AND applied_at IS NULL
        """,
        *key,
        at,
        *what,
    )


async def update_transaction(db: Db, key: BookKey, transaction_id: UUID) -> None:
    """Name the transaction by which a payment is seen."""
    await db.execute(
        "UPDATE payins SET transaction_id = $3 WHERE book_id = $1 AND id = $2", *key, transaction_id
    )


async def update_reversed(db: Db, key: BookKey, conditions: Sequence[str], now: datetime) -> None:
    """A payment went back; where no target had taken it, none has to give it back either."""
    await db.execute(
        """
        UPDATE payins SET status = 'reversed', reversed_at = $4::timestamptz,
            updated_at = $4,
            reversal_applied_at = CASE WHEN applied_at IS NULL OR target_id IS NULL
                OR conditions && '{other_currency}' THEN $4::timestamptz END,
            applied_at = coalesce(applied_at, $4),
            conditions = ARRAY(SELECT DISTINCT unnest(conditions || $3::text[]) ORDER BY 1)
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        conditions,
        now,
    )


async def update_short(db: Db, key: BookKey, now: datetime, *, is_short: bool) -> None:
    """Note that the provider tells of less than was recorded, or no longer does."""
    await db.execute(
        """
        UPDATE payins SET updated_at = $3, conditions = CASE WHEN $4
            THEN ARRAY(SELECT DISTINCT unnest(conditions || '{short}') ORDER BY 1)
            ELSE array_remove(conditions, 'short') END
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
        is_short,
    )


async def update_reversal_applied(db: Db, key: BookKey, now: datetime) -> None:
    """A target gave back what went back."""
    await db.execute(
        """
        UPDATE payins SET reversal_applied_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = $2 AND reversal_applied_at IS NULL
        """,
        *key,
        now,
    )


async def find_there(db: Db, book_id: UUID, ids: Sequence[UUID]) -> set[UUID]:
    """Those of the ids that are payments."""
    rows = await db.fetch(
        "SELECT id FROM payins WHERE book_id = $1 AND id = ANY($2)", book_id, list(ids)
    )
    return {row["id"] for row in rows}


async def list_with_money(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """Payments by id, with what their transfers come to, by kind."""
    return await db.fetch(
        """
        SELECT p.id, p.status, p.amount, p.fee, p.conditions,
            p.target_id IS NULL OR p.conditions && '{other_currency}' AS is_unapplied,
            p.reversal_applied_at IS NOT NULL AS is_taken_back,
            ARRAY(SELECT t.kind FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_id = p.id AND t.source_type = 'payin'
                ORDER BY t.id) AS kinds,
            ARRAY(SELECT t.amount::numeric FROM ledger_transfers t
                WHERE t.book_id = $1 AND t.source_id = p.id AND t.source_type = 'payin'
                ORDER BY t.id) AS amounts
        FROM payins p WHERE p.book_id = $1 AND p.id > $2 ORDER BY p.id LIMIT $3
        """,
        book_id,
        after,
        limit,
    )
