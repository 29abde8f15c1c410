"""The statement that every business transaction ends with: an event and its deliveries."""

from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db


async def insert_event(
    db: Db,
    place: tuple[UUID, UUID],
    event_type: str,
    app_id: UUID | None,
    payload: str,
    now: datetime,
) -> int:
    """An event, and one queued delivery per active endpoint that wants it; how many those are.

    An event caused through a key goes to the endpoints of the key's app, any other to all.
    """
    return await db.fetchval(
        """
        WITH event AS (
            INSERT INTO webhook_events (book_id, id, type, developer_app_id, payload)
            VALUES ($1, $2, $3, $4, $5)
        ), delivery AS (
            INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
                event_id, event_type, status, url, next_attempt_at, updated_at)
            SELECT e.book_id, new_id($6), e.developer_app_id, e.id, $2, $3, 'pending', e.url,
                $6, $6
            FROM webhook_endpoints e
            WHERE e.book_id = $1 AND e.status = 'active' AND $3 = ANY(e.events)
                AND ($4::uuid IS NULL OR e.developer_app_id = $4)
            RETURNING id, webhook_endpoint_id
        ), queued AS (
            INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
            SELECT $1, id, webhook_endpoint_id, $2, $6 FROM delivery
            RETURNING 1
        )
        SELECT count(*) FROM queued
        """,
        *place,
        event_type,
        app_id,
        payload,
        now,
    )


async def insert_event_for(
    db: Db,
    place: tuple[UUID, UUID],
    endpoint_id: UUID,
    event_type: str,
    payload: str,
    now: datetime,
) -> UUID:
    """An event for one endpoint, whatever it subscribes to; the delivery's id."""
    return await db.fetchval(
        """
        WITH event AS (
            INSERT INTO webhook_events (book_id, id, type, developer_app_id, payload)
            SELECT $1, $2, $4, developer_app_id, $5 FROM webhook_endpoints
            WHERE book_id = $1 AND id = $3
        ), delivery AS (
            INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
                event_id, event_type, status, url, next_attempt_at, updated_at)
            SELECT e.book_id, new_id($6), e.developer_app_id, e.id, $2, $4, 'pending', e.url,
                $6, $6
            FROM webhook_endpoints e WHERE e.book_id = $1 AND e.id = $3
            RETURNING id
        ), queued AS (
            INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
            SELECT $1, id, $3, $2, $6 FROM delivery
        )
        SELECT id FROM delivery
        """,
        *place,
        endpoint_id,
        event_type,
        payload,
        now,
    )
