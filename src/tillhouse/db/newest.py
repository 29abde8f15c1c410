"""Searches for words that find the newest rows that have them, and no more than so many.

Where many rows have the words, the newest thousand are soon come upon in the order of the list;
where few have, the index of words knows all of them. A look at the newest rows tells which it is.
"""

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

FOUND_MAX = 1_000
"""A search finds so many rows at most."""
SAMPLE = 1_000
"""So many of the newest rows tell how frequent the words are."""
LOOKED_MAX = 50_000
"""Frequent words are looked for among so many of the newest rows."""
_FREQUENT = 25

Ids = Sequence[UUID]


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
