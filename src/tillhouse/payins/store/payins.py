"""Statements on the payments that arrived."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.stored_ids import StoredIds
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.payins.types import Payin

_PAYIN: LiteralString = """
    SELECT p.book_id, p.id, p.provider, p.provider_transaction_id, p.status, p.virtual_account_id,
        p.target_type, p.target_id, p.amount, p.fee, p.currency, p.payer_name, p.paid_at,
        p.applied_at, p.reversed_at, p.reversal_applied_at, p.given_back, p.returned_told,
        p.returned_amount, p.returned_fee, p.returned_applied, p.disputed_amount, p.conditions,
        p.transaction_id, p.created_at, p.updated_at
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
    """Lock the recording of a provider's transaction until this one ends."""
    await db.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
        f"payin {book_id} {provider} {transaction}",
    )


async def lock_unnamed(db: Db, provider: str, transaction: str) -> None:
    """Let no other book record a payment that names none of them meanwhile."""
    await db.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
        f"unnamed payin {provider} {transaction}",
    )


async def is_recorded_elsewhere(db: Db, book_id: BookId, provider: str, transaction: str) -> bool:
    """Whether another book_id that collects by this provider has a transaction, and this hasn't."""
    return await db.fetchval(
        """
        SELECT NOT EXISTS (SELECT FROM payins o
                WHERE o.book_id = $1 AND o.provider = $2
                    AND split_part(o.provider_transaction_id, '#', 1) = $3)
            AND EXISTS (SELECT FROM payment_providers c
                JOIN payins p ON p.book_id = c.book_id AND p.provider = $2
                    AND split_part(p.provider_transaction_id, '#', 1) = $3
                WHERE c.provider = $2 AND c.book_id <> $1 AND c.credentials_sealed IS NOT NULL)
        """,
        book_id,
        provider,
        transaction,
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
            AND (p.applied_at IS NULL OR p.returned_applied < p.returned_amount)
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
            AND (p.applied_at IS NULL OR p.returned_applied < p.returned_amount)
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
    """How much has arrived in an account, less returns."""
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
    """Ask now about a payment, unless it was asked about since a moment; False: wait."""
    return await db.execute_one(
        """
        UPDATE payins SET asked_at = $4
        WHERE book_id = $1 AND id = $2 AND (asked_at IS NULL OR asked_at <= $3)
        """,
        *key,
        before,
        now,
    )


async def update_applied(
    db: Db, key: BookKey, at: datetime, transaction_id: UUID | None, conditions: Sequence[str]
) -> None:
    """A target took a payment: by which transaction, and how it did not fit."""
    await db.execute(
        """
        UPDATE payins SET applied_at = $3, transaction_id = coalesce($4, transaction_id),
            conditions = ARRAY(SELECT DISTINCT unnest(conditions || $5::text[]) ORDER BY 1),
            updated_at = $3
        WHERE book_id = $1 AND id = $2 AND applied_at IS NULL
        """,
        *key,
        at,
        transaction_id,
        conditions,
    )


async def update_transaction(db: Db, key: BookKey, transaction_id: UUID) -> None:
    """Name the transaction by which a payment is seen."""
    await db.execute(
        "UPDATE payins SET transaction_id = $3 WHERE book_id = $1 AND id = $2", *key, transaction_id
    )


class ReturnedSums(msgspec.Struct, frozen=True, kw_only=True):
    """The sums that a provider took back of a payment: as it tells, and as booked."""

    told: Decimal
    amount: Decimal
    fee: Decimal
    is_reversed: bool
    conditions: list[str]


async def update_returned(db: Db, key: BookKey, row: ReturnedSums, now: datetime) -> None:
    """Part of a payment went back; a payment undone before its target took it never reaches it."""
    await db.execute(
        """
        UPDATE payins SET returned_told = $4, returned_amount = $5, returned_fee = $6,
            returned_at = $3, updated_at = $3,
            status = CASE WHEN $7 THEN 'reversed' ELSE status END,
            reversed_at = CASE WHEN $7 THEN coalesce(reversed_at, $3) ELSE reversed_at END,
            returned_applied = CASE WHEN target_id IS NULL OR conditions && '{other_currency}'
                OR ($7 AND applied_at IS NULL) THEN $5 ELSE returned_applied END,
            reversal_applied_at = CASE WHEN target_id IS NULL OR conditions && '{other_currency}'
                OR ($7 AND applied_at IS NULL) THEN $3 ELSE reversal_applied_at END,
            applied_at = CASE WHEN $7 THEN coalesce(applied_at, $3) ELSE applied_at END,
            conditions = ARRAY(SELECT DISTINCT unnest(conditions || $8::text[]) ORDER BY 1)
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
        *msgspec.structs.astuple(row),
    )


async def update_given_back(db: Db, key: BookKey, amount: Decimal, now: datetime) -> None:
    """Count so much more as given back by refunds of ours, or below zero less; it stays locked."""
    await db.execute(
        """
        UPDATE payins SET given_back = given_back + $3, updated_at = $4
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        amount,
        now,
    )


async def update_disputed(db: Db, key: BookKey, amount: Decimal) -> None:
    """Keep how much disputes hold of a payment that is locked."""
    await db.execute(
        "UPDATE payins SET disputed_amount = $3 WHERE book_id = $1 AND id = $2", *key, amount
    )


async def update_postings(db: Db, key: BookKey) -> int:
    """Count one more posting; how many there were since the payment was received."""
    return await db.fetchval(
        """
        UPDATE payins SET postings = postings + 1 WHERE book_id = $1 AND id = $2
        RETURNING postings
        """,
        *key,
    )


async def lock_payins(db: Db, book_id: BookId, ids: Sequence[UUID]) -> None:
    """Lock some payments, in the order of their ids."""
    await db.execute(
        """
        SELECT FROM payins p WHERE p.book_id = $1 AND p.id = ANY($2)
        ORDER BY p.id FOR NO KEY UPDATE OF p
        """,
        book_id,
        list(ids),
    )


async def count_kept(db: Db, book_id: BookId, target: tuple[str, UUID]) -> int:
    """How many payments a target (type, id) took that are still there."""
    return await db.fetchval(
        """
        SELECT count(*) FROM payins p
        WHERE p.book_id = $1 AND p.target_type = $2 AND p.target_id = $3
            AND p.applied_at IS NOT NULL AND NOT p.conditions && '{other_currency}'
            AND p.applied_at IS DISTINCT FROM p.reversed_at
            AND NOT (p.returned_applied > 0
                AND (p.status = 'reversed' OR p.returned_amount >= p.amount))
        """,
        book_id,
        *target,
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


async def update_reversal_applied(db: Db, key: BookKey, amount: Decimal, now: datetime) -> None:
    """A target gave back so much in all of the returned money."""
    await db.execute(
        """
        UPDATE payins SET reversal_applied_at = $3, updated_at = $3, returned_applied = $4
        WHERE book_id = $1 AND id = $2 AND returned_applied < $4
        """,
        *key,
        now,
        amount,
    )


find_there = StoredIds("payins")


async def list_with_money(db: Db, book_id: UUID, after: UUID, limit: int) -> Sequence[Record]:
    """Payments by id, with the sums of their transfers, by kind."""
    return await db.fetch(
        """
        SELECT p.id, p.status, p.amount, p.fee, p.given_back, p.returned_told,
            p.returned_amount, p.returned_fee, p.returned_applied, p.disputed_amount,
            p.conditions, p.target_id IS NULL OR p.conditions && '{other_currency}' AS is_unapplied,
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
