"""Statements of the sender: claim a batch, record a batch, end deliveries without an endpoint."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.columns import by_field
from tillhouse.kit.ids import BookId, DeliveryId, EndpointId
from tillhouse.kit.json import encode

# So many endpoints are looked at by one statement; the next one goes on after the last of them.
ENDPOINTS_LOOKED = 1000
FIRST_ENDPOINT = UUID(int=0)

# The queue is empty at one moment and holds a hundred thousand rows at the next. A plan made
# while it was empty (scan it all, hash it all) is kept and ruins the next hour, so the sender's
# connections know no plan but the one that is right at any size: from row to row by index, in
# the order in which the joins are written.
PLANNER = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "join_collapse_limit": "1",
    # Plans that depend on sizes are made anew each time: a batch is worth it.
    "plan_cache_mode": "force_custom_plan",
}


# Endpoints with something queued, found by hopping along the index: as many steps as endpoints are
# looked at, however much is queued. The first entry of an endpoint tells when it is due.
_QUEUED_ENDPOINTS = """
    WITH RECURSIVE queued AS (
        (SELECT q.endpoint_id, q.book_id, q.due_at FROM webhook_queue q
            WHERE q.endpoint_id > $1 ORDER BY q.endpoint_id, q.due_at LIMIT 1)
        UNION ALL
        SELECT n.endpoint_id, n.book_id, n.due_at FROM queued l CROSS JOIN LATERAL (
            SELECT q.endpoint_id, q.book_id, q.due_at FROM webhook_queue q
            WHERE q.endpoint_id > l.endpoint_id ORDER BY q.endpoint_id, q.due_at LIMIT 1) n
    ), looked AS (
        SELECT * FROM queued LIMIT $2
    ), onward AS (
        SELECT (SELECT endpoint_id FROM looked ORDER BY endpoint_id OFFSET $2 - 1) AS after
    )
"""

# Rows of one endpoint are found by its id alone: with the book beside it, a plan could go along
# the primary key through everything that the book has queued.
_CLAIM = (
    _QUEUED_ENDPOINTS
    + """
    , due AS (
        SELECT l.book_id, l.endpoint_id, l.due_at, e.is_failing, k.under_way, k.size,
            e.is_unproven OR k.is_doubted AS is_unproven
        FROM looked l
        CROSS JOIN LATERAL (
            SELECT e.failure_count >= $7 AS is_failing,
                e.last_delivery_status IS DISTINCT FROM 'delivered' AS is_unproven
            FROM webhook_endpoints e
            WHERE e.book_id = l.book_id AND e.id = l.endpoint_id AND e.status = 'active'
                AND (e.failure_count < $7 OR e.probe_until IS NULL OR e.probe_until <= $3)
            OFFSET 0
        ) e
        CROSS JOIN LATERAL (
            SELECT coalesce(($5::jsonb -> l.endpoint_id::text ->> 0)::int, 0) AS under_way,
                coalesce(($5::jsonb -> l.endpoint_id::text ->> 1)::int, $6) AS size,
                coalesce(($5::jsonb -> l.endpoint_id::text ->> 2)::bool, false) AS is_doubted
        ) k
        WHERE l.due_at <= $3 AND (e.is_failing OR k.size > k.under_way)
    ), probing AS (
        UPDATE webhook_endpoints e SET probe_until = $4
        FROM (SELECT * FROM due WHERE is_failing AND under_way = 0 ORDER BY due_at LIMIT $11) d
        WHERE e.book_id = d.book_id AND e.id = d.endpoint_id
            AND (e.probe_until IS NULL OR e.probe_until <= $3)
        RETURNING e.id
    ), room AS (
        (SELECT endpoint_id, under_way, size - under_way AS slots, 1 AS turn, false AS is_unproven
        FROM due WHERE NOT is_failing AND NOT is_unproven ORDER BY under_way, due_at LIMIT $8)
        UNION ALL
        (SELECT endpoint_id, under_way, size - under_way, 1, true
        FROM due WHERE NOT is_failing AND is_unproven ORDER BY under_way, due_at LIMIT $10)
        UNION ALL
        SELECT id, 0, 1, 0, true FROM probing
    ), found AS (
        SELECT c.book_id, c.delivery_id, c.due_at, r.turn, r.is_unproven, r.under_way
            + row_number() OVER (PARTITION BY r.endpoint_id ORDER BY c.due_at) AS level
        FROM room r CROSS JOIN LATERAL (
            SELECT q.book_id, q.delivery_id, q.due_at FROM webhook_queue q
            WHERE q.endpoint_id = r.endpoint_id AND q.due_at <= $3
            ORDER BY q.due_at LIMIT r.slots
            FOR UPDATE SKIP LOCKED) c
    ), allowed AS (
        SELECT *, row_number() OVER (ORDER BY turn, level, due_at) AS rank
        FROM (SELECT *, row_number() OVER
            (PARTITION BY is_unproven ORDER BY turn, level, due_at) AS of_kind FROM found) f
        WHERE NOT is_unproven OR of_kind <= $10
    ), chosen AS (
        SELECT * FROM allowed WHERE rank <= $8 AND (level <= $6 OR rank <= $9)
    ), claimed AS (
        UPDATE webhook_queue q SET is_claimed = true, due_at = $4,
            generation = q.generation + 1
        FROM chosen c WHERE q.book_id = c.book_id AND q.delivery_id = c.delivery_id
        RETURNING q.book_id, q.delivery_id, q.endpoint_id, q.event_id, q.attempt,
            q.generation, c.turn = 0 AS is_probe, c.is_unproven
    )
    SELECT c.*, o.after FROM onward o LEFT JOIN (
        SELECT c.book_id, c.delivery_id, c.endpoint_id, c.event_id, c.attempt, c.generation,
            c.is_probe, c.is_unproven, e.url, e.developer_app_id, s.secret_sealed, b.business_id,
            v.type, v.payload
        FROM claimed c
        JOIN webhook_endpoints e ON e.book_id = c.book_id AND e.id = c.endpoint_id
        JOIN webhook_secrets s ON s.book_id = e.book_id
            AND s.developer_app_id = e.developer_app_id
        JOIN books b ON b.id = c.book_id
        LEFT JOIN LATERAL (
            SELECT v.type, v.payload FROM webhook_events v
            WHERE v.book_id = c.book_id AND v.id = c.event_id OFFSET 0
        ) v ON true
    ) c ON true
"""
)

_END_STRANDED = (
    _QUEUED_ENDPOINTS
    + """
    , dead AS (
        SELECT l.endpoint_id FROM looked l
        LEFT JOIN webhook_endpoints e ON e.book_id = l.book_id AND e.id = l.endpoint_id
        WHERE e.status IS DISTINCT FROM 'active'
    ), chosen AS (
        SELECT c.book_id, c.delivery_id FROM dead d CROSS JOIN LATERAL (
            SELECT q.book_id, q.delivery_id FROM webhook_queue q
            WHERE q.endpoint_id = d.endpoint_id AND (NOT q.is_claimed OR q.due_at <= $4)
            LIMIT $5 FOR UPDATE SKIP LOCKED) c
        LIMIT $5
    ), gone AS (
        DELETE FROM webhook_queue q USING chosen s
        WHERE q.book_id = s.book_id AND q.delivery_id = s.delivery_id
        RETURNING q.book_id, q.delivery_id
    ), ended AS (
        UPDATE webhook_deliveries x SET status = 'failed', error_message = $3,
            next_attempt_at = NULL, updated_at = $4
        FROM gone g WHERE x.book_id = g.book_id AND x.id = g.delivery_id
        RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone) AS ended, o.after FROM onward o
"""
)


class FreeSlots(msgspec.Struct, frozen=True, kw_only=True):
    """How many attempts may begin now: all, and of them those that may turn out to hang."""

    free: int
    # Endpoints with more under way than a new one may have.
    deep: int
    # Endpoints whose last attempt was no success, or takes long.
    unproven: int
    # Endpoints that fail: part of the unproven.
    probes: int


class Expired(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed delivery whose event is no longer kept."""

    book_id: BookId
    delivery_id: DeliveryId
    endpoint_id: EndpointId
    generation: int
    is_probe: bool


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one attempt, as it is written."""

    book_id: BookId
    delivery_id: DeliveryId
    generation: int
    url: str
    is_delivered: bool
    response_status: int | None
    latency_ms: int
    error: str | None
    entry: str
    retry_at: datetime | None
    at: datetime


class EndpointResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a batch for one endpoint."""

    book_id: BookId
    endpoint_id: EndpointId
    had_success: bool
    had_probe: bool
    failures_after: int
    last_status: str
    last_delivered_at: datetime | None


async def claim_batch(  # noqa: PLR0913 - the facts of one statement
    db: Db,
    after: UUID,
    now: datetime,
    lease_ends_at: datetime,
    busy: Mapping[EndpointId, tuple[int, int, bool]],
    window: int,
    slots: FreeSlots,
    failures_to_probe: int,
) -> tuple[list[Record], UUID | None]:
    """Lease due deliveries, endpoint by endpoint.

    Looks at the endpoints that follow `after`, so many at a time; returns the leases, and after
    which endpoint to go on, None when it came to the last. `busy` tells (under way, window, whether
    it is doubted) of the endpoints that this worker knows; others have `window`. Where they
    compete for slots, those with the least under way come first, so that none waits for
    another. A failing endpoint gets one probe at a time, everywhere: the UPDATE of `probe_until`
    lets one worker through. Every probe that it lets through is claimed, so probes come first.
    A delivery whose event is gone comes without a payload.
    """
    rows = await db.fetch(
        _CLAIM,
        after,
        ENDPOINTS_LOOKED,
        now,
        lease_ends_at,
        encode(busy).decode(),
        window,
        failures_to_probe,
        slots.free,
        slots.deep,
        slots.unproven,
        slots.probes,
    )
    onward = rows[0]["after"] if rows else None
    return [row for row in rows if row["delivery_id"] is not None], onward


async def end_expired(db: Db, expired: Sequence[Expired], error: str, now: datetime) -> None:
    """End claimed deliveries whose event is gone; an endpoint probed by one of them is free."""
    await db.execute(
        """
        WITH expired AS (
            SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::bool[])
                AS x (book_id, delivery_id, endpoint_id, generation, is_probe)
        ), gone AS (
            DELETE FROM webhook_queue q USING expired x
            WHERE q.book_id = x.book_id AND q.delivery_id = x.delivery_id
                AND q.generation = x.generation
            RETURNING q.book_id, q.delivery_id
        ), opened AS (
            UPDATE webhook_endpoints e SET probe_until = NULL FROM expired x
            WHERE x.is_probe AND e.book_id = x.book_id AND e.id = x.endpoint_id
        )
        UPDATE webhook_deliveries d SET status = 'failed', error_message = $6,
            next_attempt_at = NULL, updated_at = $7
        FROM gone g WHERE d.book_id = g.book_id AND d.id = g.delivery_id
        """,
        *by_field(expired, Expired),
        error,
        now,
    )


async def turn_index_scans_off(db: Db) -> None:
    """Let statements of this transaction look rows up by their keys alone.

    Where statistics call the queue empty, a plan would walk all of it by its index and compare each
    row with each result. A bitmap scan needs a condition.
    """
    await db.execute("SELECT set_config('enable_indexscan', 'off', true)")


async def record_batch(db: Db, batch: Sequence[AttemptResult]) -> None:
    """Write results, one per delivery.

    One whose generation is over, or written before, is noted as an attempt and changes nothing.
    """
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
            RETURNING d.*
        ), later AS (
            UPDATE webhook_queue q SET due_at = d.retry_at, is_claimed = false,
                attempt = q.attempt + 1
            FROM done d
            WHERE q.book_id = d.book_id AND q.delivery_id = d.delivery_id
                AND q.generation = d.generation AND q.is_claimed AND d.retry_at IS NOT NULL
            RETURNING d.*
        ), current AS (
            SELECT * FROM over UNION ALL SELECT * FROM later
        ), outdated AS (
            SELECT book_id, delivery_id, entry FROM done
            EXCEPT SELECT book_id, delivery_id, entry FROM current
        ), stale AS (
            UPDATE webhook_deliveries x SET attempts_log = x.attempts_log || o.entry::jsonb
            FROM outdated o
            WHERE x.book_id = o.book_id AND x.id = o.delivery_id
                AND NOT x.attempts_log @> jsonb_build_array(o.entry::jsonb)
        )
        UPDATE webhook_deliveries x SET
            status = CASE WHEN c.is_delivered THEN 'delivered' ELSE 'failed' END,
            url = c.url, attempts = x.attempts + 1, response_status = c.response_status,
            latency_ms = c.latency_ms, error_message = c.error,
            attempts_log = x.attempts_log || c.entry::jsonb, next_attempt_at = c.retry_at,
            delivered_at = CASE WHEN c.is_delivered THEN c.at END, updated_at = c.at
        FROM current c
        WHERE x.book_id = c.book_id AND x.id = c.delivery_id
        """,
        *by_field(batch, AttemptResult),
    )


async def update_endpoint_results(
    db: Db, endpoint_results: Sequence[EndpointResult], now: datetime, most: int, warn: int
) -> Sequence[Record]:
    """Count consecutive failures; the endpoints that reached `warn`, or `most` and are disabled."""
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
                CASE WHEN NOT r.had_success THEN e.failure_count ELSE 0 END AS failures_before,
                CASE WHEN r.had_success AND r.failures_after = 0 THEN NULL
                    WHEN r.had_success OR e.first_failed_at IS NULL THEN $8
                    ELSE e.first_failed_at END AS first_failed_at,
                r.last_status, r.last_delivered_at, r.had_probe
            FROM webhook_endpoints e
            JOIN result r ON r.book_id = e.book_id AND r.endpoint_id = e.id
            JOIN books b ON b.id = e.book_id
            ORDER BY e.book_id, e.id FOR NO KEY UPDATE OF e
        ), updated AS (
            UPDATE webhook_endpoints e SET failure_count = l.failures,
                first_failed_at = l.first_failed_at,
                probe_until = CASE WHEN NOT l.had_probe THEN e.probe_until END,
                last_delivery_status = l.last_status,
                last_delivered_at = coalesce(l.last_delivered_at, e.last_delivered_at),
                status = CASE WHEN l.failures >= $9 THEN 'disabled' ELSE e.status END,
                disabled_at = CASE WHEN l.failures >= $9 AND e.status = 'active' THEN $8
                    ELSE e.disabled_at END
            FROM locked l WHERE e.book_id = l.book_id AND e.id = l.id
        )
        SELECT book_id, id, business_id, environment, failures, first_failed_at,
            failures >= $9 AS is_disabled
        FROM locked
        WHERE status = 'active'
            AND (failures >= $9 OR (failures >= $10 AND failures_before < $10))
        """,
        *by_field(endpoint_results, EndpointResult),
        now,
        most,
        warn,
    )


async def end_stranded(
    db: Db, after: UUID, error: str, now: datetime, limit: int
) -> tuple[int, UUID | None]:
    """End some queued deliveries whose endpoint is disabled or gone.

    Looks at the endpoints that follow `after`; returns how many it ended, and after which one to go
    on. One that is under way is left to its worker: it may still be delivered.
    """
    row = await db.write_once(_END_STRANDED, after, ENDPOINTS_LOOKED, error, now, limit)
    return (row["ended"], row["after"]) if row else (0, None)
