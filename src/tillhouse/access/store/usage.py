"""Statements that add up usage."""

from collections.abc import Sequence
from datetime import date, datetime
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.sweep import Sweep

# book, day, app, method, route template, class of status
CounterKey = tuple[UUID, date, UUID, str, str, str]

# Records of days long past.
delete_old_usage = Sweep("usage_records", by="day")


class Tally(msgspec.Struct):
    """The state of one counter between two flushes."""

    requests: int = 0
    errors: int = 0
    latency_us: int = 0


async def add_usage(db: Db, tallies: Sequence[tuple[CounterKey, Tally]]) -> None:
    """Add tallies to their records, in one order, so two processes can't deadlock.

    Requests of a business that was deleted meanwhile have no book to be noted in.
    """
    columns = list(zip(*(key for key, _ in tallies), strict=True))
    await db.execute(
        """
        INSERT INTO usage_records AS r (book_id, day, developer_app_id, method, endpoint,
            status_family, request_count, error_count, total_latency_ms)
        SELECT n.* FROM unnest($1::uuid[], $2::date[], $3::uuid[], $4::text[], $5::text[],
            $6::text[], $7::bigint[], $8::bigint[], $9::bigint[])
            AS n (book_id, day, app_id, method, endpoint, family, requests, errors, ms)
        JOIN books b ON b.id = n.book_id
        ORDER BY n.book_id, n.day, n.app_id, n.method, n.endpoint, n.family
        ON CONFLICT (book_id, day, developer_app_id, method, endpoint, status_family)
        DO UPDATE SET request_count = r.request_count + excluded.request_count,
            error_count = r.error_count + excluded.error_count,
            total_latency_ms = r.total_latency_ms + excluded.total_latency_ms
        """,
        *(list(column) for column in columns),
        [tally.requests for _, tally in tallies],
        [tally.errors for _, tally in tallies],
        [round(tally.latency_us / 1000) for _, tally in tallies],
    )


async def touch_keys(
    db: Db, uses: Sequence[tuple[tuple[UUID, UUID], tuple[datetime, str]]]
) -> None:
    """Note when and from where keys were last used; a deleted key has no row to note."""
    await db.execute(
        """
        INSERT INTO api_key_uses AS u (book_id, key_id, last_used_at, last_used_ip)
        SELECT n.book_id, n.key_id, n.at, n.ip
        FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[])
            AS n (book_id, key_id, at, ip)
        JOIN api_keys k ON k.book_id = n.book_id AND k.id = n.key_id
        ORDER BY n.book_id, n.key_id
        ON CONFLICT (book_id, key_id) DO UPDATE
        SET last_used_at = excluded.last_used_at, last_used_ip = excluded.last_used_ip
        WHERE u.last_used_at <= excluded.last_used_at
        """,
        [key[0] for key, _ in uses],
        [key[1] for key, _ in uses],
        [use[0] for _, use in uses],
        [use[1] for _, use in uses],
    )
