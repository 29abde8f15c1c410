"""Statements that search messages by words: the newest that fit, and no more than so many."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.newest import FOUND_MAX, LOOKED_MAX, SAMPLE, Searched
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId, ConversationId

_MESSAGES = Searched("m", "m.id DESC")
_WORDS: LiteralString = "customer_words(m.book_id, m.text) @@ customer_query($1, $)"
# Told sooner than the words of a text, and true of each text that has them.
_HAS_LETTERS: LiteralString = "strpos(lower(m.text), lower($::text)) > 0"


class MessageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A search, as the statements ask for it."""

    # None: all messages, whatever their words.
    words: str | None = None
    # Letters that every text with the words contains.
    letters: Sequence[str] = ()
    conversation_id: ConversationId | None = None


async def find_all(db: Db, book_id: BookId, query: MessageQuery) -> Sequence[UUID]:
    """The newest, whatever their words."""
    where = Where(book_id)
    newest = _newest(where, query, FOUND_MAX)
    rows = await db.fetch("SELECT m.id FROM (" + newest + ") m ORDER BY m.id DESC", *where.args)
    return [row["id"] for row in rows]


async def find_in_sample(
    db: Db, book_id: BookId, query: MessageQuery
) -> tuple[int, Sequence[UUID]]:
    """How many of the newest messages were looked at, and those of them that have the words."""
    where = Where(book_id)
    newest = _newest(where, query, SAMPLE)
    found = _and_words(Where(*where.args), query)
    [row] = await db.fetch(_MESSAGES.in_sample(newest, found.sql()), *found.args)
    return row["looked"], row["ids"]


async def find_among_newest(db: Db, book_id: BookId, query: MessageQuery) -> Sequence[UUID]:
    """The newest that have the words, come upon in the order of time."""
    where = Where(book_id)
    newest = _newest(where, query, LOOKED_MAX)
    found = _and_words(Where(*where.args), query)
    limit = found.slot(FOUND_MAX)
    rows = await db.fetch(_MESSAGES.among_newest(newest, found.sql(), limit), *found.args)
    return [row["id"] for row in rows]


async def find_by_words(db: Db, book_id: BookId, query: MessageQuery) -> Sequence[UUID]:
    """The newest that have the words: all are looked up by the words, then put in order."""
    where = Where(book_id).and_("m.conversation_id = $", query.conversation_id)
    where.and_(_WORDS, query.words)
    found: LiteralString = "SELECT m.id FROM messages m WHERE m.book_id = $1" + where.sql()
    rows = await db.fetch(_MESSAGES.by_words(found, where.slot(FOUND_MAX)), *where.args)
    return [row["id"] for row in rows]


def _newest(where: Where, query: MessageQuery, count: int) -> LiteralString:
    """The newest messages that fit otherwise."""
    return (
        "SELECT m.book_id, m.id, m.text FROM messages m WHERE m.book_id = $1"
        + where.and_("m.conversation_id = $", query.conversation_id).sql()
        + " ORDER BY m.id DESC LIMIT "
        + where.slot(count)
    )


def _and_words(where: Where, query: MessageQuery) -> Where:
    for letters in query.letters:
        where.and_(_HAS_LETTERS, letters)
    return where.and_(_WORDS, query.words)
