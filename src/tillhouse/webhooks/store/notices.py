"""Statements on the notices of endpoints that fail."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import BookId
from tillhouse.webhooks.notice_text import NotedEndpoint


class NewNotice(msgspec.Struct, frozen=True, kw_only=True):
    """The jobs that tell of one thing: one for each of so many members with one of these roles."""

    book_id: BookId
    # The row that they are about.
    subject_id: UUID
    kind: str
    roles: Sequence[str]
    most: int
    # The same for the same thing told of; the user is added.
    key: str
    payload: bytes
    now: datetime


async def queue_notices(db: Db, new: NewNotice) -> None:
    """Queue a mail to each member with one of the roles; the commit wakes the workers."""
    await db.execute(
        """
        WITH queueing AS (
            SELECT b.id AS book_id, $3::text AS kind, $2::uuid AS subject_id,
                $6::text || ' ' || m.user_id AS key, $7::bytea AS payload,
                $8::timestamptz AS due_at, $8::timestamptz AS queued_at
            FROM books b JOIN members m ON m.business_id = b.business_id
            WHERE b.id = $1 AND m.role = ANY($4::text[])
            ORDER BY m.created_at, m.user_id LIMIT $5
        ),
        """
        + QUEUE
        + "SELECT",
        *msgspec.structs.astuple(new),
    )
    db.queues_jobs = True


async def find_noted(
    db: Db, book_id: BookId, endpoint_id: UUID, user_id: UUID, roles: Sequence[str]
) -> NotedEndpoint | None:
    """An endpoint with the address of a user; None when it is gone, or the user may not see it."""
    row = await db.fetchrow(
        """
        SELECT e.id, e.name, e.url, e.status, e.failure_count, e.first_failed_at, e.disabled_at,
            b.environment, a.name AS app_name, o.name AS business_name, u.email
        FROM webhook_endpoints e
        JOIN books b ON b.id = e.book_id
        JOIN businesses o ON o.id = b.business_id
        JOIN developer_apps a ON a.book_id = e.book_id AND a.id = e.developer_app_id
        JOIN members m ON m.business_id = b.business_id AND m.role = ANY($4::text[])
        JOIN users u ON u.id = m.user_id
        WHERE e.book_id = $1 AND e.id = $2 AND m.user_id = $3
        """,
        book_id,
        endpoint_id,
        user_id,
        roles,
    )
    return NotedEndpoint(**row) if row else None
