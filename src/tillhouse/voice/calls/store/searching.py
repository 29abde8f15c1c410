"""Statements that search calls by words: the newest that fit, and no more than so many."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from asyncpg import Record

from tillhouse.db.newest import FOUND_MAX, LOOKED_MAX, SAMPLE, Searched
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId
from tillhouse.voice.calls.store.reading import CALL, CallQuery, and_filters

_CALLS = Searched("c", "c.created_at DESC, c.id DESC")
_TEXT: LiteralString = "coalesce(c.customer_name, '') || ' ' || c.purpose"
_WORDS: LiteralString = "customer_words(c.book_id, " + _TEXT + ") @@ customer_query($1, $)"
# Told sooner than the words of a text, and true of each text that has them.
_HAS_LETTERS: LiteralString = "strpos(lower(" + _TEXT + "), lower($::text)) > 0"
_OF_BOOK: LiteralString = """
    SELECT c.book_id, c.id, c.created_at, c.customer_name, c.purpose
    FROM voice_calls c WHERE c.book_id = $1
"""


async def find_in_sample(db: Db, book_id: BookId, query: CallQuery) -> tuple[int, Sequence[UUID]]:
    """How many of the newest calls were looked at, and those of them that the words find."""
    where = Where(book_id)
    newest = _newest(where, query, SAMPLE)
    found = _and_words(Where(*where.args), query)
    [row] = await db.fetch(_CALLS.in_sample(newest, found.sql()), *found.args)
    return row["looked"], row["ids"]


async def find_among_newest(db: Db, book_id: BookId, query: CallQuery) -> Sequence[UUID]:
    """The newest that the words find, come upon in the order of time."""
    where = Where(book_id)
    newest = _newest(where, query, LOOKED_MAX)
    found = _and_words(Where(*where.args), query)
    limit = found.slot(FOUND_MAX)
    rows = await db.fetch(_CALLS.among_newest(newest, found.sql(), limit), *found.args)
    return [row["id"] for row in rows]


async def find_by_words(db: Db, book_id: BookId, query: CallQuery) -> Sequence[UUID]:
    """The newest that the words find: all are looked up by the words, then put in order."""
    where = and_filters(Where(book_id), query).and_("c.status = ANY($)", query.statuses)
    where.and_(_WORDS, query.words)
    found: LiteralString = "SELECT c.id, c.created_at FROM voice_calls c WHERE c.book_id = $1"
    found += where.sql()
    rows = await db.fetch(_CALLS.by_words(found, where.slot(FOUND_MAX)), *where.args)
    return [row["id"] for row in rows]


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
