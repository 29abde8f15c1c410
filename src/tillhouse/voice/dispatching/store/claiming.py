"""Statements that claim calls: find those that are due, lock one, note that it is dialled."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey, BusinessId
from tillhouse.kit.secrets import Environment

# Numbers with a call that is due, found by hopping along the index: as many steps as numbers are
# looked at, however many calls wait.
NUMBERS_LOOKED = 200
FIRST = (UUID(int=0), UUID(int=0))

CLAIMED: LiteralString = """
    SELECT c.book_id, c.id, c.status, c.generation, c.number_id, c.agent_id, c.provider,
        c.customer_name, c.customer_phone, c.order_id, c.reservation_id, c.purpose, c.context,
        c.attempt, c.max_attempts, c.expires_at AS not_after, c.answered_at, c.answered_by,
        c.recording_status,
        n.phone_number, n.settings_sealed, n.calls_from, n.calls_until,
        n.deleted_at IS NULL AS is_number_there,
        a.status = 'active' AND a.deleted_at IS NULL AS is_agent_active, a.name AS agent_name,
        a.script, a.tools, a.runtime, a.model_url, a.model_name, a.model_key_sealed,
        a.language, a.tone, a.instructions, a.disclosure, a.greeting, a.is_recording,
        a.voicemail_action, a.max_duration_s, a.ring_timeout_s, a.silence_timeout_s,
        a.retry_delay_s,
        (SELECT json_object_agg(p.step, p.text)::text FROM voice_prompts p
            WHERE p.book_id = c.book_id AND p.agent_id = c.agent_id AND p.script = a.script
        ) AS prompts,
        coalesce((SELECT true FROM voice_suppressions s
            WHERE s.book_id = c.book_id AND s.phone_number = c.customer_phone), false
        ) AS is_suppressed,
        k.environment, b.id AS business_id, b.name AS business_name,
        b.time_zone AS business_zone
    FROM voice_calls c
    JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
    JOIN voice_agents a ON a.book_id = c.book_id AND a.id = c.agent_id
    JOIN books k ON k.id = c.book_id
    JOIN businesses b ON b.id = k.business_id
"""
"""A call with all that it takes to make it; conditions follow."""


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """A call with all that it takes to make it, as it was when it was locked."""

    book_id: BookId
    id: UUID
    status: str
    generation: int
    number_id: UUID
    agent_id: UUID
    provider: str
    customer_name: str | None
    customer_phone: str
    order_id: UUID | None
    reservation_id: UUID | None
    purpose: str
    context: str | None
    attempt: int
    max_attempts: int
    not_after: datetime
    answered_at: datetime | None
    answered_by: str | None
    recording_status: str
    phone_number: str
    settings_sealed: bytes | None
    calls_from: str | None
    calls_until: str | None
    is_number_there: bool
    is_agent_active: bool
    agent_name: str
    script: str
    tools: list[str]
    runtime: str
    model_url: str | None
    model_name: str | None
    model_key_sealed: bytes | None
    language: str
    tone: str
    instructions: str | None
    disclosure: str
    greeting: str | None
    is_recording: bool
    voicemail_action: str
    max_duration_s: int
    ring_timeout_s: int
    silence_timeout_s: int
    retry_delay_s: int
    # The words of the sounds of the agent's script, by their steps, as JSON.
    prompts: str | None
    is_suppressed: bool
    environment: Environment
    business_id: BusinessId
    business_name: str
    business_zone: str

    @property
    def key(self) -> BookKey:
        """The primary key of its row."""
        return BookKey(self.book_id, self.id)


async def list_numbers_waiting(db: Db, after: tuple[UUID, UUID], limit: int) -> Sequence[Record]:
    """Numbers of all books, in turn, from which calls wait: book_id and number_id.

    `due_at` is when the next one may be dialled; it is null where the number is paused.
    """
    return await db.fetch(
        """
        WITH RECURSIVE queued AS (
            (SELECT c.book_id, c.number_id, c.due_at FROM voice_calls c
             WHERE c.status = 'queued' AND (c.book_id, c.number_id) > ($1, $2)
             ORDER BY c.book_id, c.number_id, c.due_at LIMIT 1)
            UNION ALL
            SELECT n.book_id, n.number_id, n.due_at FROM queued l CROSS JOIN LATERAL (
                SELECT c.book_id, c.number_id, c.due_at FROM voice_calls c
                WHERE c.status = 'queued'
                    AND (c.book_id, c.number_id) > (l.book_id, l.number_id)
                ORDER BY c.book_id, c.number_id, c.due_at LIMIT 1) n
        )
        SELECT q.book_id, q.number_id, CASE
            WHEN n.status = 'active' OR n.deleted_at IS NOT NULL
            THEN greatest(q.due_at, n.next_dial_at) END AS due_at
        FROM (SELECT * FROM queued LIMIT $3) q
        JOIN voice_numbers n ON n.book_id = q.book_id AND n.id = q.number_id
        ORDER BY q.book_id, q.number_id
        """,
        *after,
        limit,
    )


async def lock_number(db: Db, book_id: BookId, number_id: UUID, now: datetime) -> Record | None:
    """A number that may dial now, locked; None when it may not, or another dispatcher has it."""
    return await db.fetchrow(
        """
        SELECT n.max_concurrent_calls, n.calls_per_second FROM voice_numbers n
        WHERE n.book_id = $1 AND n.id = $2 AND (n.status = 'active' OR n.deleted_at IS NOT NULL)
            AND coalesce(n.next_dial_at, '-infinity') <= $3
        FOR NO KEY UPDATE SKIP LOCKED
        """,
        book_id,
        number_id,
        now,
    )


async def lock_next(
    db: Db, book_id: BookId, number_id: UUID, now: datetime, slots: int
) -> Claimed | None:
    """The call of a locked number that waits longest, locked, if a slot is free."""
    row = await db.fetchrow(
        CLAIMED
        + """
        WHERE c.book_id = $1 AND c.number_id = $2 AND c.status = 'queued' AND c.due_at <= $3
            AND (SELECT count(*) FROM voice_calls l
                 WHERE l.book_id = $1 AND l.number_id = $2 AND l.lease_until > $3) < $4
        ORDER BY c.due_at, c.id LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED
        """,
        book_id,
        number_id,
        now,
        slots,
    )
    return Claimed(**row) if row else None


async def lock_waiting(
    db: Db, book_id: BookId, number_id: UUID, now: datetime, limit: int
) -> list[Claimed]:
    """The calls of a locked number that wait longest, locked."""
    rows = await db.fetch(
        CLAIMED
        + """
        WHERE c.book_id = $1 AND c.number_id = $2 AND c.status = 'queued' AND c.due_at <= $3
        ORDER BY c.due_at, c.id LIMIT $4 FOR NO KEY UPDATE OF c SKIP LOCKED
        """,
        book_id,
        number_id,
        now,
        limit,
    )
    return [Claimed(**row) for row in rows]


async def lock_call(db: Db, key: BookKey) -> Claimed | None:
    """One call, locked."""
    row = await db.fetchrow(
        CLAIMED + " WHERE c.book_id = $1 AND c.id = $2 FOR NO KEY UPDATE OF c", *key
    )
    return Claimed(**row) if row else None


async def update_dialing(
    db: Db, call: Claimed, attempt_id: UUID, now: datetime, until: datetime, next_at: datetime
) -> None:
    """The intent to dial: status, slot, attempt and pace, committed before anybody is dialled."""
    await db.execute(
        """
        WITH pace AS (
            UPDATE voice_numbers SET next_dial_at = $8 WHERE book_id = $1 AND id = $3
        ), attempt AS (
            INSERT INTO voice_attempts (book_id, call_id, number, id, started_at)
            VALUES ($1, $2, $4, $5, $6)
        )
        UPDATE voice_calls SET status = 'dialing', queue_reason = NULL, attempt = $4,
            generation = generation + 1, lease_until = $7, dialed_at = $6, ringing_at = NULL,
            updated_at = $6, recording_status = CASE WHEN $9 THEN 'recording' ELSE 'none' END
        WHERE book_id = $1 AND id = $2
        """,
        *call.key,
        call.number_id,
        call.attempt + 1,
        attempt_id,
        now,
        until,
        next_at,
        call.is_recording,
    )


async def update_quiet(
    db: Db, book_id: BookId, times: Mapping[UUID, datetime], now: datetime
) -> None:
    """Let calls of one number wait for the hours of calling, each until its time."""
    await db.execute(
        """
        UPDATE voice_calls c SET queue_reason = 'quiet_hours', due_at = w.due_at, updated_at = $4
        FROM unnest($2::uuid[], $3::timestamptz[]) w (id, due_at)
        WHERE c.book_id = $1 AND c.id = w.id AND c.lease_until IS NULL AND c.ended_at IS NULL
        """,
        book_id,
        list(times),
        list(times.values()),
        now,
    )
