"""Statements that read the audit log and usage."""

from collections.abc import Sequence
from datetime import date, datetime
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.developer.types import AuditEvent, UsageRecord
from tillhouse.kit.ids import AppId, BookId, BusinessId, KeyId
from tillhouse.kit.page import Page

_EVENT = """
    SELECT id, business_id, developer_api_key_id, actor_user_id, actor_name, event_type, title,
        ip_address, metadata, iso(created_at) AS created_at
    FROM audit_events e WHERE e.business_id = $1
"""


class EventQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on audit events."""

    key_id: KeyId | None
    event_type: str | None
    entity_id: UUID | None
    since: datetime | None
    until: datetime | None

    @property
    def is_everything(self) -> bool:
        """Whether there is no condition."""
        return msgspec.structs.astuple(self) == (None,) * 5


def _events(rows: Sequence[Record]) -> list[AuditEvent]:
    return [AuditEvent(**{**row, "metadata": msgspec.json.decode(row["metadata"])}) for row in rows]


async def count_chain(db: Db, business_id: BusinessId) -> int:
    """How many events there are: the place of the last link."""
    return await db.fetchval("SELECT sequence FROM audit_heads WHERE business_id = $1", business_id)


async def list_chain(db: Db, business_id: BusinessId, newest: int, limit: int) -> list[AuditEvent]:
    """Events downwards from a place in the chain: no page costs more than the first."""
    rows = await db.fetch(
        _EVENT + " AND e.sequence <= $2 ORDER BY e.sequence DESC LIMIT $3",
        business_id,
        newest,
        limit,
    )
    return _events(rows)


def _where(business_id: BusinessId, query: EventQuery) -> Where:
    return (
        Where(business_id)
        .and_("e.developer_api_key_id = $", query.key_id)
        .and_("e.event_type = $", query.event_type)
        .and_(
            "audit_entities(e.metadata) @> ARRAY[$::uuid::text] OR e.developer_api_key_id = $",
            query.entity_id,
        )
        .and_("e.created_at >= $", query.since)
        .and_("e.created_at <= $", query.until)
    )


async def count_events(db: Db, business_id: BusinessId, query: EventQuery) -> int:
    """How many events fit."""
    where = _where(business_id, query)
    return await db.fetchval(
        "SELECT count(*) FROM audit_events e WHERE e.business_id = $1" + where.sql(), *where.args
    )


async def list_events(
    db: Db, business_id: BusinessId, query: EventQuery, page: Page
) -> list[AuditEvent]:
    """One page of the events that fit, the newest first."""
    where = _where(business_id, query)
    rows = await db.fetch(
        _EVENT + where.sql() + " ORDER BY e.created_at DESC, e.id DESC LIMIT " + where.window(page),
        *where.args,
    )
    return _events(rows)


async def list_usage(
    db: Db, books: list[BookId], since: date, app_id: AppId | None
) -> list[UsageRecord]:
    """Usage since a day, summed over apps, the newest day first."""
    where = Where(books, since).and_("r.developer_app_id = $", app_id)
    rows = await db.fetch(
        """
        SELECT to_char(r.day, 'YYYY-MM-DD') AS date, b.environment, r.method, r.endpoint,
            r.status_family, sum(r.request_count)::bigint AS request_count,
            sum(r.error_count)::bigint AS error_count,
            sum(r.total_latency_ms)::bigint AS total_latency_ms
        FROM usage_records r JOIN books b ON b.id = r.book_id
        WHERE r.book_id = ANY($1) AND r.day >= $2
        """
        + where.sql()
        + """
        GROUP BY r.day, b.environment, r.method, r.endpoint, r.status_family
        ORDER BY r.day DESC, b.environment, r.endpoint, r.method, r.status_family
        """,
        *where.args,
    )
    return [UsageRecord(**row) for row in rows]
