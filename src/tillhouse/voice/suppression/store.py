"""Statements on the suppression list."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.kit.page import Page

_SUPPRESSION: LiteralString = """
    SELECT s.id, s.phone_number, s.reason, s.note, s.call_id, s.created_by_name AS created_by,
        iso(s.created_at) AS created_at
    FROM voice_suppressions s WHERE s.book_id = $1
"""


class SuppressionRow(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it is written."""

    phone_number: str
    reason: str
    note: str | None
    call_id: UUID | None
    created_by_name: str


async def insert_suppression(db: Db, key: BookKey, row: SuppressionRow, now: datetime) -> bool:
    """Call a number no more; False when it is on the list already."""
    return await db.execute_one(
        """
        INSERT INTO voice_suppressions (book_id, id, phone_number, reason, note, call_id,
            created_by_name, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (book_id, phone_number) DO NOTHING
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def delete_suppression(db: Db, key: BookKey) -> str | None:
    """Let a number be called again; the number, None where there is no such entry."""
    return await db.fetchval(
        """
        DELETE FROM voice_suppressions WHERE book_id = $1 AND id = $2 RETURNING phone_number
        """,
        *key,
    )


async def show_suppression(db: Db, book_id: BookId, suppression_id: UUID) -> Record | None:
    """One entry."""
    return await db.fetchrow(_SUPPRESSION + " AND s.id = $2", book_id, suppression_id)


async def count_suppressions(db: Db, book_id: BookId, phone_number: str | None) -> int:
    """How many entries fit."""
    where = Where(book_id).and_("s.phone_number = $", phone_number)
    return await db.fetchval(
        "SELECT count(*) FROM voice_suppressions s WHERE s.book_id = $1" + where.sql(), *where.args
    )


async def list_suppressions(
    db: Db, book_id: BookId, phone_number: str | None, page: Page
) -> Sequence[Record]:
    """One page of the list, the newest entry first."""
    where = Where(book_id).and_("s.phone_number = $", phone_number)
    return await db.fetch(
        _SUPPRESSION
        + where.sql()
        + " ORDER BY s.created_at DESC, s.id DESC LIMIT "
        + where.window(page),
        *where.args,
    )
