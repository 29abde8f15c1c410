"""Statements that search conversations by words of names: the latest, and no more than so many."""

from collections.abc import Sequence
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from tillhouse.db.newest import FOUND_MAX, LOOKED_MAX, SAMPLE
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
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
_CUSTOMER: LiteralString = """
    LEFT JOIN LATERAL (
        SELECT n.name FROM customers n
        WHERE n.book_id = $1 AND n.id = c.customer_id OFFSET 0) n ON true
"""
_OF_BOOK: LiteralString = """
    SELECT c.id, c.last_message_at, c.customer_id FROM conversations c WHERE c.book_id = $1
"""


async def find_in_sample(
    db: Db, book_id: BookId, query: ConversationQuery
) -> tuple[int, Sequence[UUID]]:
    """How many of the latest conversations were looked at, and those that the words find."""
    where = Where(book_id)
    latest = _latest(where, query, SAMPLE)
    named = Where(*where.args)
    row = await db.fetchrow(
        """
        SELECT count(*) AS looked,
            coalesce(array_agg(c.id ORDER BY c.last_message_at DESC, c.id DESC)
                FILTER (WHERE
        """
        + _has_words(named, query)
        + "), '{}') AS ids FROM ("
        + latest
        + ") c "
        + _CUSTOMER,
        *named.args,
    )
    assert row is not None, "it has no condition"  # noqa: S101
    return row["looked"], row["ids"]


async def find_among_latest(db: Db, book_id: BookId, query: ConversationQuery) -> Sequence[UUID]:
    """The latest that the words find, come upon in the order of the list."""
    where = Where(book_id)
    latest = _latest(where, query, LOOKED_MAX)
    named = Where(*where.args)
    rows = await db.fetch(
        "SELECT c.id FROM ("
        + latest
        + ") c "
        + _CUSTOMER
        + " WHERE "
        + _has_words(named, query)
        + " ORDER BY c.last_message_at DESC, c.id DESC LIMIT "
        + named.slot(FOUND_MAX),
        *named.args,
    )
    return [row["id"] for row in rows]


async def find_by_words(db: Db, book_id: BookId, query: ConversationQuery) -> Sequence[UUID]:
    """The latest that the words find: all are looked up by them, then put in order."""
    where = and_names(and_filters(Where(book_id), query), query)
    rows = await db.fetch(
        "WITH found AS MATERIALIZED ("
        + _OF_BOOK
        + where.sql()
        + ") SELECT f.id FROM found f ORDER BY f.last_message_at DESC, f.id DESC LIMIT "
        + where.slot(FOUND_MAX),
        *where.args,
    )
    return [row["id"] for row in rows]


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


def _latest(where: Where, query: ConversationQuery, count: int) -> LiteralString:
    """The latest conversations that fit otherwise, in the order of the list."""
    fitting = and_filters(where, query).sql()
    limit = " ORDER BY c.last_message_at DESC, c.id DESC LIMIT " + where.slot(count)
    return _OF_BOOK + fitting + limit


def _has_words(where: Where, query: ConversationQuery) -> LiteralString:
    """Whether the name `n` has the words; its letters are told sooner."""
    asked: LiteralString = "customer_query($1, " + where.slot(query.words) + ")"
    # A query of mere punctuation leaves only the book, which every customer matches.
    words: LiteralString = " numnode(" + asked + ") > 1"
    for one in query.letters:
        words += " AND strpos(lower(n.name), lower(" + where.slot(one) + "::text)) > 0"
    return words + " AND customer_words($1, coalesce(n.name, '')) @@ " + asked
