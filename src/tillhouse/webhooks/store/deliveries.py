"""Statements on the delivery log: read, kept in weeks, and those that queue a delivery again."""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, BookKey, DeliveryId, EndpointId, EventId
from tillhouse.webhooks.types import (
    Delivery,
    DeliveryFilter,
    DeliveryWithAttempts,
    Preview,
)

STATUSES = ("pending", "delivered", "failed")

_COLUMNS = """
    SELECT d.id, b.business_id, d.developer_app_id, d.webhook_endpoint_id, b.environment,
        d.event_id, d.event_type, d.status, d.url, d.attempts, d.response_status, d.latency_ms,
        d.error_message, left(v.payload, 500) AS payload_preview,
        iso(d.next_attempt_at) AS next_attempt_at, iso(d.delivered_at) AS delivered_at,
        iso(made_at(d.id)) AS created_at, iso(d.updated_at) AS updated_at
"""
# Further columns are looked up only for the rows that are shown.
_AROUND = """
    JOIN books b ON b.id = d.book_id
    LEFT JOIN webhook_events v ON v.book_id = d.book_id AND v.id = d.event_id
    ORDER BY d.id DESC
"""


class DeliveryWindow(msgspec.Struct, frozen=True):
    """From when until when deliveries were made; the end does not belong to it."""

    since: datetime | None
    until: datetime | None


def _fields(row: Record) -> dict[str, Any]:
    fields: dict[str, Any] = dict(row)
    fields["payload_preview"] = Preview(fields["payload_preview"] or "")
    return fields


def _statuses(wanted: DeliveryFilter) -> list[str]:
    return [wanted.status] if wanted.status else list(STATUSES)


def _narrowed(where: Where, wanted: DeliveryFilter, window: DeliveryWindow) -> LiteralString:
    """The conditions that every way into the log has."""
    return (
        where.and_("l.event_type = $", wanted.event_type)
        .and_("l.id < $", wanted.cursor)
        .and_("l.id >= least_id($)", window.since)
        .and_("l.id < least_id($)", window.until)
        .sql()
    )


async def list_deliveries(
    db: Db, books: list[BookId], wanted: DeliveryFilter, window: DeliveryWindow
) -> list[Delivery]:
    """The deliveries, the newest first: each app's in each status, then the newest of those.

    The apps are the way in, not the books: no index of an app's deliveries can be mistaken for
    the primary key. The rows of an app are of the app's book.
    """
    where = Where(books, wanted.limit, _statuses(wanted)).and_("a.id = $", wanted.developer_app_id)
    rows = await db.fetch(
        _COLUMNS
        + """
        FROM (SELECT l.* FROM developer_apps a CROSS JOIN unnest($3::text[]) AS s (status)
            CROSS JOIN LATERAL (
                SELECT * FROM webhook_deliveries l
                WHERE l.developer_app_id = a.id AND l.status = s.status
        """
        + _narrowed(where, wanted, window)
        + """
                ORDER BY l.id DESC LIMIT $2
            ) l WHERE a.book_id = ANY($1) ORDER BY l.id DESC LIMIT $2) d
        """
        + _AROUND,
        *where.args,
    )
    return [Delivery(**_fields(row)) for row in rows]


async def list_deliveries_of_endpoint(
    db: Db,
    books: list[BookId],
    endpoint_id: EndpointId,
    wanted: DeliveryFilter,
    window: DeliveryWindow,
) -> list[Delivery]:
    """The deliveries of one endpoint, the newest first: those in each status, then the newest.

    All of them are of one book and one app, so these are looked at afterwards.
    """
    where = Where(books, wanted.limit, _statuses(wanted), endpoint_id, wanted.developer_app_id)
    rows = await db.fetch(
        _COLUMNS
        + """
        FROM (SELECT l.* FROM unnest($3::text[]) AS s (status) CROSS JOIN LATERAL (
                SELECT * FROM webhook_deliveries l
                WHERE l.webhook_endpoint_id = $4 AND l.status = s.status
        """
        + _narrowed(where, wanted, window)
        + """
                ORDER BY l.id DESC LIMIT $2
            ) l WHERE l.book_id = ANY($1) AND l.developer_app_id = coalesce($5, l.developer_app_id)
            ORDER BY l.id DESC LIMIT $2) d
        """
        + _AROUND,
        *where.args,
    )
    return [Delivery(**_fields(row)) for row in rows]


async def list_deliveries_of_event(
    db: Db, books: list[BookId], event_id: EventId, wanted: DeliveryFilter, window: DeliveryWindow
) -> list[Delivery]:
    """The deliveries of one event, which are few, the newest first."""
    where = (
        Where(books, wanted.limit, event_id)
        .and_("l.developer_app_id = $", wanted.developer_app_id)
        .and_("l.webhook_endpoint_id = $", wanted.endpoint_id)
        .and_("l.status = $", wanted.status)
    )
    rows = await db.fetch(
        _COLUMNS
        + """
        FROM (SELECT * FROM webhook_deliveries l
            WHERE l.event_id = $3 AND l.book_id = ANY($1)
        """
        + _narrowed(where, wanted, window)
        + " ORDER BY l.id DESC LIMIT $2) d "
        + _AROUND,
        *where.args,
    )
    return [Delivery(**_fields(row)) for row in rows]


async def list_deliveries_of_entity(
    db: Db, books: list[BookId], entity_id: UUID, wanted: DeliveryFilter, window: DeliveryWindow
) -> list[Delivery]:
    """The deliveries of events about one thing, the newest first, as long as these are kept."""
    where = (
        Where(books, wanted.limit, entity_id)
        .and_("l.developer_app_id = $", wanted.developer_app_id)
        .and_("l.webhook_endpoint_id = $", wanted.endpoint_id)
        .and_("l.status = $", wanted.status)
        .and_("l.event_id = $", wanted.event_id)
    )
    rows = await db.fetch(
        _COLUMNS
        + """
        FROM (SELECT l.* FROM webhook_events t
            JOIN webhook_deliveries l ON l.event_id = t.id AND l.book_id = t.book_id
            WHERE t.entity_id = $3 AND t.book_id = ANY($1)
        """
        + _narrowed(where, wanted, window)
        + " ORDER BY l.id DESC LIMIT $2) d "
        + _AROUND,
        *where.args,
    )
    return [Delivery(**_fields(row)) for row in rows]


async def show_delivery(
    db: Db, books: list[BookId], delivery_id: DeliveryId
) -> DeliveryWithAttempts | None:
    """One delivery with its attempts."""
    row = await db.fetchrow(
        _COLUMNS
        + """
            , d.attempts_log
        FROM webhook_deliveries d
        JOIN books b ON b.id = d.book_id
        LEFT JOIN webhook_events v ON v.book_id = d.book_id AND v.id = d.event_id
        WHERE d.book_id = ANY($1) AND d.id = $2
        """,
        books,
        delivery_id,
    )
    if row is None:
        return None
    fields = _fields(row)
    fields["attempts_log"] = msgspec.json.decode(fields["attempts_log"])
    return DeliveryWithAttempts(**fields)


async def lock_delivery(db: Db, books: list[BookId], delivery_id: DeliveryId) -> Record | None:
    """A delivery, its endpoint's status and whether its event is kept; locked until the commit."""
    return await db.fetchrow(
        """
        SELECT d.book_id, d.id, d.event_id, d.webhook_endpoint_id, e.status AS endpoint_status,
            EXISTS (SELECT FROM webhook_events v
                WHERE v.book_id = d.book_id AND v.id = d.event_id) AS has_event
        FROM webhook_deliveries d
        LEFT JOIN webhook_endpoints e ON e.book_id = d.book_id AND e.id = d.webhook_endpoint_id
        WHERE d.book_id = ANY($1) AND d.id = $2
        FOR NO KEY UPDATE OF d
        """,
        books,
        delivery_id,
    )


async def queue_again(db: Db, key: BookKey, now: datetime) -> None:
    """Reset a delivery and queue it anew; an attempt under way becomes an older generation."""
    await db.execute(
        """
        WITH reset AS (
            UPDATE webhook_deliveries d SET status = 'pending', attempts = 0,
                response_status = NULL, latency_ms = NULL, error_message = NULL,
                delivered_at = NULL, next_attempt_at = $3, updated_at = $3,
                url = coalesce(e.url, d.url)
            FROM webhook_endpoints e
            WHERE d.book_id = $1 AND d.id = $2 AND e.book_id = d.book_id
                AND e.id = d.webhook_endpoint_id
            RETURNING d.book_id, d.id, d.webhook_endpoint_id, d.event_id
        )
        INSERT INTO webhook_queue AS q (book_id, delivery_id, endpoint_id, event_id, due_at)
        SELECT book_id, id, webhook_endpoint_id, event_id, $3 FROM reset
        ON CONFLICT (book_id, delivery_id) DO UPDATE SET due_at = excluded.due_at, attempt = 1,
            is_claimed = false, generation = q.generation + 1
        """,
        *key,
        now,
    )


async def turn_partitions(db: Db, now: datetime, keep_days: int) -> int:
    """Make the coming weeks' partitions and drop those too old to keep; how many were dropped.

    Where somebody else reads the tables for long, such as a backup, it fails at once: all that
    write events would wait behind it.
    """
    await db.fetchval("SELECT set_config('lock_timeout', '100ms', true)")
    return await db.fetchval("SELECT turn_webhook_partitions($1, $2)", now, keep_days)
