"""Statements on messages: written, sent, reported on, read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.jobs.store import QUEUE
from tillhouse.kit.ids import (
    BookId,
    BookKey,
    ConversationId,
    CustomerId,
    MessageId,
    NumberId,
    UserId,
)
from tillhouse.kit.page import Page
from tillhouse.messaging.attachments.types import Attachment
from tillhouse.messaging.types import Incoming, Message


class OutboundRow(msgspec.Struct, frozen=True, kw_only=True):
    """A message to a customer, as it is written."""

    book_id: BookId
    id: MessageId
    # Of the conversation, should there be none with this number yet.
    conversation_id: ConversationId
    customer_phone: str
    customer_id: CustomerId | None
    type: str
    text: str
    template: str | None
    delivery_status: str
    provider: str
    number_id: NumberId
    provider_message_id: str | None
    error: str | None
    purpose: str | None
    sent_by_id: UserId | None
    # The job that is left to do: (kind, payload, when).
    job_kind: str | None
    job_payload: bytes | None
    job_due_at: datetime | None
    created_at: datetime
    attachment_id: UUID | None = None


async def insert_outbound(db: Db, row: OutboundRow) -> ConversationId | None:
    """A message to a customer; its conversation, None when the purpose was served before."""
    return await db.fetchval(
        """
        WITH talk AS (
            INSERT INTO conversations (book_id, id, customer_phone, customer_id,
                last_message_at, created_at, updated_at)
            VALUES ($1, $3, $4, $5, $19, $19, $19)
            ON CONFLICT (book_id, customer_phone) DO UPDATE SET
                customer_id = coalesce(excluded.customer_id, conversations.customer_id),
                last_message_at =
                    greatest(conversations.last_message_at, excluded.last_message_at),
                updated_at = excluded.updated_at
            RETURNING id
        ), message AS (
            INSERT INTO messages (book_id, id, conversation_id, direction, type, text, template,
                delivery_status, provider, number_id, provider_message_id, error, purpose,
                sent_by_id, created_at, updated_at, attachment_id)
            SELECT $1, $2, talk.id, 'outbound', $6, $7, $8::jsonb, $9, $10, $11, $12, $13, $14,
                $15, $19, $19, $20
            FROM talk
            ON CONFLICT (book_id, purpose) DO NOTHING
            RETURNING conversation_id
        ), queueing AS (
            SELECT $1::uuid AS book_id, $16::text AS kind, $2::uuid AS subject_id, '' AS key,
                $17::bytea AS payload, $18::timestamptz AS due_at, $19::timestamptz AS queued_at
            FROM message WHERE $16::text IS NOT NULL
        ),
        """
        + QUEUE
        + "SELECT conversation_id FROM message",
        *msgspec.structs.astuple(row),
    )


class KeptMessage(msgspec.Struct, frozen=True):
    """The conversation of a customer's message, and whether the message is new there."""

    conversation_id: ConversationId
    # Whether the conversation has no assignee yet.
    is_waiting: bool
    # False: another transaction has kept it meanwhile.
    is_new: bool


_INBOUND: LiteralString = """
    WITH talk AS (
        INSERT INTO conversations (book_id, id, customer_phone, customer_id,
            last_message_at, last_received_at, created_at, updated_at, unread_count,
            began_waiting_at)
        SELECT $1, $3, $4, coalesce(
            (SELECT u.id FROM customers u WHERE u.book_id = $1 AND u.whatsapp_number = $4
                AND u.deleted_at IS NULL ORDER BY u.id LIMIT 1),
            (SELECT u.id FROM customers u WHERE u.book_id = $1 AND u.phone_number = $4
                AND u.deleted_at IS NULL)), $16, $10, $16, $16, 1, $16
        WHERE NOT EXISTS (SELECT FROM messages m
            WHERE m.book_id = $1 AND m.provider = $7 AND m.provider_message_id = $9)
        ON CONFLICT (book_id, customer_phone) DO UPDATE SET
            customer_id = coalesce(conversations.customer_id, excluded.customer_id),
            last_message_at =
                greatest(conversations.last_message_at, excluded.last_message_at),
            last_received_at =
                greatest(conversations.last_received_at, excluded.last_received_at),
            status = 'open', snoozed_until = NULL,
            unread_count = conversations.unread_count + 1,
            began_waiting_at = CASE WHEN conversations.assignee_id IS NULL
                THEN coalesce(conversations.began_waiting_at, excluded.began_waiting_at) END,
            updated_at = excluded.updated_at
        RETURNING id, began_waiting_at
    ), message AS (
        INSERT INTO messages (book_id, id, conversation_id, direction, type, text, provider,
            number_id, provider_message_id, created_at, updated_at, attachment_id)
        SELECT $1, $2, talk.id, 'inbound', $5, $6, $7, $8, $9, $16, $16, $11 FROM talk
        ON CONFLICT (book_id, provider, provider_message_id) DO NOTHING
        RETURNING conversation_id
    ), attached AS (
        INSERT INTO messaging_attachments (book_id, id, kind, status, filename, number_id,
            provider_media_id, provider_sha256, created_at, updated_at)
        SELECT $1, $11, $12, 'fetching', $13, $8, $14, $15, $16, $16 FROM message
        WHERE $14::text IS NOT NULL
    )
    SELECT talk.id AS conversation_id, talk.began_waiting_at IS NOT NULL AS is_waiting,
        EXISTS (SELECT FROM message) AS is_new
    FROM talk
"""


async def insert_inbound(
    db: Db, key: BookKey, conversation_id: ConversationId, incoming: Incoming, now: datetime
) -> KeptMessage | None:
    """A message of a customer, which opens its conversation; None when it came before."""
    row = await db.fetchrow(
        _INBOUND, *key, conversation_id, *msgspec.structs.astuple(incoming), now
    )
    return KeptMessage(**row) if row else None


ATTACHED: LiteralString = """
    (SELECT json_build_object('id', f.id, 'kind', f.kind, 'status', f.status,
        'filename', f.filename, 'contentType', f.content_type, 'sizeBytes', f.size_bytes,
        'error', f.error)
    FROM messaging_attachments f WHERE f.book_id = m.book_id AND f.id = m.attachment_id)
"""
"""The attachment of a message `m`."""

_MESSAGE: LiteralString = (
    """
    SELECT m.id, m.conversation_id, m.direction, m.type, m.text, m.delivery_status, m.provider,
        m.provider_message_id, m.error, m.sent_by_id, iso(m.created_at) AS created_at,
        iso(m.updated_at) AS updated_at,
    """
    + ATTACHED
    + """
        AS attachment
    FROM messages m WHERE m.book_id = $1
"""
)


def _shown(row: Record) -> Message:
    fields: dict[str, Any] = dict(row)
    attached = fields.pop("attachment")
    attachment = msgspec.json.decode(attached, type=Attachment) if attached else None
    return Message(attachment=attachment, **fields)


async def show_message(db: Db, book_id: BookId, message_id: MessageId) -> Message | None:
    """One message."""
    row = await db.fetchrow(_MESSAGE + " AND m.id = $2", book_id, message_id)
    return _shown(row) if row else None


async def has_message(
    db: Db, book_id: BookId, conversation_id: ConversationId, message_id: MessageId
) -> bool:
    """Whether a message is one of this conversation."""
    return await db.fetchval(
        """
        SELECT EXISTS (SELECT FROM messages
            WHERE book_id = $1 AND id = $3 AND conversation_id = $2)
        """,
        book_id,
        conversation_id,
        message_id,
    )


async def list_messages(
    db: Db, book_id: BookId, conversation_id: ConversationId, page: Page
) -> list[Message]:
    """One page of a conversation, the latest first."""
    rows = await db.fetch(
        _MESSAGE + " AND m.conversation_id = $2 ORDER BY m.id DESC LIMIT $3 OFFSET $4",
        book_id,
        conversation_id,
        page.per_page,
        page.offset,
    )
    return [_shown(row) for row in rows]


async def list_found(db: Db, book_id: BookId, ids: Sequence[UUID]) -> list[Message]:
    """Messages by their ids, the latest first."""
    rows = await db.fetch(_MESSAGE + " AND m.id = ANY($2) ORDER BY m.id DESC", book_id, list(ids))
    return [_shown(row) for row in rows]


async def count_messages(db: Db, book_id: BookId, conversation_id: ConversationId) -> int | None:
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
    db: Db, book_id: BookId, message_id: MessageId, now: datetime
) -> Record | None:
    """Mark a queued message as being sent; None when it isn't queued."""
    return await db.fetchrow(
        """
        UPDATE messages m SET delivery_status = 'sending', updated_at = $3
        FROM conversations c, books b
        WHERE m.book_id = $1 AND m.id = $2 AND m.delivery_status = 'queued'
            AND c.book_id = $1 AND c.id = m.conversation_id AND b.id = $1
        RETURNING m.book_id, m.id, b.business_id, b.environment, m.provider, m.number_id,
            c.customer_phone, m.text, m.template, m.attachment_id
        """,
        book_id,
        message_id,
        now,
    )


async def end_abandoned(db: Db, book_id: BookId, message_id: MessageId, now: datetime) -> None:
    """The sender of a message died: its outcome is unknown."""
    await db.execute(
        """
        UPDATE messages SET delivery_status = 'unknown', updated_at = $3, error = 'sender_died'
        WHERE book_id = $1 AND id = $2 AND delivery_status = 'sending'
        """,
        book_id,
        message_id,
        now,
    )


async def find_book(db: Db, book_id: BookId) -> Record:
    """To which business a book belongs, and its environment."""
    [row] = await db.fetch(
        "SELECT id AS book_id, business_id, environment FROM books WHERE id = $1", book_id
    )
    return row


async def lock_message(
    db: Db, book_id: BookId, message_id: MessageId, provider_message_id: str | None = None
) -> Record | None:
    """How far a message to a customer got, locked; and whether another has this provider's id."""
    return await db.fetchrow(
        """
        SELECT m.id, m.conversation_id, m.delivery_status, m.provider_message_id, m.error,
            EXISTS (SELECT FROM messages r WHERE r.book_id = $1 AND r.provider = m.provider
                AND r.provider_message_id = $3 AND r.id <> $2) AS is_taken
        FROM messages m
        WHERE m.book_id = $1 AND m.id = $2 AND m.direction = 'outbound'
        FOR NO KEY UPDATE
        """,
        book_id,
        message_id,
        provider_message_id,
    )


async def find_by_provider_id(
    db: Db, book_id: BookId, provider_message_id: str
) -> MessageId | None:
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
    key: BookKey,
    status: str,
    provider_message_id: str | None,
    error: str | None,
    now: datetime,
) -> None:
    """How far a message got; a failed one served no purpose."""
    await db.execute(
        """
        UPDATE messages SET delivery_status = $3,
            provider_message_id = coalesce(provider_message_id, $4), error = $5,
            purpose = CASE WHEN $3 = 'failed' THEN NULL ELSE purpose END, updated_at = $6
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        status,
        provider_message_id,
        error,
        now,
    )


async def update_provider_id(db: Db, key: BookKey, provider_message_id: str | None) -> None:
    """The provider's id of a message that was reported on before its sender came back."""
    await db.execute(
        """
        UPDATE messages SET provider_message_id = coalesce(provider_message_id, $3)
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        provider_message_id,
    )
