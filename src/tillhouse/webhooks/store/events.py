"""The statement that every business transaction ends with: its events and their deliveries."""

from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.kit.ids import AppId, BookId, BookKey, DeliveryId, EndpointId, EventId


class EventRows(msgspec.Struct, frozen=True, kw_only=True):
    """Events as they are written, a place of each list for each, and the app of the key, if any."""

    ids: list[EventId]
    types: list[str]
    payloads: list[str]
    moments: list[datetime]
    # The thing that each is about; None for one that is about none.
    entity_ids: list[UUID | None]
    app_id: AppId | None


# Events, and one queued delivery of each per active endpoint that wants it: a fragment for
# statements that write both with the change itself. It reads the CTE `told` of the statement around
# it, with the columns (id uuid, type text, payload text, at timestamptz, app_id uuid,
# entity_id uuid), and $1 = book_id and $2 = now. Events caused through a key go to the endpoints of
# the key's app, any others to all.
TELL: LiteralString = """
    event AS (
        INSERT INTO webhook_events (book_id, id, type, developer_app_id, payload, entity_id)
        SELECT $1, id, type, app_id, payload, entity_id FROM told
    ), delivery AS (
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, next_attempt_at, updated_at)
        SELECT e.book_id, new_id(t.at), e.developer_app_id, e.id, t.id, t.type, 'pending',
            e.url, $2, $2
        FROM webhook_endpoints e JOIN told t ON t.type = ANY(e.events) OR e.events = '{*}'
        WHERE e.book_id = $1 AND e.status = 'active'
            AND (t.app_id IS NULL OR e.developer_app_id = t.app_id)
        RETURNING id, webhook_endpoint_id, event_id
    ), queued AS (
        INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
        SELECT $1, id, webhook_endpoint_id, event_id, made_at(id) FROM delivery
        RETURNING 1
    )
"""


async def insert_events(db: Db, book_id: BookId, now: datetime, told: EventRows) -> int:
    """Events in their order, with their deliveries; how many of those are queued."""
    return await db.fetchval(
        """
        WITH told AS MATERIALIZED (
            SELECT t.*, $7::uuid AS app_id
            FROM unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $8::uuid[])
                AS t (id, type, payload, at, entity_id)
        ),
        """
        + TELL
        + "SELECT count(*) FROM queued",
        book_id,
        now,
        told.ids,
        told.types,
        told.payloads,
        told.moments,
        told.app_id,
        told.entity_ids,
    )


async def insert_event_for(
    db: Db,
    key: BookKey,
    endpoint_id: EndpointId,
    event_type: str,
    payload: str,
    now: datetime,
) -> DeliveryId:
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
        *key,
        endpoint_id,
        event_type,
        payload,
        now,
    )
