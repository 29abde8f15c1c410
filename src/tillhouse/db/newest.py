"""Searches for words that find the newest rows that have them, and no more than so many.

Where many rows have the words, the newest thousand are soon come upon in the order of the list;
where few have, the index of words knows all of them. A look at the newest rows tells which it is.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import LiteralString
from uuid import UUID

import msgspec

FOUND_MAX = 1_000
"""A search finds so many rows at most."""
SAMPLE = 1_000
"""So many of the newest rows tell how frequent the words are."""
LOOKED_MAX = 50_000
"""Frequent words are looked for among so many of the newest rows."""
_FREQUENT = 25

Ids = Sequence[UUID]


class Searched(msgspec.Struct, frozen=True):
    """The rows of a list in statements that search it: their alias, their order, their joins.

    `newest` is a SELECT of the newest rows that fit otherwise; `words` are conditions, each after
    an AND; `limit` is the placeholder of a number.
    """

    alias: LiteralString
    order: LiteralString
    joined: LiteralString = ""

    def in_sample(self, newest: LiteralString, words: LiteralString) -> LiteralString:
        """How many of the newest were looked at, and the ids of those that have the words."""
        return (
            "SELECT count(*) AS looked, coalesce(array_agg("
            + self.alias
            + ".id ORDER BY "
            + self.order
            + ") FILTER (WHERE true"
            + words
            + "), '{}') AS ids"
            + self._among(newest)
        )

    def among_newest(
        self, newest: LiteralString, words: LiteralString, limit: LiteralString
    ) -> LiteralString:
        """The ids of those that have the words, come upon in the order of the list."""
        return (
            "SELECT "
            + self.alias
            + ".id"
            + self._among(newest)
            + " WHERE true"
            + words
            + self._first(limit)
        )

    def by_words(self, found: LiteralString, limit: LiteralString) -> LiteralString:
        """The same of all rows that the words find: `found` selects them, with their order."""
        return (
            "WITH found AS MATERIALIZED ("  # noqa: S608
            + found
            + ") SELECT "
            + self.alias
            + ".id FROM found "
            + self.alias
            + self._first(limit)
        )

    def _among(self, newest: LiteralString) -> LiteralString:
        return " FROM (" + newest + ") " + self.alias + self.joined

    def _first(self, limit: LiteralString) -> LiteralString:
        return " ORDER BY " + self.order + " LIMIT " + limit


async def find_newest_with_words(
    in_sample: Callable[[], Awaitable[tuple[int, Ids]]],
    among_newest: Callable[[], Awaitable[Ids]],
    by_words: Callable[[], Awaitable[Ids]],
) -> Ids:
    """The newest rows that have the words, by the way that costs least.

    `in_sample` tells how many rows it looked at, and those that have the words. Fewer than a whole
    sample: there are no others.
    """
    looked, ids = await in_sample()
    if looked < SAMPLE:
        return ids
    if len(ids) >= _FREQUENT:
        found = await among_newest()
        if len(found) == FOUND_MAX:
            return found
    return await by_words()
