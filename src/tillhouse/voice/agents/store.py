"""The table of voice agents, and the keys of their models."""

from datetime import datetime

from tillhouse.db.book_table import BookTable
from tillhouse.db.pool import Db
from tillhouse.kit.ids import BookId, BookKey
from tillhouse.voice.agents.types import Agent

# The default one first, then the oldest.
AGENTS = BookTable(
    "voice_agents a",
    Agent,
    shown="""a.name, a.description, a.status, a.store_id, a.language, a.tone, a.is_default,
        a.greeting, a.instructions, a.runtime, a.model_url, a.model_name,
        a.model_key_sealed IS NOT NULL AS has_model_key, a.script, a.tools, a.disclosure,
        a.is_recording AS recording_enabled, a.voicemail_action,
        a.max_duration_s AS max_duration_seconds, a.ring_timeout_s AS ring_timeout_seconds,
        a.silence_timeout_s AS silence_timeout_seconds, a.max_attempts,
        a.retry_delay_s AS retry_delay_seconds""",
    order="a.is_default DESC, a.created_at, a.id",
    # In the order of `AgentFacts`.
    fields=(
        "name", "description", "status", "store_id", "language", "tone", "is_default", "greeting",
        "instructions", "runtime", "model_url", "model_name", "script", "tools", "disclosure",
        "is_recording", "voicemail_action", "max_duration_s", "ring_timeout_s",
        "silence_timeout_s", "max_attempts", "retry_delay_s",
    ),
    filters={"status": "a.status = $"},
)  # fmt: skip


async def update_no_default(db: Db, book_id: BookId) -> None:
    """No agent is the default one now."""
    await db.execute(
        "UPDATE voice_agents SET is_default = false WHERE book_id = $1 AND is_default", book_id
    )


async def delete_agent(db: Db, key: BookKey, now: datetime) -> None:
    """Take an agent out of the list; numbers name it no more, and calls keep it."""
    await db.execute(
        """
        WITH numbers AS (
            UPDATE voice_numbers SET default_agent_id = NULL
            WHERE book_id = $1 AND default_agent_id = $2
        )
        UPDATE voice_agents SET deleted_at = $3, updated_at = $3, is_default = false,
            status = 'inactive', model_key_sealed = NULL
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        now,
    )


async def update_time(db: Db, key: BookKey, now: datetime) -> None:
    """Something that belongs to an agent has changed."""
    await db.execute(
        "UPDATE voice_agents SET updated_at = $3 WHERE book_id = $1 AND id = $2", *key, now
    )


async def update_key(db: Db, key: BookKey, sealed: bytes | None) -> None:
    """The key of an agent's model, sealed."""
    await db.execute(
        "UPDATE voice_agents SET model_key_sealed = $3 WHERE book_id = $1 AND id = $2",
        *key,
        sealed,
    )


async def find_key(db: Db, key: BookKey) -> bytes | None:
    """The key of an agent's model, sealed."""
    return await db.fetchval(
        "SELECT model_key_sealed FROM voice_agents WHERE book_id = $1 AND id = $2", *key
    )
