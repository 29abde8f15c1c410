"""Statements on endpoints."""

from datetime import datetime

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import AppId, BookId, BookKey, EndpointId
from tillhouse.webhooks.rules import FAILURES_TO_DISABLE
from tillhouse.webhooks.types import Endpoint

_ENDPOINT = """
    SELECT e.id, b.business_id, e.developer_app_id, e.name, e.url, b.environment, e.events,
        e.status, e.last_delivery_status, e.failure_count,
        iso(e.last_delivered_at) AS last_delivered_at, iso(e.disabled_at) AS disabled_at,
        iso(e.first_failed_at) AS failing_since,
        CASE WHEN e.status = 'active' AND e.failure_count > 0
            THEN $2::int - e.failure_count END AS failures_to_disable,
        iso(e.created_at) AS created_at, iso(e.updated_at) AS updated_at
    FROM webhook_endpoints e JOIN books b ON b.id = e.book_id
    WHERE e.book_id = ANY($1)
"""


class EndpointRow(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint as it is written."""

    book_id: BookId
    id: EndpointId
    developer_app_id: AppId
    name: str
    url: str
    events: list[str]
    now: datetime


async def insert_endpoint(db: Db, row: EndpointRow) -> None:
    """A new, active endpoint."""
    await db.execute(
        """
        INSERT INTO webhook_endpoints (book_id, id, developer_app_id, name, url, events, status,
            created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, 'active', $7, $7)
        """,
        *msgspec.structs.astuple(row),
    )


async def list_endpoints(db: Db, books: list[BookId], app_id: AppId | None) -> list[Endpoint]:
    """The endpoints of a business, the newest first."""
    where = Where(books, FAILURES_TO_DISABLE).and_("e.developer_app_id = $", app_id)
    rows = await db.fetch(_ENDPOINT + where.sql() + " ORDER BY e.id DESC LIMIT 1000", *where.args)
    return [Endpoint(**row) for row in rows]


async def show_endpoint(db: Db, books: list[BookId], endpoint_id: EndpointId) -> Endpoint | None:
    """One endpoint."""
    row = await db.fetchrow(_ENDPOINT + " AND e.id = $3", books, FAILURES_TO_DISABLE, endpoint_id)
    return Endpoint(**row) if row else None


async def lock_endpoint(db: Db, books: list[BookId], endpoint_id: EndpointId) -> Record | None:
    """An endpoint as it stands, locked until the change commits."""
    return await db.fetchrow(
        """
        SELECT e.book_id, e.id, e.developer_app_id, e.name, e.url, e.events, e.status,
            b.environment
        FROM webhook_endpoints e JOIN books b ON b.id = e.book_id
        WHERE e.book_id = ANY($1) AND e.id = $2
        FOR NO KEY UPDATE OF e
        """,
        books,
        endpoint_id,
    )


async def lock_app(db: Db, book_id: BookId, app_id: AppId) -> None:
    """Put those in line who count an app's endpoints before they add one."""
    await db.execute(
        """
        SELECT FROM webhook_secrets WHERE book_id = $1 AND developer_app_id = $2
        FOR NO KEY UPDATE
        """,
        book_id,
        app_id,
    )


async def count_active_endpoints(db: Db, book_id: BookId, app_id: AppId) -> int:
    """Active endpoints of an app, for the limit."""
    return await db.fetchval(
        """
        SELECT count(*) FROM webhook_endpoints
        WHERE book_id = $1 AND developer_app_id = $2 AND status = 'active'
        """,
        book_id,
        app_id,
    )


async def update_endpoint(
    db: Db, key: BookKey, name: str, url: str, events: list[str], now: datetime
) -> None:
    """Write the name, the address and the events."""
    await db.execute(
        """
        UPDATE webhook_endpoints SET name = $3, url = $4, events = $5, updated_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        name,
        url,
        events,
        now,
    )


async def update_disabled(db: Db, key: BookKey, now: datetime) -> None:
    """Send nothing there any more."""
    await db.execute(
        """
        UPDATE webhook_endpoints SET status = 'disabled', disabled_at = $3, updated_at = $3
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
    )


async def update_enabled(db: Db, key: BookKey, now: datetime) -> None:
    """Send there again, with a clean record."""
    await db.execute(
        """
        UPDATE webhook_endpoints SET status = 'active', disabled_at = NULL, failure_count = 0,
            first_failed_at = NULL, probe_until = NULL, updated_at = $3
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
    )


async def delete_endpoint(db: Db, key: BookKey) -> None:
    """Remove an endpoint; its deliveries stay in the log."""
    await db.execute("DELETE FROM webhook_endpoints WHERE book_id = $1 AND id = $2", *key)
