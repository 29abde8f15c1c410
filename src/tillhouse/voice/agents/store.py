"""Statements on voice agents."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, BookKey, StoreId
from tillhouse.kit.page import Page
from tillhouse.voice.agents.rules import AgentFacts

_AGENT: LiteralString = """
    SELECT a.id, a.name, a.description, a.status, a.store_id, a.language, a.tone, a.is_default,
        a.greeting, a.instructions, a.runtime, a.model_url, a.model_name,
        a.model_key_sealed IS NOT NULL AS has_model_key, a.script, a.tools, a.disclosure,
        a.is_recording AS recording_enabled, a.voicemail_action,
        a.max_duration_s AS max_duration_seconds, a.ring_timeout_s AS ring_timeout_seconds,
        a.silence_timeout_s AS silence_timeout_seconds, a.max_attempts,
        a.retry_delay_s AS retry_delay_seconds,
        iso(a.created_at) AS created_at, iso(a.updated_at) AS updated_at
    FROM voice_agents a WHERE a.book_id = $1 AND a.deleted_at IS NULL
"""


async def insert_agent(db: Db, key: BookKey, facts: AgentFacts, now: datetime) -> None:
    """An agent."""
    await db.execute(
        """
        INSERT INTO voice_agents (book_id, id, name, description, status, store_id, language, tone,
            is_default, greeting, instructions, runtime, model_url, model_name, script, tools,
            disclosure, is_recording, voicemail_action, max_duration_s, ring_timeout_s,
            silence_timeout_s, max_attempts, retry_delay_s, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            $19, $20, $21, $22, $23, $24, $25, $25)
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


async def update_agent(db: Db, key: BookKey, facts: AgentFacts, now: datetime) -> None:
    """Everything of an agent."""
    await db.execute(
        """
        UPDATE voice_agents SET name = $3, description = $4, status = $5, store_id = $6,
            language = $7, tone = $8, is_default = $9, greeting = $10, instructions = $11,
            runtime = $12, model_url = $13, model_name = $14, script = $15, tools = $16,
            disclosure = $17, is_recording = $18, voicemail_action = $19, max_duration_s = $20,
            ring_timeout_s = $21, silence_timeout_s = $22, max_attempts = $23,
            retry_delay_s = $24, updated_at = $25
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(facts),
        now,
    )


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


async def lock_agent(db: Db, book_id: BookId, agent_id: UUID) -> Record | None:
    """One agent, which nobody changes meanwhile."""
    return await db.fetchrow(_AGENT + " AND a.id = $2 FOR NO KEY UPDATE", book_id, agent_id)


async def show_agent(db: Db, book_id: BookId, agent_id: UUID) -> Record | None:
    """One agent."""
    return await db.fetchrow(_AGENT + " AND a.id = $2", book_id, agent_id)


async def count_agents(db: Db, book_id: BookId, status: str | None) -> int:
    """How many agents fit."""
    where = Where(book_id).and_("a.status = $", status)
    return await db.fetchval(
        "SELECT count(*) FROM voice_agents a WHERE a.book_id = $1 AND a.deleted_at IS NULL"
        + where.sql(),
        *where.args,
    )


async def list_agents(db: Db, book_id: BookId, status: str | None, page: Page) -> Sequence[Record]:
    """One page of the agents, the default one first, then the oldest."""
    where = Where(book_id).and_("a.status = $", status)
    return await db.fetch(
        _AGENT
        + where.sql()
        + " ORDER BY a.is_default DESC, a.created_at, a.id LIMIT "
        + where.slot(page.per_page)
        + " OFFSET "
        + where.slot(page.offset),
        *where.args,
    )


async def has_store(db: Db, book_id: BookId, store_id: StoreId) -> bool:
    """Whether the book has a store."""
    return await db.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM stores WHERE book_id = $1 AND id = $2 AND deleted_at IS NULL)
        """,
        book_id,
        store_id,
    )
