"""Searches for words that find the newest rows that have them, and no more than so many.

Where many rows have the words, the newest thousand are soon come upon in the order of the list;
where few have, the index of words knows all of them. A look at the newest rows tells which it is.
"""

from collections.abc import Callable, Sequence
from typing import Generic, LiteralString, TypeVar
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.db.where import Where
from tillhouse.kit.ids import BookId

FOUND_MAX = 1_000
"""A search finds so many rows at most."""
SAMPLE = 1_000
"""So many of the newest rows tell how frequent the words are."""
_LOOKED_MAX = 50_000
_FREQUENT = 25

Ids = Sequence[UUID]
Query = TypeVar("Query")


class WordSearch(Generic[Query]):
    """The statements that search a list of a book by words, composed of its declaration.

    `order` is that of the list, with the alias of its rows; `joined` is joined to the newest rows.
    `newest` selects so many of the newest rows that fit otherwise, `and_words` adds the conditions
    that the words are in such a row, and `found` selects all rows that the words find.
    """

    def __init__(  # noqa: PLR0913 - a declaration
        self,
        query: type[Query],
        alias: LiteralString,
        order: LiteralString,
        newest: Callable[[Where, Query, int], LiteralString],
        and_words: Callable[[Where, Query], Where],
        found: Callable[[Where, Query], LiteralString],
        joined: LiteralString = "",
    ) -> None:
        self.query = query
        self._newest, self._and_words, self._found = newest, and_words, found
        self._alias: LiteralString = alias
        self._joined: LiteralString = joined
        self._id: LiteralString = alias + ".id"
        self._order: LiteralString = " ORDER BY " + order

    async def find(self, db: Db, book_id: BookId, query: Query) -> Ids:
        """The newest rows that have the words, by the way that costs least."""
        looked, ids = await self.find_in_sample(db, book_id, query)
        if looked < SAMPLE:
            # There are no others.
            return ids
        if len(ids) >= _FREQUENT:
            found = await self.find_among_newest(db, book_id, query)
            if len(found) == FOUND_MAX:
                return found
        return await self.find_by_words(db, book_id, query)

    async def find_in_sample(self, db: Db, book_id: BookId, query: Query) -> tuple[int, Ids]:
        """How many of the newest rows were looked at, and those of them that have the words."""
        newest, words = self._among(book_id, query, SAMPLE)
        ids = "array_agg(" + self._id + self._order + ") FILTER (WHERE true" + words.sql() + ")"
        [row] = await db.fetch(
            "SELECT count(*) AS looked, coalesce(" + ids + ", '{}') AS ids" + newest, *words.args
        )
        return row["looked"], row["ids"]

    async def find_among_newest(self, db: Db, book_id: BookId, query: Query) -> Ids:
        """Those that have the words, come upon in the order of the list."""
        newest, words = self._among(book_id, query, _LOOKED_MAX)
        select = "SELECT " + self._id + newest + " WHERE true" + words.sql()
        rows = await db.fetch(select + self._order + " LIMIT " + words.slot(FOUND_MAX), *words.args)
        return [row["id"] for row in rows]

    async def find_by_words(self, db: Db, book_id: BookId, query: Query) -> Ids:
        """Those that have the words: all are looked up by the words, then put in order."""
        where = Where(book_id)
        found = "WITH found AS MATERIALIZED (" + self._found(where, query) + ") SELECT "
        select = found + self._id + " FROM found " + self._alias + self._order
        rows = await db.fetch(select + " LIMIT " + where.slot(FOUND_MAX), *where.args)
        return [row["id"] for row in rows]

    def _among(self, book_id: BookId, query: Query, count: int) -> tuple[LiteralString, Where]:
        """The newest rows, and the conditions that the words are in one."""
        where = Where(book_id)
        newest = self._newest(where, query, count)
        words = self._and_words(Where(*where.args), query)
        return " FROM (" + newest + ") " + self._alias + self._joined, words
