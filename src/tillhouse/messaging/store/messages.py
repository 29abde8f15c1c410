"""Statements on messages: written, sent, reported on, read."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.page import Page
from tillhouse.messaging.types import Incoming, Message


class OutboundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a customer, as it is written."""

    book_id: UUID
    id: UUID
    # Of the conversation, should there be none with this number yet.
    conversation_id: UUID
    customer_phone: str
    customer_id: UUID | None
    type: str
    text: str
    template: str | None
    delivery_status: str
    provider: str
    number_id: UUID
    provider_message_id: str | None
    error: str | None
    purpose: str | None
    sent_by_id: UUID | None
    due_at: datetime | None
    created_at: datetime


async def insert_outbound(db: Db, row: OutboundRow) -> UUID | None:
    """A message to a customer; its conversation, None when the purpose was served before."""
    return await db.fetchval(
        """
        WITH talk AS (
            INSERT INTO conversations (book_id, id, customer_phone, customer_id,
                last_message_at, created_at, updated_at)
            VALUES ($1, $3, $4, $5, $17, $17, $17)
            ON CONFLICT (book_id, customer_phone) DO UPDATE SET
                customer_id = coalesce(excluded.customer_id, conversations.customer_id),
                last_message_at =
                    greatest(conversations.last_message_at, excluded.last_message_at),
                updated_at = excluded.updated_at
            RETURNING id
        )
        INSERT INTO messages (book_id, id, conversation_id, direction, type, text, template,
            delivery_status, provider, number_id, provider_message_id, error, purpose,
            sent_by_id, due_at, created_at, updated_at)
        SELECT $1, $2, talk.id, 'outbound', $6, $7, $8::jsonb, $9, $10, $11, $12, $13, $14, $15,
            $16, $17, $17
        FROM talk
        ON CONFLICT (book_id, purpose) DO NOTHING
        RETURNING conversation_id
        """,
        *msgspec.structs.astuple(row),
    )


async def insert_inbound(
    db: Db, place: tuple[UUID, UUID], conversation_id: UUID, incoming: Incoming, now: datetime
) -> UUID | None:
    """A message of a customer; its conversation, None when it came before."""
    return await db.fetchval(
        """
        WITH talk AS (
            INSERT INTO conversations (book_id, id, customer_phone, customer_id,
                last_message_at, last_received_at, created_at, updated_at)
            SELECT $1, $3, $4, coalesce(
                (SELECT u.id FROM customers u WHERE u.book_id = $1 AND u.whatsapp_number = $4
                    AND u.deleted_at IS NULL ORDER BY u.id LIMIT 1),
                (SELECT u.id FROM customers u WHERE u.book_id = $1 AND u.phone_number = $4
                    AND u.deleted_at IS NULL)), $11, $10, $11, $11
            WHERE NOT EXISTS (SELECT FROM messages m
                WHERE m.book_id = $1 AND m.provider = $7 AND m.provider_message_id = $9)
            ON CONFLICT (book_id, customer_phone) DO UPDATE SET
                customer_id = coalesce(conversations.customer_id, excluded.customer_id),
                last_message_at =
                    greatest(conversations.last_message_at, excluded.last_message_at),
                last_received_at =
                    greatest(conversations.last_received_at, excluded.last_received_at),
                updated_at = excluded.updated_at
            RETURNING id
        )
        INSERT INTO messages (book_id, id, conversation_id, direction, type, text, provider,
            number_id, provider_message_id, created_at, updated_at)
        SELECT $1, $2, talk.id, 'inbound', $5, $6, $7, $8, $9, $11, $11 FROM talk
        ON CONFLICT (book_id, provider, provider_message_id) DO NOTHING
        RETURNING conversation_id
        """,
        *place,
        conversation_id,
        incoming.phone,
        incoming.type,
        incoming.text,
        incoming.provider,
        incoming.number_id,
        incoming.provider_message_id,
        incoming.at,
        now,
    )


_MESSAGE: LiteralString = """
    SELECT id, conversation_id, direction, type, text, delivery_status, provider,
        provider_message_id, error, sent_by_id, iso(created_at) AS created_at,
        iso(updated_at) AS updated_at
    FROM messages WHERE book_id = $1
"""


async def show_message(db: Db, book_id: UUID, message_id: UUID) -> Message | None:
    """One message."""
    row = await db.fetchrow(_MESSAGE + " AND id = $2", book_id, message_id)
    return Message(**row) if row else None


async def list_messages(db: Db, book_id: UUID, conversation_id: UUID, page: Page) -> list[Message]:
    """One page of a conversation, the latest first."""
    rows = await db.fetch(
        _MESSAGE + " AND conversation_id = $2 ORDER BY id DESC LIMIT $3 OFFSET $4",
        book_id,
        conversation_id,
        page.per_page,
        page.offset,
    )
    return [Message(**row) for row in rows]


async def count_messages(db: Db, book_id: UUID, conversation_id: UUID) -> int | None:
    """How many messages a conversation has; None when there is no such conversation."""
    return await db.fetchval(
        """
        SELECT (SELECT count(*) FROM messages m
            WHERE m.book_id = $1 AND m.conversation_id = $2)
        FROM conversations c WHERE c.book_id = $1 AND c.id = $2
        """,
        book_id,
        conversation_id,
    )


async def claim_message(
    db: Db, book_id: UUID, message_id: UUID, now: datetime, until: datetime
) -> Record | None:
    """Take a queued message to send it; None when somebody else has."""
    return await db.fetchrow(
        """
        UPDATE messages m SET delivery_status = 'sending', due_at = $4,
            attempts = m.attempts + 1, updated_at = $3
        FROM conversations c, books b
        WHERE m.book_id = $1 AND m.id = $2 AND m.delivery_status = 'queued'
            AND c.book_id = $1 AND c.id = m.conversation_id AND b.id = $1
        RETURNING m.book_id, m.id, b.business_id, b.environment, m.number_id, c.customer_phone,
            m.text, m.template, m.attempts
        """,
        book_id,
        message_id,
        now,
        until,
    )


async def claim_due(db: Db, now: datetime, until: datetime, limit: int) -> Sequence[Record]:
    """Take queued messages whose time has come, of any book_id; no two workers get the same."""
    return await db.fetch(
        """
        WITH due AS (
            SELECT m.book_id, m.id FROM messages m
            WHERE m.delivery_status = 'queued' AND m.due_at <= $1
            ORDER BY m.due_at LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE messages m SET delivery_status = 'sending', due_at = $2,
            attempts = m.attempts + 1, updated_at = $1
        FROM due, conversations c, books b
        WHERE m.book_id = due.book_id AND m.id = due.id AND c.book_id = m.book_id
            AND c.id = m.conversation_id AND b.id = m.book_id
        RETURNING m.book_id, m.id, b.business_id, b.environment, m.number_id, c.customer_phone,
            m.text, m.template, m.attempts
        """,
        now,
        until,
        limit,
    )


async def end_abandoned(db: Db, now: datetime, limit: int) -> int:
    """What became of messages whose sender died, of any book_id, nobody knows; how many."""
    done = await db.execute(
        """
        UPDATE messages m SET delivery_status = 'unknown', due_at = NULL, updated_at = $1,
            error = 'sender_died'
        FROM (
            SELECT l.book_id, l.id FROM messages l
            WHERE l.delivery_status = 'sending' AND l.due_at <= $1
            ORDER BY l.due_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        ) lost
        WHERE m.book_id = lost.book_id AND m.id = lost.id
        """,
        now,
        limit,
    )
    return int(done.rpartition(" ")[2])


async def lock_reportable(db: Db, now: datetime, limit: int) -> Sequence[Record]:
    """Messages of the sandbox that a report is due on, of any book_id, locked."""
    return await db.fetch(
        """
        SELECT m.book_id, m.id, b.business_id, b.environment, c.customer_phone
        FROM messages m
        JOIN conversations c ON c.book_id = m.book_id AND c.id = m.conversation_id
        JOIN books b ON b.id = m.book_id
        WHERE m.delivery_status = 'sent' AND m.due_at <= $1
        ORDER BY m.due_at LIMIT $2 FOR NO KEY UPDATE OF m SKIP LOCKED
        """,
        now,
        limit,
    )


async def lock_message(db: Db, book_id: UUID, message_id: UUID) -> Record | None:
    """How far a message to a customer got, locked until the change commits."""
    return await db.fetchrow(
        """
        SELECT id, conversation_id, delivery_status, provider_message_id FROM messages
        WHERE book_id = $1 AND id = $2 AND direction = 'outbound'
        FOR NO KEY UPDATE
        """,
        book_id,
        message_id,
    )


async def find_by_provider_id(db: Db, book_id: UUID, provider_message_id: str) -> UUID | None:
    """Which message WhatsApp means."""
    return await db.fetchval(
        """
        SELECT id FROM messages
        WHERE book_id = $1 AND provider = 'whatsapp' AND provider_message_id = $2
        """,
        book_id,
        provider_message_id,
    )


async def update_delivery(
    db: Db,
    place: tuple[UUID, UUID],
    status: str,
    told: tuple[str | None, str | None],
    due_at: datetime | None,
    now: datetime,
) -> None:
    """How far a message got: (provider's id, error). A failed one served no purpose."""
    await db.execute(
        """
        UPDATE messages SET delivery_status = $3,
            provider_message_id = coalesce(provider_message_id, $4), error = $5, due_at = $6,
            purpose = CASE WHEN $3 = 'failed' THEN NULL ELSE purpose END, updated_at = $7
        WHERE book_id = $1 AND id = $2
        """,
        *place,
        status,
        *told,
        due_at,
        now,
    )


async def update_provider_id(
    db: Db, place: tuple[UUID, UUID], provider_message_id: str | None
) -> None:
    """The provider's id of a message that was reported on before its sender came back."""
    await db.execute(
        """
        UPDATE messages SET provider_message_id = coalesce(provider_message_id, $3)
        WHERE book_id = $1 AND id = $2
        """,
        *place,
        provider_message_id,
    )
