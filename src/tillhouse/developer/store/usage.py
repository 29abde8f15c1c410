"""Statements that read usage."""

from datetime import date

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.developer.types import UsageRecord
from tillhouse.kit.ids import AppId, BookId


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
