"""Statements that search calls by words: the newest that fit, and no more than so many."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.db.word_search import WordSearch
from tillhouse.kit.ids import BookId
from tillhouse.voice.calls.store.reading import CALL, CallQuery, and_filters

_TEXT: LiteralString = "coalesce(c.customer_name, '') || ' ' || c.purpose"
_WORDS: LiteralString = "customer_words(c.book_id, " + _TEXT + ") @@ customer_query($1, $)"
# Told sooner than the words of a text, and true of each text that has them.
_HAS_LETTERS: LiteralString = "strpos(lower(" + _TEXT + "), lower($::text)) > 0"
_OF_BOOK: LiteralString = """
    SELECT c.book_id, c.id, c.created_at, c.customer_name, c.purpose
    FROM voice_calls c WHERE c.book_id = $1
"""


async def list_found(db: Db, book_id: BookId, ids: Sequence[UUID]) -> Sequence[Record]:
    """The calls that were found, whole."""
    return await db.fetch(
        CALL + " AND c.id = ANY($2) ORDER BY c.created_at DESC, c.id DESC", book_id, list(ids)
    )


def _newest(where: Where, query: CallQuery, count: int) -> LiteralString:
    """The newest calls that fit otherwise, in the order of time; of several statuses by each."""
    statuses = query.statuses or []
    # A list of one is an equality, which an index in the order of time begins with.
    status, statuses = (statuses[0], []) if len(statuses) == 1 else (None, statuses)
    limit = " ORDER BY c.created_at DESC, c.id DESC LIMIT " + where.slot(count)
    fitting = and_filters(where, query).and_("c.status = $", status).sql()
    if not statuses:
        return _OF_BOOK + fitting + limit
    each = _OF_BOOK + " AND c.status = s.status" + fitting + limit
    named = "unnest(" + where.slot(statuses) + "::text[]) s (status)"
    return "SELECT c.* FROM " + named + " CROSS JOIN LATERAL (" + each + ") c" + limit


def _and_words(where: Where, query: CallQuery) -> Where:
    for letters in query.letters:
        where.and_(_HAS_LETTERS, letters)
    return where.and_(_WORDS, query.words)


def _found(where: Where, query: CallQuery) -> LiteralString:
    and_filters(where, query).and_("c.status = ANY($)", query.statuses).and_(_WORDS, query.words)
    return "SELECT c.id, c.created_at FROM voice_calls c WHERE c.book_id = $1" + where.sql()


CALL_SEARCH = WordSearch(
    CallQuery, "c", "c.created_at DESC, c.id DESC", _newest, _and_words, _found
)
