"""Turns of books: round robin, so that a book with much to do holds up no other one.

A turn is one job, or one portion of a long one. The books that have jobs ready are read some at a
time; once all of them had their turn, the next round begins with another kind.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from uuid import UUID

import msgspec

from tillhouse.jobs.kinds import Kind, LocalKind, OutsideKind

# Of each kind, so many books are read at once.
BOOKS_AT_ONCE = 16
_FIRST = UUID(int=0)


class ReadyBook(msgspec.Struct, frozen=True):
    """A book that has a job of a kind ready."""

    kind: str
    book_id: UUID


class BookTurn(msgspec.Struct, frozen=True):
    """A book whose turn it is, and its kinds that are ready, the one that goes first at first."""

    book_id: UUID
    kinds: Sequence[str]


class BookTurns:
    """The turns that one process gives."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = deque(names)
        self._turns: deque[BookTurn] = deque()
        # The first book that was not read yet.
        self.cursor = _FIRST

    @property
    def names(self) -> Sequence[str]:
        """All kinds, the one that goes first in this round at first."""
        return tuple(self._names)

    @property
    def is_at_start(self) -> bool:
        """Whether every book has had its turn, and the next round is still to begin."""
        return self.cursor == _FIRST and not self._turns

    def next(self) -> BookTurn | None:
        """The next book of those that were read."""
        return self._turns.popleft() if self._turns else None

    def fill(self, found: Sequence[ReadyBook], at_once: int = BOOKS_AT_ONCE) -> None:
        """Give turns to books as they were read behind the cursor: of each kind, so many at most.

        A kind that has more of them says nothing of the books behind its last one, so that the
        others wait for the next look.
        """
        last: dict[str, UUID] = {}
        for ready in found:
            last[ready.kind] = max(last.get(ready.kind, _FIRST), ready.book_id)
        counts = Counter(ready.kind for ready in found)
        bounds = [last[kind] for kind, count in counts.items() if count >= at_once]
        bound = min(bounds, default=None)
        kinds: dict[UUID, set[str]] = {}
        for ready in found:
            if bound is None or ready.book_id <= bound:
                kinds.setdefault(ready.book_id, set()).add(ready.kind)
        self._turns.extend(
            BookTurn(book_id, [name for name in self._names if name in kinds[book_id]])
            for book_id in sorted(kinds)
        )
        if bound is None:
            self.cursor = _FIRST
            self._names.rotate(-1)
        else:
            self.cursor = UUID(int=bound.int + 1)


class Slots:
    """Calls outside that are under way in this process, by kind and book.

    One book has at most half of a kind's slots, and more than one only while a quarter of them is
    left for others: a provider that hangs for one book leaves room for the next.
    """

    def __init__(self) -> None:
        self._of_kinds: Counter[str] = Counter()
        self._of_books: Counter[tuple[str, UUID]] = Counter()

    def has_room(self, kind: Kind) -> bool:
        """Whether any book may have one more."""
        return isinstance(kind, LocalKind) or self._of_kinds[kind.name] < kind.at_once

    def has_room_for(self, kind: Kind, book_id: UUID) -> bool:
        """Whether this book may have one more."""
        if isinstance(kind, LocalKind):
            return True
        free = kind.at_once - self._of_kinds[kind.name]
        own = self._of_books[kind.name, book_id]
        return free > 0 if own == 0 else own < kind.at_once // 2 and free > kind.at_once // 4

    def take(self, kind: OutsideKind, book_id: UUID) -> None:
        """One more is under way."""
        self._of_kinds[kind.name] += 1
        self._of_books[kind.name, book_id] += 1

    def give_back(self, kind: OutsideKind, book_id: UUID) -> None:
        """One has ended."""
        self._of_kinds[kind.name] -= 1
        key = kind.name, book_id
        self._of_books[key] -= 1
        if not self._of_books[key]:
            del self._of_books[key]
