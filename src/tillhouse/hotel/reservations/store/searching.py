"""Statements that search reservations by words: the newest that fit, and no more than so many."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from tillhouse.db.newest import FOUND_MAX, LOOKED_MAX, SAMPLE, Searched
from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.hotel.reservations.store.reading import ReservationQuery, and_filters, and_words
from tillhouse.kit.ids import BookId

_STAYS = Searched("v", "v.id DESC")
_OF_BOOK: LiteralString = "SELECT v.* FROM hotel_reservations v WHERE v.book_id = $1"


async def find_in_sample(
    db: Db, book_id: BookId, query: ReservationQuery
) -> tuple[int, Sequence[UUID]]:
    """How many of the newest reservations were looked at, and those of them that fit."""
    where = Where(book_id)
    newest = _newest(where, query, SAMPLE)
    found = _fitting(Where(*where.args), query)
    [row] = await db.fetch(_STAYS.in_sample(newest, found.sql()), *found.args)
    return row["looked"], row["ids"]


async def find_among_newest(db: Db, book_id: BookId, query: ReservationQuery) -> Sequence[UUID]:
    """The newest that fit, come upon in the order of the list."""
    where = Where(book_id)
    newest = _newest(where, query, LOOKED_MAX)
    found = _fitting(Where(*where.args), query)
    limit = found.slot(FOUND_MAX)
    rows = await db.fetch(_STAYS.among_newest(newest, found.sql(), limit), *found.args)
    return [row["id"] for row in rows]


async def find_by_words(db: Db, book_id: BookId, query: ReservationQuery) -> Sequence[UUID]:
    """The newest that fit: all are looked up by the words, then put in order."""
    where = and_filters(Where(book_id).and_("v.status = ANY($)", query.status), query)
    found: LiteralString = "SELECT v.id FROM hotel_reservations v WHERE v.book_id = $1"
    found += and_words(where, query).sql()
    rows = await db.fetch(_STAYS.by_words(found, where.slot(FOUND_MAX)), *where.args)
    return [row["id"] for row in rows]


def _newest(where: Where, query: ReservationQuery, count: int) -> LiteralString:
    """The newest reservations; of several statuses the newest of each."""
    limit = " ORDER BY v.id DESC LIMIT " + where.slot(count)
    if not query.status:
        return _OF_BOOK + limit
    named = "(SELECT DISTINCT unnest(" + where.slot(query.status) + "::text[]) AS status) s"
    each = _OF_BOOK + " AND v.status = s.status" + limit
    return "SELECT v.* FROM " + named + " CROSS JOIN LATERAL (" + each + ") v" + limit


def _fitting(where: Where, query: ReservationQuery) -> Where:
    """Add the conditions but for the statuses; letters are told sooner than the words of a name."""
    return and_words(and_filters(where, query), query, query.letters)
