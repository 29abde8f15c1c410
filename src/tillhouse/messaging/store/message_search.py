"""Statements that search messages by words: the newest that fit, and no more than so many."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

import msgspec

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.db.word_search import FOUND_MAX, WordSearch
from tillhouse.kit.ids import BookId, ConversationId

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


def _found(where: Where, query: MessageQuery) -> LiteralString:
    where.and_("m.conversation_id = $", query.conversation_id).and_(_WORDS, query.words)
    return "SELECT m.id FROM messages m WHERE m.book_id = $1" + where.sql()


MESSAGE_SEARCH = WordSearch(MessageQuery, "m", "m.id DESC", _newest, _and_words, _found)
