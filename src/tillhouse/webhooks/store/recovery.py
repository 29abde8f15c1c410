"""Statements of recoveries: queue failed deliveries again, and events that had none."""

from datetime import datetime

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey

# Events of a time window that an endpoint would get and has no delivery of. So many events of the
# book are looked at, the oldest first, so that the work is bounded however few of them are missing;
# when there may be more, `onward` is the moment of the last one. A delivery's id is of about the
# time of its event or later, so older weeks need no look.
_MISSING = """
    WITH looked AS MATERIALIZED (
        SELECT v.id, v.type, v.developer_app_id FROM webhook_events v
        WHERE v.book_id = $1 AND v.id >= least_id($3) AND v.id < least_id($4)
        ORDER BY v.id LIMIT $5
    ), onward AS (
        SELECT (SELECT made_at(id) FROM looked ORDER BY id OFFSET $5 - 1) AS at
    ), missing AS (
        SELECT e.book_id, e.id AS endpoint_id, e.developer_app_id, e.url, v.id, v.type
        FROM looked v JOIN webhook_endpoints e ON e.book_id = $1 AND e.id = $2
        WHERE (v.type = ANY(e.events) OR e.events = '{*}')
            AND (v.developer_app_id IS NULL OR v.developer_app_id = e.developer_app_id)
            AND NOT EXISTS (SELECT FROM webhook_deliveries d
                WHERE d.book_id = $1 AND d.event_id = v.id AND d.webhook_endpoint_id = $2
                    AND d.id >= least_id(made_at(v.id) - interval '1 hour'))
    )
"""


async def count_recoverable(
    db: Db, key: BookKey, window: tuple[datetime, datetime], status: str, limit: int
) -> int:
    """How many of an endpoint's deliveries of a time window would be queued again."""
    return await db.fetchval(
        """
        SELECT count(*) FROM (
            SELECT FROM webhook_deliveries d
            WHERE d.book_id = $1 AND d.webhook_endpoint_id = $2
                AND d.id >= least_id($3) AND d.id < least_id($4)
                AND d.status = $5
                AND (d.status = 'pending' OR d.next_attempt_at IS NULL)
                AND EXISTS (SELECT FROM webhook_events v
                    WHERE v.book_id = d.book_id AND v.id = d.event_id OFFSET 0)
            LIMIT $6
        ) found
        """,
        *key,
        *window,
        status,
        limit,
    )


async def queue_window_again(  # noqa: PLR0913 - the facts of one statement
    db: Db,
    key: BookKey,
    window: tuple[datetime, datetime],
    status: str,
    limit: int,
    per_second: int,
    now: datetime,
) -> int:
    """Queue those deliveries again, the oldest first, so many in each second; how many.

    One whose event is no longer kept is left as it is: there is nothing to send.
    """
    return await db.fetchval(
        """
        WITH chosen AS (
            SELECT d.book_id, d.id, $8::timestamptz
                + (row_number() OVER (ORDER BY d.id) - 1) * interval '1 second' / $7::int AS due_at
            FROM webhook_deliveries d
            WHERE d.book_id = $1 AND d.webhook_endpoint_id = $2
                AND d.id >= least_id($3) AND d.id < least_id($4)
                AND d.status = $5
                AND (d.status = 'pending' OR d.next_attempt_at IS NULL)
                AND EXISTS (SELECT FROM webhook_events v
                    WHERE v.book_id = d.book_id AND v.id = d.event_id OFFSET 0)
            ORDER BY d.id LIMIT $6
        ), reset AS (
            UPDATE webhook_deliveries d SET status = 'pending', attempts = 0,
                response_status = NULL, latency_ms = NULL, error_message = NULL,
                delivered_at = NULL, next_attempt_at = c.due_at, updated_at = $8, url = e.url
            FROM chosen c JOIN webhook_endpoints e ON e.book_id = $1 AND e.id = $2
            WHERE d.book_id = c.book_id AND d.id = c.id
            RETURNING d.book_id, d.id, d.webhook_endpoint_id, d.event_id, c.due_at
        ), queued AS (
            INSERT INTO webhook_queue AS q (book_id, delivery_id, endpoint_id, event_id, due_at)
            SELECT book_id, id, webhook_endpoint_id, event_id, due_at FROM reset
            ON CONFLICT (book_id, delivery_id) DO UPDATE SET due_at = excluded.due_at,
                attempt = 1, is_claimed = false, generation = q.generation + 1
            RETURNING 1
        )
        SELECT count(*) FROM queued
        """,
        *key,
        *window,
        status,
        limit,
        per_second,
        now,
    )


async def count_missing(
    db: Db, key: BookKey, window: tuple[datetime, datetime], limit: int
) -> Record | None:
    """How many events of a time window an endpoint has no delivery of."""
    return await db.fetchrow(
        _MISSING + "SELECT (SELECT count(*) FROM missing) AS count, at AS onward FROM onward",
        *key,
        *window,
        limit,
    )


async def queue_missing(
    db: Db,
    key: BookKey,
    window: tuple[datetime, datetime],
    limit: int,
    per_second: int,
    now: datetime,
) -> Record | None:
    """Deliver those events too, the oldest first, so many in each second; how many.

    The caller holds the endpoint's lock, so two recoveries never deliver the same event.
    """
    return await db.fetchrow(
        _MISSING
        + """
        , delivery AS (
            INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
                event_id, event_type, status, url, next_attempt_at, updated_at)
            SELECT book_id, new_id($7), developer_app_id, endpoint_id, id, type, 'pending', url,
                $7::timestamptz
                    + (row_number() OVER (ORDER BY id) - 1) * interval '1 second' / $6::int, $7
            FROM missing
            RETURNING book_id, id, webhook_endpoint_id, event_id, next_attempt_at
        ), queued AS (
            INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
            SELECT book_id, id, webhook_endpoint_id, event_id, next_attempt_at FROM delivery
            RETURNING 1
        )
        SELECT (SELECT count(*) FROM queued) AS count, at AS onward FROM onward
        """,
        *key,
        *window,
        limit,
        per_second,
        now,
    )
