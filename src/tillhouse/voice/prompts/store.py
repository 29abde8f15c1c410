"""Statements on prompts."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey


async def list_prompts(db: Db, agent: BookKey, script: str) -> Sequence[Record]:
    """The sounds of an agent's script, without their bytes."""
    return await db.fetch(
        """
        SELECT step, text, octet_length(sound) AS size, iso(updated_at) AS updated_at
        FROM voice_prompts WHERE book_id = $1 AND agent_id = $2 AND script = $3
        """,
        *agent,
        script,
    )


async def find_sound(db: Db, agent: BookKey, script: str, step: str) -> bytes | None:
    """The sound of a step."""
    return await db.fetchval(
        """
        SELECT sound FROM voice_prompts
        WHERE book_id = $1 AND agent_id = $2 AND script = $3 AND step = $4
        """,
        *agent,
        script,
        step,
    )


async def lock_quota(db: Db, book_id: BookId) -> None:
    """Lock the count of a book's sounds until the transaction ends."""
    await db.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"voice prompts {book_id}"
    )


async def find_stored(db: Db, book_id: BookId) -> tuple[int, int]:
    """How many sounds a book has, and their bytes."""
    [row] = await db.fetch(
        """
        SELECT count(*) AS count, coalesce(sum(octet_length(sound)), 0) AS size
        FROM voice_prompts WHERE book_id = $1
        """,
        book_id,
    )
    return row["count"], row["size"]


async def upsert_prompt(
    db: Db, agent: BookKey, named: tuple[str, str], text: str, sound: bytes, now: datetime
) -> None:
    """Set the sound of a step: `named` are its script and its name."""
    await db.execute(
        """
        INSERT INTO voice_prompts (book_id, agent_id, script, step, text, sound, created_at,
            updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
        ON CONFLICT (book_id, agent_id, script, step) DO UPDATE SET text = EXCLUDED.text,
            sound = EXCLUDED.sound, updated_at = EXCLUDED.updated_at
        """,
        *agent,
        *named,
        text,
        sound,
        now,
    )


async def delete_prompt(db: Db, agent: BookKey, script: str, step: str) -> bool:
    """Remove the sound of a step; whether there was one."""
    return await db.execute_one(
        """
        DELETE FROM voice_prompts
        WHERE book_id = $1 AND agent_id = $2 AND script = $3 AND step = $4
        """,
        *agent,
        script,
        step,
    )


async def delete_prompts(db: Db, agent: BookKey) -> None:
    """Remove all sounds of an agent."""
    await db.execute("DELETE FROM voice_prompts WHERE book_id = $1 AND agent_id = $2", *agent)


async def insert_copies(db: Db, agent: BookKey, copy_id: UUID, now: datetime) -> bool:
    """Give a copy of an agent its sounds; whether there are any."""
    done = await db.execute(
        """
        INSERT INTO voice_prompts (book_id, agent_id, script, step, text, sound, created_at,
            updated_at)
        SELECT book_id, $3, script, step, text, sound, $4, $4
        FROM voice_prompts WHERE book_id = $1 AND agent_id = $2
        """,
        *agent,
        copy_id,
        now,
    )
    return not done.endswith(" 0")
