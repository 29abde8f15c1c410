"""Statements on conversations, and their tallies."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, LiteralString

import msgspec
from asyncpg import Record

from tillhouse.db.folding import Folding, Tally, same
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import (
    BookId,
    BookKey,
    ConversationId,
    CustomerId,
    MessageId,
    UserId,
)
from tillhouse.kit.page import Walk
from tillhouse.messaging.store.messages import ATTACHED
from tillhouse.messaging.types import (
    Assignee,
    Conversation,
    ConversationState,
    Correspondent,
    Message,
)

CONVERSATION: LiteralString = (
    """
    SELECT c.id, c.customer_phone, c.customer_id, u.name AS customer_name, c.status,
        iso(c.snoozed_until) AS snoozed_until, c.unread_count, c.assignee_id,
        a.name AS assignee_name, iso(c.assigned_at) AS assigned_at, (
            SELECT json_build_object('id', m.id, 'conversationId', m.conversation_id,
                'direction', m.direction, 'type', m.type, 'text', m.text,
                'deliveryStatus', m.delivery_status, 'provider', m.provider,
                'providerMessageId', m.provider_message_id, 'error', m.error,
                'sentById', m.sent_by_id, 'createdAt', iso(m.created_at),
                'updatedAt', iso(m.updated_at), 'attachment',
    """
    + ATTACHED
    + """
            )
            FROM messages m WHERE m.book_id = c.book_id AND m.conversation_id = c.id
            ORDER BY m.id DESC LIMIT 1
        ) AS last_message,
        iso(c.last_message_at) AS last_message_at, iso(c.last_received_at) AS last_received_at,
        CASE WHEN c.last_received_at > $2::timestamptz - interval '24 hours'
            THEN iso(c.last_received_at + interval '24 hours') END AS window_ends_at,
        iso(c.created_at) AS created_at, iso(c.updated_at) AS updated_at
    FROM conversations c
    LEFT JOIN customers u ON u.book_id = c.book_id AND u.id = c.customer_id
    LEFT JOIN users a ON a.id = c.assignee_id
    WHERE c.book_id = $1
"""
)
_LATEST_FIRST: LiteralString = " ORDER BY c.last_message_at DESC, c.id DESC"
_OLDEST_FIRST: LiteralString = " ORDER BY c.last_message_at, c.id"
CONVERSATION_TALLIES = Folding(
    "conversation_tally_changes",
    Tally(
        "conversation_tallies",
        key="conversation_tallies_kind_key",
        kinds=same(("status", "assignee_id", "is_unread")),
        sums=("conversations",),
    ),
)


def shown(row: Record) -> Conversation:
    """A conversation from its row."""
    fields: dict[str, Any] = dict(row)
    customer_id, customer_name = fields.pop("customer_id"), fields.pop("customer_name")
    assignee_id, assignee_name = fields.pop("assignee_id"), fields.pop("assignee_name")
    last = fields.pop("last_message")
    return Conversation(
        customer=Correspondent(customer_id, customer_name) if customer_name else None,
        assignee=Assignee(assignee_id, assignee_name) if assignee_name else None,
        last_message=msgspec.json.decode(last, type=Message) if last else None,
        **fields,
    )


class ConversationQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions on conversations; an absent one (None) lets all pass."""

    status: str | None = None
    assignee_id: UserId | None = None
    is_assigned: bool | None = None
    is_unread: bool | None = None
    customer_id: CustomerId | None = None
    # A search: words of the customer's name with letters that each such name has, an address, or a
    # number.
    words: str | None = None
    letters: Sequence[str] = ()
    email: str | None = None
    phone: str | None = None

    @property
    def is_tallied(self) -> bool:
        """Whether the tallies know all that it asks for."""
        named = (self.customer_id, self.words, self.email, self.phone)
        return named == (None,) * len(named)


# `$` is true: without a value a condition is left out.
_IS_ASSIGNED: dict[bool, LiteralString] = {
    True: "$::bool AND c.assignee_id IS NOT NULL",
    False: "$::bool AND c.assignee_id IS NULL",
}
_IS_UNREAD: dict[bool, LiteralString] = {
    True: "$::bool AND c.unread_count > 0",
    False: "$::bool AND c.unread_count = 0",
}
_NAMED: LiteralString = """
    c.customer_id IN (SELECT n.id FROM customers n WHERE n.book_id = $1
        AND customer_words(n.book_id, n.name) @@ customer_query($1, $))
"""
_WITH_EMAIL: LiteralString = """
    c.customer_id IN (SELECT n.id FROM customers n WHERE n.book_id = $1
        AND lower(n.email) = $ AND n.deleted_at IS NULL)
"""


def and_filters(where: Where, query: ConversationQuery) -> Where:
    """Add all conditions but the search."""
    assigned, unread = query.is_assigned, query.is_unread
    return (
        where.and_("c.status = $", query.status)
        .and_("c.assignee_id = $", query.assignee_id)
        .and_(_IS_ASSIGNED[bool(assigned)], None if assigned is None else True)
        .and_(_IS_UNREAD[bool(unread)], None if unread is None else True)
        .and_("c.customer_id = $", query.customer_id)
    )


def and_names(where: Where, query: ConversationQuery) -> Where:
    """Add the search."""
    return (
        where.and_(_NAMED, query.words)
        # A query of mere punctuation leaves only the book, which every customer matches.
        .and_("numnode(customer_query($1, $)) > 1", query.words)
        .and_(_WITH_EMAIL, query.email)
        .and_("c.customer_phone = $", query.phone)
    )


async def list_conversations(
    db: Db, book_id: BookId, now: datetime, query: ConversationQuery, way: Walk
) -> list[Conversation]:
    """Those with the latest message first; only the rows of the page are looked up whole."""
    where = and_names(and_filters(Where(book_id, now), query), query)
    rows = await db.fetch(
        CONVERSATION
        + " AND c.id IN (SELECT c.id FROM conversations c WHERE c.book_id = $1"
        + where.sql()
        + (_OLDEST_FIRST if way.is_from_last else _LATEST_FIRST)
        + " LIMIT "
        + where.slot(way.count)
        + " OFFSET "
        + where.slot(way.skipped)
        + ")"
        + _LATEST_FIRST,
        *where.args,
    )
    return [shown(row) for row in rows]


async def count_found(db: Db, book_id: BookId, query: ConversationQuery) -> int:
    """How many there are, where the tallies don't know all that is asked for."""
    where = and_names(and_filters(Where(book_id), query), query)
    return await db.fetchval(
        "SELECT count(*) FROM conversations c WHERE c.book_id = $1" + where.sql(), *where.args
    )


async def show_conversation(
    db: Db, book_id: BookId, now: datetime, conversation_id: ConversationId
) -> Conversation | None:
    """One conversation."""
    row = await db.fetchrow(CONVERSATION + " AND c.id = $3", book_id, now, conversation_id)
    return shown(row) if row else None


async def upsert_conversation(db: Db, key: BookKey, phone: str, now: datetime) -> ConversationId:
    """The conversation with a number; the one that there is, stays as it is."""
    return await db.fetchval(
        """
        INSERT INTO conversations (book_id, id, customer_phone, customer_id, last_message_at,
            created_at, updated_at)
        VALUES ($1, $2, $3, coalesce(
            (SELECT u.id FROM customers u WHERE u.book_id = $1 AND u.whatsapp_number = $3
                AND u.deleted_at IS NULL ORDER BY u.id LIMIT 1),
            (SELECT u.id FROM customers u WHERE u.book_id = $1 AND u.phone_number = $3
                AND u.deleted_at IS NULL)), $4, $4, $4)
        ON CONFLICT (book_id, customer_phone) DO UPDATE SET
            customer_id = coalesce(conversations.customer_id, excluded.customer_id)
        RETURNING id
        """,
        *key,
        phone,
        now,
    )


async def find_writing(db: Db, book_id: BookId, conversation_id: ConversationId) -> Record | None:
    """The facts that decide whether a message may be sent: recipient, last word, number."""
    return await db.fetchrow(
        """
        SELECT c.customer_phone, c.customer_id, c.last_received_at, n.id AS number_id, n.provider
        FROM conversations c
        LEFT JOIN messaging_numbers n ON n.book_id = c.book_id AND n.status = 'active'
        WHERE c.book_id = $1 AND c.id = $2
        """,
        book_id,
        conversation_id,
    )


async def lock_conversation(
    db: Db, book_id: BookId, conversation_id: ConversationId
) -> ConversationState | None:
    """A conversation, locked until the change commits."""
    row = await db.fetchrow(
        """
        SELECT assignee_id, status, snoozed_until, began_waiting_at FROM conversations
        WHERE book_id = $1 AND id = $2 FOR NO KEY UPDATE
        """,
        book_id,
        conversation_id,
    )
    return ConversationState(**row) if row else None


async def update_conversation(db: Db, key: BookKey, state: ConversationState, at: datetime) -> None:
    """Set who answers, and the status."""
    await db.execute(
        """
        UPDATE conversations SET assignee_id = $3, status = $4, snoozed_until = $5,
            began_waiting_at = $6, updated_at = $7,
            assigned_at = CASE WHEN $3::uuid IS NULL THEN NULL
                WHEN assignee_id IS DISTINCT FROM $3 THEN $7::timestamptz ELSE assigned_at END
        WHERE book_id = $1 AND id = $2
        """,
        *key,
        *msgspec.structs.astuple(state),
        at,
    )


async def update_unread(
    db: Db, book_id: BookId, conversation_id: ConversationId, message_id: MessageId | None
) -> bool:
    """Count the messages after one as unread, or none; whether there is the conversation."""
    return await db.execute_one(
        """
        UPDATE conversations c SET unread_count = CASE WHEN $3::uuid IS NULL THEN 0 ELSE
            (SELECT count(*) FROM (SELECT FROM messages m WHERE m.book_id = $1
                AND m.conversation_id = $2 AND m.id > $3 AND m.direction = 'inbound'
                LIMIT c.unread_count) later) END
        WHERE c.book_id = $1 AND c.id = $2
        """,
        book_id,
        conversation_id,
        message_id,
    )


async def update_unread_twice(db: Db, book_id: BookId, conversation_id: ConversationId) -> None:
    """Take back the count of a message that another transaction had kept."""
    await db.execute(
        """
        UPDATE conversations SET unread_count = greatest(unread_count - 1, 0)
        WHERE book_id = $1 AND id = $2
        """,
        book_id,
        conversation_id,
    )


async def count_tallied(db: Db, book_id: BookId, query: ConversationQuery) -> int:
    """How many conversations there are of these kinds."""
    where = and_filters(Where(book_id), query)
    return await db.fetchval(
        """
        WITH t AS (
            SELECT status, assignee_id, is_unread, conversations
            FROM conversation_tallies WHERE book_id = $1
            UNION ALL SELECT status, assignee_id, is_unread, conversations
            FROM conversation_tally_changes WHERE book_id = $1
        ), c AS (
            SELECT status, assignee_id, is_unread::integer AS unread_count,
                NULL::uuid AS customer_id, conversations
            FROM t
        )
        SELECT coalesce(sum(c.conversations), 0)::bigint FROM c WHERE true
        """
        + where.sql(),
        *where.args,
    )
