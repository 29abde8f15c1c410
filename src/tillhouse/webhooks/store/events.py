"""The statement that every business transaction ends with: its events and their deliveries."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tillhouse.db.pool import Db


async def insert_events(
    db: Db,
    book_id: UUID,
    events: Sequence[tuple[UUID, str, str]],
    app_id: UUID | None,
    now: datetime,
) -> int:
    """Events (id, type, payload) in their order, and one queued delivery of each per active
    endpoint that wants it; how many those are.

    Events caused through a key go to the endpoints of the key's app, any others to all. Their
    moments lie a millisecond apart, the last one now, so that logs and queues keep the order.
    """
    return await db.fetchval(
        """
        WITH news AS MATERIALIZED (
            SELECT n.id, n.type, n.payload,
                $6::timestamptz + (n.place - cardinality($2)) * interval '1 millisecond' AS at
            FROM unnest($2::uuid[], $3::text[], $4::text[])
                WITH ORDINALITY AS n (id, type, payload, place)
        ), event AS (
            INSERT INTO webhook_events (book_id, id, type, developer_app_id, payload)
            SELECT $1, id, type, $5, payload FROM news
        ), delivery AS (
            INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
                event_id, event_type, status, url, next_attempt_at, updated_at)
            SELECT e.book_id, new_id(n.at), e.developer_app_id, e.id, n.id, n.type, 'pending',
                e.url, $6, $6
            FROM webhook_endpoints e JOIN news n ON n.type = ANY(e.events)
            WHERE e.book_id = $1 AND e.status = 'active'
                AND ($5::uuid IS NULL OR e.developer_app_id = $5)
            RETURNING id, webhook_endpoint_id, event_id
        ), queued AS (
            INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
            SELECT $1, id, webhook_endpoint_id, event_id, made_at(id) FROM delivery
            RETURNING 1
        )
        SELECT count(*) FROM queued
        """,
        book_id,
        [event_id for event_id, _, _ in events],
        [event_type for _, event_type, _ in events],
        [payload for _, _, payload in events],
        app_id,
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
