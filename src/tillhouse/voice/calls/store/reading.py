"""Statements that read calls: one, and a page."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, CustomerId
from tillhouse.kit.page import Page, walk

CALL: LiteralString = """
    SELECT c.id, c.status, CASE WHEN c.status <> 'queued' THEN NULL
            WHEN n.status = 'paused' THEN 'number_paused'
            WHEN c.due_at > now() THEN c.queue_reason
            WHEN n.next_dial_at > now() THEN 'rate'
            WHEN n.max_concurrent_calls <= (
                SELECT count(*) FROM voice_calls l
                WHERE l.book_id = c.book_id AND l.number_id = c.number_id
                    AND l.lease_until > now()) THEN 'concurrency' END AS queue_reason,
        c.direction, c.customer_id, c.customer_name, c.customer_phone, c.purpose, c.context,
        c.order_id, c.reservation_id, c.number_id, n.phone_number, c.agent_id,
        a.name AS agent_name, c.provider, c.provider_call_id, c.attempt, c.max_attempts,
        iso(c.scheduled_at) AS scheduled_for, iso(c.due_at) AS not_before,
        iso(c.expires_at) AS not_after, iso(c.dialed_at) AS dialed_at,
        iso(c.ringing_at) AS ringing_at, iso(c.answered_at) AS answered_at,
        iso(c.ended_at) AS ended_at, c.duration_seconds, c.ended_reason, c.ended_by,
        c.answered_by, c.outcome_code, c.outcome::text AS outcome, c.has_opted_out AS opt_out,
        c.summary, CASE WHEN c.answered_at IS NULL THEN 'none'
            WHEN c.ended_at IS NULL THEN 'in_progress'
            WHEN EXISTS (SELECT FROM voice_steps s
                WHERE s.book_id = c.book_id AND s.call_id = c.id) THEN 'ready'
            ELSE 'none' END AS transcript_status,
        c.recording_status, c.idempotency_key, c.metadata::text AS metadata,
        iso(c.created_at) AS created_at, iso(c.updated_at) AS updated_at,
        (SELECT coalesce(json_agg(json_build_object('number', t.number,
                'startedAt', iso(t.started_at), 'endedAt', iso(t.ended_at), 'result', t.result,
                'sipStatus', t.sip_status, 'detail', t.detail) ORDER BY t.number), '[]')::text
         FROM voice_attempts t WHERE t.book_id = c.book_id AND t.call_id = c.id) AS attempts
    FROM voice_calls c
    JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
    JOIN voice_agents a ON a.book_id = c.book_id AND a.id = c.agent_id
    WHERE c.book_id = $1
"""
"""A call as it is shown, of one book; more conditions follow."""
_NEWEST_FIRST: LiteralString = " ORDER BY c.created_at DESC, c.id DESC"
_OLDEST_FIRST: LiteralString = " ORDER BY c.created_at, c.id"


class CallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on calls; an absent one (None) lets all pass."""

    statuses: list[str] | None = None
    agent_id: UUID | None = None
    number_id: UUID | None = None
    ended_reason: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    phone: str | None = None
    customer_id: CustomerId | None = None
    # A search, and those of its words that a text has letter by letter.
    words: str | None = None
    letters: Sequence[str] = ()

    @property
    def is_tallied(self) -> bool:
        """Whether the tallies know all that it asks for."""
        return self.phone is None and self.customer_id is None


def and_filters(fixed: Where, query: CallQuery) -> Where:
    """All conditions but the statuses and the words."""
    return (
        fixed.and_("c.agent_id = $", query.agent_id)
        .and_("c.number_id = $", query.number_id)
        .and_("c.ended_reason = $", query.ended_reason)
        .and_("c.created_at >= $", query.since)
        .and_("c.created_at <= $", query.until)
        .and_("c.customer_phone = $", query.phone)
        .and_("c.customer_id = $", query.customer_id)
    )


async def show_call(db: Db, book_id: BookId, call_id: UUID) -> Record | None:
    """One call."""
    return await db.fetchrow(CALL + " AND c.id = $2", book_id, call_id)


async def list_calls(
    db: Db, book_id: BookId, query: CallQuery, page: Page, total: int
) -> Sequence[Record]:
    """One page of the calls that fit, the newest first; only its rows are looked up whole.

    A page beyond the middle is walked to from the oldest call.
    """
    [status] = query.statuses or [None]
    where = and_filters(Where(book_id), query).and_("c.status = $", status)
    way = walk(page, total)
    return await db.fetch(
        CALL
        + " AND c.id IN (SELECT c.id FROM voice_calls c WHERE c.book_id = $1"
        + where.sql()
        + (_OLDEST_FIRST if way.is_from_last else _NEWEST_FIRST)
        + " LIMIT "
        + where.slot(way.count)
        + " OFFSET "
        + where.slot(way.skipped)
        + ")"
        + _NEWEST_FIRST,
        *where.args,
    )


async def list_calls_of_statuses(
    db: Db, book_id: BookId, query: CallQuery, page: Page
) -> Sequence[Record]:
    """The same of some statuses: the newest of each by its index, then the newest of these."""
    where = and_filters(Where(book_id, query.statuses, page.offset + page.per_page), query)
    return await db.fetch(
        CALL
        + """ AND c.id IN (
            SELECT f.id FROM unnest($2::text[]) s (status) CROSS JOIN LATERAL (
                SELECT c.id, c.created_at FROM voice_calls c
                WHERE c.book_id = $1 AND c.status = s.status
        """
        + where.sql()
        + " ORDER BY c.created_at DESC, c.id DESC LIMIT $3"
        + ") f ORDER BY f.created_at DESC, f.id DESC LIMIT "
        + where.window(page)
        + ") ORDER BY c.created_at DESC, c.id DESC",
        *where.args,
    )


async def find_recording(db: Db, book_id: BookId, call_id: UUID) -> Record | None:
    """The recording of a call, if there is one."""
    return await db.fetchrow(
        """
        SELECT c.recording_status, r.file, r.duration_ms, r.size_bytes, r.ready_at
        FROM voice_calls c
        LEFT JOIN voice_recordings r ON r.book_id = c.book_id AND r.call_id = c.id
        WHERE c.book_id = $1 AND c.id = $2
        """,
        book_id,
        call_id,
    )


async def list_turns(db: Db, book_id: BookId, call_id: UUID) -> Sequence[Record] | None:
    """The steps of a call; None where there is no such call."""
    rows = await db.fetch(
        """
        SELECT s.role, s.text, s.started_ms AS start_ms, s.ended_ms AS end_ms, s.confidence
        FROM voice_calls c
        LEFT JOIN voice_steps s ON s.book_id = c.book_id AND s.call_id = c.id
        WHERE c.book_id = $1 AND c.id = $2 ORDER BY s.attempt, s.started_ms, s.position
        """,
        book_id,
        call_id,
    )
    if not rows:
        return None
    return [row for row in rows if row["role"] is not None]
