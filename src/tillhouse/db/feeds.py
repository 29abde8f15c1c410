"""Feeds: news of a book are looked up once for all in a process who follow it.

A feed keeps the latest of it. A follower that has taken too little for too long finds that what it
lacks is no longer kept, and looks for itself until it is up to date.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Pool
from tillhouse.kit.errors import Unavailable

# Each event is notified; one whose notification is lost is found by looking.
POLL_S = 0.5
# So many come with one look.
LOOK_MAX = 200
# Of each book that is followed; a process has up to 500 streams, perhaps each of another book.
KEPT_MAX, KEPT_BYTES_MAX = 1000, 256 * 1024
# The database is away, or many others look.
NO_LOOK = (*FAILURES, Unavailable, TimeoutError)


class Piece(Protocol):
    """One thing that a feed keeps."""

    @property
    def size(self) -> int:
        """Its bytes."""
        ...


T = TypeVar("T", bound=Piece)
T_co = TypeVar("T_co", bound=Piece, covariant=True)


class FeedSource(Protocol[T_co]):
    """Finds everything that is committed after its first look, each once."""

    async def more(self, limit: int) -> Sequence[T_co]:
        """News since the last look, at most so many; at the first one none."""
        ...


MakesSource = Callable[[Pool, UUID], FeedSource[T]]


class Feeds:
    """The feeds of one process, each as long as it is followed."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._feeds: dict[Hashable, Feed[Any]] = {}
        # How long each feed that begins waits for a notification before it looks.
        self.poll_s = POLL_S

    @contextlib.contextmanager
    def following(self, make: MakesSource[T], book_id: UUID) -> Iterator["Feed[T]"]:
        """The feed of a book, the same for all who follow it."""
        name = (make, book_id)
        feed = self._feeds.get(name)
        if feed is None or feed.is_over:
            feed = self._feeds[name] = Feed(
                self._pool, book_id, make(self._pool, book_id), self.poll_s
            )
        feed.followers += 1
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers:
                feed.stop()
                if self._feeds.get(name) is feed:
                    del self._feeds[name]


class Feed(Generic[T]):
    """The news of one book, the latest of them kept."""

    def __init__(self, pool: Pool, book_id: UUID, source: FeedSource[T], poll_s: float) -> None:
        self._pool = pool
        self._book_id = book_id
        self._source = source
        self._poll_s = poll_s
        self._kept: deque[T] = deque()
        self._kept_bytes = 0
        self._is_open = False
        self._count = 0
        self._news = asyncio.Event()
        self.followers = 0
        self._task = asyncio.create_task(self._look_on())
        self._task.add_done_callback(lambda _: self._tell())

    @property
    def is_over(self) -> bool:
        """Whether an unforeseen error has ended it."""
        return self._task.done()

    @property
    def end(self) -> int | None:
        """The place after all that came so far; None before the first look."""
        return self._count if self._is_open else None

    def after(self, place: int | None) -> list[T] | None:
        """Everything that came after a place; None when it isn't known, or not all is kept."""
        if place is None:
            return None
        missing, kept = self._count - place, len(self._kept)
        return list(islice(self._kept, kept - missing, None)) if missing <= kept else None

    async def opened(self, timeout_s: float) -> None:
        """Return after the first look, or when the time is over."""
        if not self._is_open:
            await self._hear(timeout_s)

    async def wait(self, place: int | None, timeout_s: float) -> None:
        """Return when there is something after the place, or when the time is over."""
        if place is None or place == self._count:
            await self._hear(timeout_s)

    def stop(self) -> None:
        """Look no more."""
        self._task.cancel()

    async def _hear(self, timeout_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        if self.is_over:
            # The followers end with it.
            self._task.result()

    async def _look_on(self) -> None:
        with self._pool.notifier.following(self._book_id) as follower:
            while True:
                with contextlib.suppress(*NO_LOOK):
                    async with self._pool.notifier.look():
                        came = await self._source.more(LOOK_MAX)
                    self._add(came)
                    if len(came) == LOOK_MAX:
                        follower.wake()
                await follower.wait(self._poll_s)

    def _add(self, came: Sequence[T]) -> None:
        is_first, self._is_open = not self._is_open, True
        self._kept += came
        self._count += len(came)
        self._kept_bytes += sum(one.size for one in came)
        while len(self._kept) > KEPT_MAX or self._kept_bytes > KEPT_BYTES_MAX:
            self._kept_bytes -= self._kept.popleft().size
        if came or is_first:
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
