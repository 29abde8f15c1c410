"""Statements on a call that is held: move it on, let it wait again, end it."""

from datetime import datetime

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey


class CallEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a call."""

    status: str
    ended_reason: str
    ended_by: str
    duration_seconds: int
    outcome_code: str | None = None
    outcome: str | None = None
    summary: str | None = None
    has_opted_out: bool = False
    recording_status: str = "none"


class AttemptEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of an attempt."""

    result: str
    ended_by: str
    sip_status: int | None
    detail: str | None


async def update_postponed(
    db: Db, key: BookKey, due_at: datetime, reason: str, now: datetime
) -> None:
    """Let a call wait, with its slot free."""
    await db.execute(
        """
        UPDATE voice_calls SET status = 'queued', queue_reason = $4, due_at = $3,
            lease_until = NULL, recording_status = 'none', updated_at = $5
        WHERE book_id = $1 AND id = $2 AND ended_at IS NULL
        """,
        *key,
        due_at,
        reason,
        now,
    )


async def update_ringing(
    db: Db, key: BookKey, generation: int, provider_call_id: str | None, now: datetime
) -> bool:
    """The telephone rings; False when the call is no longer this worker's, or over."""
    return await db.execute_one(
        """
        UPDATE voice_calls SET status = 'ringing', ringing_at = $5, updated_at = $5,
            provider_call_id = coalesce($4, provider_call_id)
        WHERE book_id = $1 AND id = $2 AND generation = $3 AND status = 'dialing'
        """,
        *key,
        generation,
        provider_call_id,
        now,
    )


async def update_answered(
    db: Db,
    key: BookKey,
    generation: int,
    answer: tuple[str, str | None],
    now: datetime,
) -> bool:
    """Somebody has answered: (who, the provider's name); False when that comes too late."""
    return await db.execute_one(
        """
        UPDATE voice_calls SET status = 'in_progress', answered_at = $6, updated_at = $6,
            answered_by = $4, provider_call_id = coalesce($5, provider_call_id)
        WHERE book_id = $1 AND id = $2 AND generation = $3 AND status IN ('dialing', 'ringing')
        """,
        *key,
        generation,
        *answer,
        now,
    )


async def update_machine(db: Db, key: BookKey) -> None:
    """A machine had answered, as its greeting told."""
    await db.execute(
        "UPDATE voice_calls SET answered_by = 'machine' WHERE book_id = $1 AND id = $2", *key
    )


async def lock_held(db: Db, key: BookKey, generation: int) -> Record | None:
    """The state of a call that a worker holds; None when another one has taken it."""
    return await db.fetchrow(
        """
        SELECT status, answered_at, answered_by FROM voice_calls
        WHERE book_id = $1 AND id = $2 AND generation = $3 AND lease_until IS NOT NULL
        FOR NO KEY UPDATE
        """,
        *key,
        generation,
    )


async def end_held(
    db: Db, key: BookKey, generation: int, number: int, end: AttemptEnd, now: datetime
) -> str | None:
    """Lock a held call, and keep the result of its attempt; its status, None: not held."""
    return await db.fetchval(
        """
        WITH held AS (
            SELECT status FROM voice_calls
            WHERE book_id = $1 AND id = $2 AND generation = $9 AND lease_until IS NOT NULL
            FOR NO KEY UPDATE
        ), ended AS (
            UPDATE voice_attempts SET result = $4, ended_by = $5, sip_status = $6, detail = $7,
                ended_at = $8
            WHERE book_id = $1 AND call_id = $2 AND number = $3 AND ended_at IS NULL
                AND EXISTS (SELECT FROM held)
        )
        SELECT status FROM held
        """,
        *key,
        number,
        *msgspec.structs.astuple(end),
        now,
        generation,
    )


async def update_ended(db: Db, key: BookKey, end: CallEnd, now: datetime) -> None:
    """End a call that is locked, and free its slot."""
    await db.execute(
        """
        UPDATE voice_calls SET status = $3, queue_reason = NULL, lease_until = NULL,
            ended_reason = $4, ended_by = $5, duration_seconds = $6, outcome_code = $7,
            outcome = $8::text::jsonb, summary = $9, has_opted_out = $10,
            recording_status = $11, ended_at = $12, updated_at = $12
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(end),
        now,
    )


async def end_lease(db: Db, key: BookKey) -> None:
    """Free the slot of a call that has ended otherwise."""
    await db.execute(
        """
        UPDATE voice_calls SET lease_until = NULL,
            recording_status = CASE recording_status
                WHEN 'recording' THEN 'none' ELSE recording_status END
        WHERE book_id = $1 AND id = $2
        """,
        *key,
    )


async def end_attempt(db: Db, key: BookKey, number: int, end: AttemptEnd, now: datetime) -> None:
    """Keep the result of an attempt, once."""
    await db.execute(
        """
        UPDATE voice_attempts SET result = $4, ended_by = $5, sip_status = $6, detail = $7,
            ended_at = $8
        WHERE book_id = $1 AND call_id = $2 AND number = $3 AND ended_at IS NULL
        """,
        *key,
        number,
        *msgspec.structs.astuple(end),
        now,
    )
