"""Statements on recordings."""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookKey


class RecordingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A recording as it is written."""

    file: str
    duration_ms: int
    size_bytes: int


async def insert_recording(db: Db, key: BookKey, row: RecordingRow, now: datetime) -> None:
    """Keep where the recording of a call is."""
    await db.execute(
        """
        INSERT INTO voice_recordings (book_id, call_id, file, duration_ms, size_bytes, ready_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        *key,
        *msgspec.structs.astuple(row),
        now,
    )


async def find_file(db: Db, key: BookKey) -> str | None:
    """The file of the recording of a call."""
    return await db.fetchval(
        "SELECT file FROM voice_recordings WHERE book_id = $1 AND call_id = $2", *key
    )


async def list_files(db: Db, keys: Sequence[BookKey]) -> set[str]:
    """The files that rows lead to, of these calls of any book_id."""
    rows = await db.fetch(
        """
        SELECT r.file FROM unnest($1::uuid[], $2::uuid[]) w (book_id, call_id)
        JOIN voice_recordings r ON r.book_id = w.book_id AND r.call_id = w.call_id
        """,
        [key.book_id for key in keys],
        [key.id for key in keys],
    )
    return {row["file"] for row in rows}


async def delete_recordings(db: Db, before: datetime, limit: int) -> Sequence[Record]:
    """Forget some recordings, of any book_id, that are older; their files are to be deleted."""
    return await db.fetch(
        """
        WITH gone AS (
            DELETE FROM voice_recordings WHERE (book_id, call_id) IN (
                SELECT book_id, call_id FROM voice_recordings WHERE ready_at < $1
                ORDER BY ready_at LIMIT $2 FOR UPDATE SKIP LOCKED)
            RETURNING book_id, call_id, file
        ), calls AS (
            UPDATE voice_calls c SET recording_status = 'deleted'
            FROM gone g WHERE c.book_id = g.book_id AND c.id = g.call_id
        )
        SELECT file FROM gone
        """,
        before,
        limit,
    )
