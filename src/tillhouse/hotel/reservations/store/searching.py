"""Statements that search reservations by words: the newest that fit, and no more than so many."""

from typing import LiteralString

from tillhouse.db.where import Where
from tillhouse.db.word_search import WordSearch
from tillhouse.hotel.reservations.store.reading import ReservationQuery, and_filters, and_words

_OF_BOOK: LiteralString = "SELECT v.* FROM hotel_reservations v WHERE v.book_id = $1"


def _newest(where: Where, query: ReservationQuery, count: int) -> LiteralString:
    """The newest reservations; of several statuses the newest of each."""
    limit = " ORDER BY v.id DESC LIMIT " + where.slot(count)
    if not query.status:
        return _OF_BOOK + limit
    named = "(SELECT DISTINCT unnest(" + where.slot(query.status) + "::text[]) AS status) s"
    each = _OF_BOOK + " AND v.status = s.status" + limit
    return "SELECT v.* FROM " + named + " CROSS JOIN LATERAL (" + each + ") v" + limit


def _and_fitting(where: Where, query: ReservationQuery) -> Where:
    """Add the conditions but for the statuses; letters are told sooner than the words of a name."""
    return and_words(and_filters(where, query), query, query.letters)


def _found(where: Where, query: ReservationQuery) -> LiteralString:
    and_words(and_filters(where.and_("v.status = ANY($)", query.status), query), query)
    return "SELECT v.id FROM hotel_reservations v WHERE v.book_id = $1" + where.sql()


RESERVATION_SEARCH = WordSearch(ReservationQuery, "v", "v.id DESC", _newest, _and_fitting, _found)
