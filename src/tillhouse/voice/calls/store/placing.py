"""Statements that decide about a new call, write it and cancel it."""

from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, CustomerId, OrderId


class CallNames(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a new call names; None where the field is wrong."""

    number_id: UUID | None
    agent_id: UUID | None
    phone: str | None
    order_id: UUID | None
    reservation_id: UUID | None
    own_key: str | None


class CallRow(msgspec.Struct, frozen=True, kw_only=True):
    """A call as it is placed."""

    queue_reason: str | None
    due_at: datetime
    not_after: datetime
    scheduled_for: datetime | None
    number_id: UUID
    agent_id: UUID
    provider: str
    customer_id: CustomerId | None
    customer_name: str | None
    customer_phone: str
    order_id: OrderId | None
    reservation_id: UUID | None
    purpose: str
    context: str | None
    metadata: str
    max_attempts: int
    idempotency_key: str | None
    idempotency_fingerprint: bytes | None


async def find_facts(db: Db, book_id: BookId, named: CallNames) -> Record:
    """The facts of a new call, and the one that its key made before."""
    [row] = await db.fetch(
        """
        SELECT
            (SELECT provider FROM voice_numbers
             WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL) AS provider,
            (SELECT allowed_prefixes FROM voice_numbers
             WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL) AS allowed_prefixes,
            a.status AS agent_status, a.max_attempts AS agent_max_attempts,
            (SELECT calls_per_day FROM voice_settings WHERE book_id = $1) AS calls_per_day,
            c.id AS customer_id, c.name AS customer_name,
            EXISTS (SELECT FROM voice_suppressions
                    WHERE book_id = $1 AND phone_number = $4) AS is_suppressed,
            EXISTS (SELECT FROM orders
                    WHERE book_id = $1 AND id = $5 AND deleted_at IS NULL) AS has_order,
            EXISTS (SELECT FROM hotel_reservations
                    WHERE book_id = $1 AND id = $6) AS has_reservation,
            e.id AS earlier_id, e.idempotency_fingerprint AS earlier_fingerprint
        FROM (SELECT) one
        LEFT JOIN voice_agents a ON a.book_id = $1 AND a.id = $3 AND a.deleted_at IS NULL
        LEFT JOIN customers c ON c.book_id = $1 AND c.phone_number = $4 AND c.deleted_at IS NULL
        LEFT JOIN voice_calls e ON e.book_id = $1 AND e.idempotency_key = $7
        """,
        book_id,
        *msgspec.structs.astuple(named),
    )
    return row


async def insert_call(db: Db, key: BookKey, row: CallRow, calls_max: int, now: datetime) -> bool:
    """Put a call into the queue, unless its day is full; the commit wakes the dispatchers.

    The row of the day is locked up to the commit: a call that is placed meanwhile sees its number.
    """
    was_placed = await db.execute_one(
        """
        WITH counted AS (
            INSERT INTO voice_days AS d (book_id, day, calls)
            SELECT k.id, ($4::timestamptz AT TIME ZONE u.time_zone)::date, 1
            FROM books k JOIN businesses u ON u.id = k.business_id
            WHERE k.id = $1 AND $22::int > 0
            ON CONFLICT (book_id, day) DO UPDATE SET calls = d.calls + 1
                WHERE d.book_id = $1 AND d.calls < $22
            RETURNING d.book_id
        )
        INSERT INTO voice_calls (book_id, id, status, queue_reason, due_at, expires_at,
            scheduled_at, number_id, agent_id, provider, customer_id, customer_name,
            customer_phone, order_id, reservation_id, purpose, context, metadata, max_attempts,
            idempotency_key, idempotency_fingerprint, created_at, updated_at)
        SELECT counted.book_id, $2, 'queued', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
            $15, $16, $17::text::jsonb, $18, $19, $20, $21, $21
        FROM counted
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
        calls_max,
    )
    db.queues_jobs = True
    return was_placed


async def lock_status(db: Db, book_id: BookId, call_id: UUID) -> str | None:
    """The status of a call, which stays as it is until the commit."""
    return await db.fetchval(
        "SELECT status FROM voice_calls WHERE book_id = $1 AND id = $2 FOR NO KEY UPDATE",
        book_id,
        call_id,
    )


async def update_hang_up(db: Db, key: BookKey, now: datetime) -> None:
    """Have an answered call ended by the process that makes it."""
    await db.execute(
        """
        UPDATE voice_calls SET hang_up_at = coalesce(hang_up_at, $3)
        WHERE book_id = $1 AND id = $2 AND status = 'in_progress'
        """,
        *key,
        now,
    )
    db.queues_jobs = True


async def update_cancelled(db: Db, key: BookKey, now: datetime) -> None:
    """Cancel an unanswered call; its dispatcher hangs up, and frees its slot."""
    await db.execute(
        """
        UPDATE voice_calls SET status = 'cancelled', queue_reason = NULL, ended_at = $3,
            ended_reason = 'cancelled', ended_by = 'system', updated_at = $3
        WHERE book_id = $1 AND id = $2 AND status IN ('queued', 'dialing', 'ringing')
        """,
        *key,
        now,
    )
    db.queues_jobs = True
