"""Statements on the audit chain: append and verify, nothing else is possible."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BusinessId
from tillhouse.kit.json import encode


async def open_chain(db: Db, business_id: BusinessId) -> None:
    """Begin the chain of a new business."""
    await db.execute(
        "INSERT INTO audit_heads (business_id, sequence, hash) VALUES ($1, 0, '')", business_id
    )


async def append_event(  # noqa: PLR0913 - the columns of one row
    db: Db,
    business_id: BusinessId,
    event_id: UUID,
    who: tuple[UUID | None, UUID | None, str, str],
    what: tuple[str, str],
    metadata: dict[str, Any],
    now: datetime,
) -> None:
    """Add the next link: who = (key, user, name, address), what = (type, title)."""
    await db.execute(
        """
        WITH head AS (
            SELECT sequence + 1 AS sequence, hash FROM audit_heads
            WHERE business_id = $1 FOR NO KEY UPDATE
        ), link AS (
            SELECT ROW($1::uuid, head.sequence, $2::uuid, $3::uuid, $4::uuid, $5::text, $7::text,
                $8::text, $6::text, $9::jsonb, $10::timestamptz(3), NULL)::audit_events AS event,
                head.hash AS previous
            FROM head
        ), written AS (
            INSERT INTO audit_events
            SELECT (event).business_id, (event).sequence, (event).id,
                (event).developer_api_key_id, (event).actor_user_id, (event).actor_name,
                (event).event_type, (event).title, (event).ip_address, (event).metadata,
                (event).created_at, audit_hash(previous, event)
            FROM link
            RETURNING sequence, hash
        )
        UPDATE audit_heads h SET sequence = w.sequence, hash = w.hash
        FROM written w WHERE h.business_id = $1
        """,
        business_id,
        event_id,
        *who,
        *what,
        encode(metadata).decode(),
        now,
    )


async def find_broken_links(db: Db, business_id: BusinessId, limit: int) -> Sequence[Record]:
    """Links that do not follow from the one before them, a missing or a prolonged end included."""
    return await db.fetch(
        """
        WITH chain AS (
            SELECT e.sequence, e.hash,
                audit_hash(coalesce(lag(e.hash) OVER w, ''), e) AS expected,
                coalesce(lag(e.sequence) OVER w, 0) AS before
            FROM audit_events e WHERE e.business_id = $1
            WINDOW w AS (ORDER BY e.sequence)
        ), ends AS (
            SELECT h.sequence FROM audit_heads h
            LEFT JOIN audit_events e ON e.business_id = h.business_id
                AND e.sequence = h.sequence AND e.hash = h.hash
            WHERE h.business_id = $1 AND h.sequence > 0 AND e.sequence IS NULL
        ), head AS (
            SELECT coalesce(max(sequence), 0) AS sequence FROM audit_heads WHERE business_id = $1
        )
        SELECT sequence FROM chain WHERE hash <> expected OR sequence <> before + 1
        UNION SELECT sequence FROM ends
        UNION SELECT chain.sequence FROM chain, head WHERE chain.sequence > head.sequence
        ORDER BY sequence LIMIT $2
        """,
        business_id,
        limit,
    )
