"""Statements of the sender: claim a batch, record a batch, end what has nowhere to go."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.json import encode

LANES_MAX = 5000

# The queue is empty at one moment and holds a hundred thousand rows at the next. A plan made
# while it was empty (scan it all, hash it all) is kept and ruins the next hour, so the sender's
# connections know no plan but the one that is right at any size: from row to row by index, in
# the order in which the joins are written.
PLANNER = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "join_collapse_limit": "1",
    # What even so depends on sizes is planned anew each time: a batch is worth it.
    "plan_cache_mode": "force_custom_plan",
}


# Every endpoint with something queued, found by hopping along the index: as many steps as
# there are such endpoints, however much is queued.
_LANES = """
    WITH RECURSIVE lanes AS (
        (SELECT q.endpoint_id, q.book_id FROM webhook_queue q ORDER BY q.endpoint_id LIMIT 1)
        UNION ALL
        SELECT n.endpoint_id, n.book_id FROM lanes l CROSS JOIN LATERAL (
            SELECT q.endpoint_id, q.book_id FROM webhook_queue q
            WHERE q.endpoint_id > l.endpoint_id ORDER BY q.endpoint_id LIMIT 1) n
    )
"""

_CLAIM = (
    _LANES
    + """
    , due AS (
        SELECT l.book_id, l.endpoint_id, e.is_failing, k.under_way, k.size
        FROM (SELECT * FROM lanes LIMIT $7) l
        CROSS JOIN LATERAL (
            SELECT e.failure_count >= $6 AS is_failing FROM webhook_endpoints e
            WHERE e.book_id = l.book_id AND e.id = l.endpoint_id AND e.status = 'active'
                AND (e.failure_count < $6 OR e.probe_until IS NULL OR e.probe_until <= $1)
            OFFSET 0
        ) e
        CROSS JOIN LATERAL (
            SELECT coalesce(($3::jsonb -> l.endpoint_id::text ->> 0)::int, 0) AS under_way,
                coalesce(($3::jsonb -> l.endpoint_id::text ->> 1)::int, $4) AS size
        ) k
        WHERE (e.is_failing OR k.size > k.under_way) AND EXISTS (
            SELECT FROM webhook_queue q WHERE q.book_id = l.book_id
                AND q.endpoint_id = l.endpoint_id AND q.due_at <= $1)
    ), probing AS (
        UPDATE webhook_endpoints e SET probe_until = $2
        FROM (SELECT * FROM due WHERE is_failing AND under_way = 0
            LIMIT greatest(1, $5::int / 2)) d
        WHERE e.book_id = d.book_id AND e.id = d.endpoint_id
            AND (e.probe_until IS NULL OR e.probe_until <= $1)
        RETURNING e.book_id, e.id
    ), room AS (
        SELECT book_id, endpoint_id, under_way, size - under_way AS places, 1 AS turn
        FROM due WHERE NOT is_failing
        UNION ALL
        SELECT book_id, id, 0, 1, 0 FROM probing
    ), chosen AS (
        SELECT c.book_id, c.delivery_id, r.turn FROM room r CROSS JOIN LATERAL (
            SELECT q.book_id, q.delivery_id, q.due_at FROM webhook_queue q
            WHERE q.book_id = r.book_id AND q.endpoint_id = r.endpoint_id AND q.due_at <= $1
            ORDER BY q.due_at LIMIT r.places
            FOR UPDATE SKIP LOCKED) c
        ORDER BY r.turn, r.under_way
            + row_number() OVER (PARTITION BY r.endpoint_id ORDER BY c.due_at), c.due_at
        LIMIT $5
    ), claimed AS (
        UPDATE webhook_queue q SET is_claimed = true, due_at = $2,
            generation = q.generation + 1
        FROM chosen c WHERE q.book_id = c.book_id AND q.delivery_id = c.delivery_id
        RETURNING q.book_id, q.delivery_id, q.endpoint_id, q.event_id, q.attempt,
            q.generation, c.turn = 0 AS is_probe
    )
    SELECT c.book_id, c.delivery_id, c.endpoint_id, c.event_id, c.attempt, c.generation,
        c.is_probe, e.url, e.developer_app_id, s.secret_sealed, b.business_id, v.type, v.payload
    FROM claimed c
    JOIN webhook_endpoints e ON e.book_id = c.book_id AND e.id = c.endpoint_id
    JOIN webhook_secrets s ON s.book_id = e.book_id
        AND s.developer_app_id = e.developer_app_id
    JOIN books b ON b.id = c.book_id
    CROSS JOIN LATERAL (
        SELECT v.type, v.payload FROM webhook_events v
        WHERE v.book_id = c.book_id AND v.id = c.event_id OFFSET 0
    ) v
"""
)

_END_STRANDED = (
    _LANES
    + """
    , dead AS (
        SELECT l.book_id, l.endpoint_id FROM (SELECT * FROM lanes LIMIT $4) l
        LEFT JOIN webhook_endpoints e ON e.book_id = l.book_id AND e.id = l.endpoint_id
        WHERE e.status IS DISTINCT FROM 'active'
    ), chosen AS (
        SELECT c.book_id, c.delivery_id FROM dead d CROSS JOIN LATERAL (
            SELECT q.book_id, q.delivery_id FROM webhook_queue q
            WHERE q.book_id = d.book_id AND q.endpoint_id = d.endpoint_id
                AND (NOT q.is_claimed OR q.due_at <= $2)
            LIMIT $3 FOR UPDATE SKIP LOCKED) c
        LIMIT $3
    ), gone AS (
        DELETE FROM webhook_queue q USING chosen s
        WHERE q.book_id = s.book_id AND q.delivery_id = s.delivery_id
        RETURNING q.book_id, q.delivery_id
    ), ended AS (
        UPDATE webhook_deliveries x SET status = 'failed', error_message = $1,
            next_attempt_at = NULL, updated_at = $2
        FROM gone g WHERE x.book_id = g.book_id AND x.id = g.delivery_id
        RETURNING 1
    )
    SELECT count(*) FROM gone
"""
)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one attempt, as it is written."""

    book_id: UUID
    delivery_id: UUID
    generation: int
    url: str
    is_delivered: bool
    response_status: int | None
    latency_ms: int
    error: str | None
    entry: str
    retry_at: datetime | None
    at: datetime


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What a batch of results means for one endpoint."""

    book_id: UUID
    endpoint_id: UUID
    had_success: bool
    had_probe: bool
    failures_after: int
    last_status: str
    last_delivered_at: datetime | None


async def claim_batch(  # noqa: PLR0913 - the facts of one statement
    db: Db,
    now: datetime,
    lease_ends_at: datetime,
    busy: Mapping[UUID, tuple[int, int]],
    window: int,
    free: int,
    failures_to_probe: int,
) -> Sequence[Record]:
    """Lease due deliveries, lane by lane: a lane is the queue of one endpoint.

    `busy` tells (under way, window) of the endpoints that this worker knows; others have
    `window`. Where lanes compete for `free` places, those with the least under way come first,
    so that no lane waits for another. A lane that fails gets one probe at a time, everywhere:
    the UPDATE of `probe_until` lets one worker through. Every probe that it lets through is
    claimed, so probes come first, and take no more than half of the places.
    """
    return await db.fetch(
        _CLAIM,
        now,
        lease_ends_at,
        encode(busy).decode(),
        window,
        free,
        failures_to_probe,
        LANES_MAX,
    )


async def record_batch(db: Db, batch: Sequence[Done]) -> None:
    """Write results, one per delivery.

    One whose generation is over, or written before, is noted as an attempt and changes nothing.
    """
    columns: list[list[Any]] = [
        [getattr(done, name) for done in batch] for name in Done.__struct_fields__
    ]
    await db.execute(
        """
        WITH done AS (
            SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::bool[],
                $6::int[], $7::int[], $8::text[], $9::text[], $10::timestamptz[],
                $11::timestamptz[])
                AS d (book_id, delivery_id, generation, url, is_delivered, response_status,
                    latency_ms, error, entry, retry_at, at)
        ), over AS (
            DELETE FROM webhook_queue q USING done d
            WHERE q.book_id = d.book_id AND q.delivery_id = d.delivery_id
                AND q.generation = d.generation AND q.is_claimed AND d.retry_at IS NULL
            RETURNING q.book_id, q.delivery_id
        ), later AS (
            UPDATE webhook_queue q SET due_at = d.retry_at, is_claimed = false,
                attempt = q.attempt + 1
            FROM done d
            WHERE q.book_id = d.book_id AND q.delivery_id = d.delivery_id
                AND q.generation = d.generation AND q.is_claimed AND d.retry_at IS NOT NULL
            RETURNING q.book_id, q.delivery_id
        ), current AS (
            SELECT book_id, delivery_id FROM over UNION ALL SELECT book_id, delivery_id FROM later
        ), stale AS (
            UPDATE webhook_deliveries x SET attempts_log = x.attempts_log || d.entry::jsonb
            FROM done d
            WHERE x.book_id = d.book_id AND x.id = d.delivery_id
                AND NOT x.attempts_log @> jsonb_build_array(d.entry::jsonb) AND NOT EXISTS (
                SELECT FROM current c
                WHERE c.book_id = d.book_id AND c.delivery_id = d.delivery_id)
        )
        UPDATE webhook_deliveries x SET
            status = CASE WHEN d.is_delivered THEN 'delivered' ELSE 'failed' END,
            url = d.url, attempts = x.attempts + 1, response_status = d.response_status,
            latency_ms = d.latency_ms, error_message = d.error,
            attempts_log = x.attempts_log || d.entry::jsonb, next_attempt_at = d.retry_at,
            delivered_at = CASE WHEN d.is_delivered THEN d.at END, updated_at = d.at
        FROM done d JOIN current c ON c.book_id = d.book_id AND c.delivery_id = d.delivery_id
        WHERE x.book_id = d.book_id AND x.id = d.delivery_id
        """,
        *columns,
    )


async def update_standings(
    db: Db, standings: Sequence[Standing], now: datetime, most: int
) -> Sequence[Record]:
    """Count consecutive failures; the endpoints that reached `most` and are now disabled."""
    columns: list[list[Any]] = [
        [getattr(standing, name) for standing in standings] for name in Standing.__struct_fields__
    ]
    return await db.fetch(
        """
        WITH result AS (
            SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bool[], $4::bool[], $5::int[],
                $6::text[], $7::timestamptz[]) AS r (book_id, endpoint_id, had_success,
                    had_probe, failures_after, last_status, last_delivered_at)
        ), locked AS (
            SELECT e.book_id, e.id, e.status, b.business_id, b.environment,
                CASE WHEN r.had_success THEN r.failures_after
                    ELSE e.failure_count + r.failures_after END AS failures,
                r.last_status, r.last_delivered_at, r.had_probe
            FROM webhook_endpoints e
            JOIN result r ON r.book_id = e.book_id AND r.endpoint_id = e.id
            JOIN books b ON b.id = e.book_id
            ORDER BY e.book_id, e.id FOR NO KEY UPDATE OF e
        ), updated AS (
            UPDATE webhook_endpoints e SET failure_count = l.failures,
                probe_until = CASE WHEN NOT l.had_probe THEN e.probe_until END,
                last_delivery_status = l.last_status,
                last_delivered_at = coalesce(l.last_delivered_at, e.last_delivered_at),
                status = CASE WHEN l.failures >= $9 THEN 'disabled' ELSE e.status END,
                disabled_at = CASE WHEN l.failures >= $9 AND e.status = 'active' THEN $8
                    ELSE e.disabled_at END
            FROM locked l WHERE e.book_id = l.book_id AND e.id = l.id
        )
        SELECT book_id, id, business_id, environment, failures FROM locked
        WHERE status = 'active' AND failures >= $9
        """,
        *columns,
        now,
        most,
    )


async def end_stranded(db: Db, error: str, now: datetime, limit: int) -> int:
    """End some queued deliveries whose endpoint is disabled or gone; how many.

    One that is under way is left to its worker: it may still be delivered.
    """
    return await db.fetchval(
        _END_STRANDED,
        error,
        now,
        limit,
        LANES_MAX,
    )
