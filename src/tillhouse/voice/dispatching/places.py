"""The calls that one process makes at once, shared among books: no book takes all of them."""

from collections import Counter

from tillhouse.kit.ids import BookId

# One in so many places is kept for books that have no call under way.
_KEPT_IN = 5


class Places:
    """The places of one process."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._kept = at_once // _KEPT_IN
        self._taken: Counter[BookId] = Counter()

    @property
    def has_free(self) -> bool:
        """Whether there is any left."""
        return self._free > 0

    def of(self, book_id: BookId) -> int:
        """How many a book has taken."""
        return self._taken[book_id]

    def may_take(self, book_id: BookId) -> bool:
        """Whether a book may take one more; its first one may be one of those that are kept."""
        return self._free > (self._kept if self.of(book_id) else 0)

    def take(self, book_id: BookId) -> None:
        """A call of a book begins."""
        self._free -= 1
        self._taken[book_id] += 1

    def give_back(self, book_id: BookId) -> None:
        """A call of a book has ended."""
        self._free += 1
        self._taken[book_id] -= 1
        if not self._taken[book_id]:
            del self._taken[book_id]
