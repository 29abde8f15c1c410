"""Statements that search conversations by words of names: the latest, and no more than so many."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.db.word_search import WordSearch
from tillhouse.kit.ids import BookId
from tillhouse.messaging.store.conversations import (
    CONVERSATION,
    ConversationQuery,
    and_filters,
    and_names,
    shown,
)
from tillhouse.messaging.types import Conversation

# The customer of a conversation `c`, looked up for each: never all customers instead.
_CUSTOMER: LiteralString = """ LEFT JOIN LATERAL (
        SELECT n.name FROM customers n
        WHERE n.book_id = $1 AND n.id = c.customer_id OFFSET 0) n ON true
"""
_OF_BOOK: LiteralString = """
    SELECT c.id, c.last_message_at, c.customer_id FROM conversations c WHERE c.book_id = $1
"""


async def list_found(
    db: Db, book_id: BookId, now: datetime, ids: Sequence[UUID]
) -> list[Conversation]:
    """The conversations that were found, whole."""
    rows = await db.fetch(
        CONVERSATION + " AND c.id = ANY($3) ORDER BY c.last_message_at DESC, c.id DESC",
        book_id,
        now,
        [*ids],
    )
    return [shown(row) for row in rows]


def _newest(where: Where, query: ConversationQuery, count: int) -> LiteralString:
    """The latest conversations that fit otherwise, in the order of the list."""
    fitting = and_filters(where, query).sql()
    limit = " ORDER BY c.last_message_at DESC, c.id DESC LIMIT " + where.slot(count)
    return _OF_BOOK + fitting + limit


def _and_words(where: Where, query: ConversationQuery) -> Where:
    """Add that the name `n` has the words; its letters are told sooner."""
    # A query of mere punctuation leaves only the book, which every customer matches.
    where.and_("numnode(customer_query($1, $)) > 1", query.words)
    for letters in query.letters:
        where.and_("strpos(lower(n.name), lower($::text)) > 0", letters)
    return where.and_(
        "customer_words($1, coalesce(n.name, '')) @@ customer_query($1, $)", query.words
    )


def _found(where: Where, query: ConversationQuery) -> LiteralString:
    return _OF_BOOK + and_names(and_filters(where, query), query).sql()


CONVERSATION_SEARCH = WordSearch(
    ConversationQuery,
    "c",
    "c.last_message_at DESC, c.id DESC",
    _newest,
    _and_words,
    _found,
    joined=_CUSTOMER,
)
