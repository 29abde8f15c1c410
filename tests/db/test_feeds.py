"""A feed looks once for all who follow it, keeps the latest, and ends with its followers."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
import pytest

from tests.waiting import HUNG_S, within
from tillhouse.app import App
from tillhouse.db.feeds import KEPT_MAX, LOOK_MAX, Feed, Feeds
from tillhouse.db.pool import Pool
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import new_id

BOOK_ID = new_id()


class Number(msgspec.Struct, frozen=True):
    """One piece of news."""

    value: int
    size: int = 1


class Numbers:
    """Numbers to come, as many at each look as asked for; and errors, where any are due."""

    def __init__(self) -> None:
        self.left: list[int] = []
        self.errors: list[Exception] = []
        self.looks = 0

    def open(self, _pool: Pool, _book_id: UUID) -> "Numbers":
        """The source of a feed."""
        return self

    async def more(self, limit: int) -> Sequence[Number]:
        """The next."""
        self.looks += 1
        if self.errors:
            raise self.errors.pop(0)
        found, self.left = self.left[:limit], self.left[limit:]
        return [Number(value) for value in found]


async def read(feed: Feed[Number], place: int, count: int) -> list[int]:
    """So many after a place."""
    async with within():
        while feed.end is None or feed.end < place + count:
            await feed.wait(feed.end, HUNG_S)
    found = feed.after(place)
    assert found is not None
    return [one.value for one in found]


async def test_followers_share_a_feed_and_the_last_takes_it_along(app: App) -> None:
    """It keeps the latest for those who take it later; a place before these is known no more."""
    pool, numbers = app.services.pool, Numbers()
    feeds = Feeds(pool)
    with feeds.following(numbers.open, BOOK_ID) as feed:
        async with within():
            await feed.opened(HUNG_S)
        assert feed.end == 0
        with feeds.following(numbers.open, BOOK_ID) as same:
            assert same is feed
            with feeds.following(numbers.open, new_id()) as another:
                assert another is not feed
        # More than one look finds: the next ones follow at once.
        count = KEPT_MAX + LOOK_MAX
        numbers.left = list(range(count))
        pool.notifier.notify_followers([BOOK_ID])
        await read(feed, LOOK_MAX, KEPT_MAX)
        assert feed.after(0) is None
        assert feed.after(None) is None
        assert await read(feed, LOOK_MAX, KEPT_MAX) == list(range(LOOK_MAX, count))
        assert feed.after(count) == []
    with feeds.following(numbers.open, BOOK_ID) as anew:
        assert anew is not feed
        assert anew.end is None


async def test_a_feed_outlives_a_database_that_is_away(app: App) -> None:
    """It looks again; what it did not see is found then."""
    pool, numbers = app.services.pool, Numbers()
    with Feeds(pool).following(numbers.open, BOOK_ID) as feed:
        await read(feed, 0, 0)
        numbers.errors = [Unavailable(retry_after_s=1), OSError(), TimeoutError()]
        numbers.left = [1, 2]
        pool.notifier.notify_followers([BOOK_ID])
        assert await read(feed, 0, 2) == [1, 2]
        assert not numbers.errors


async def test_an_unforeseen_error_ends_those_who_follow_and_nobody_after_them(app: App) -> None:
    """The next gets a feed that works, while one of them has not left yet."""
    pool, numbers = app.services.pool, Numbers()
    feeds = Feeds(pool)
    with feeds.following(numbers.open, BOOK_ID) as feed:
        await read(feed, 0, 0)
        numbers.errors = [ZeroDivisionError()]
        pool.notifier.notify_followers([BOOK_ID])
        with pytest.raises(ZeroDivisionError):
            await read(feed, 0, 1)
        with feeds.following(numbers.open, BOOK_ID) as anew:
            assert anew is not feed
            await read(anew, 0, 0)
            numbers.left = [7]
            pool.notifier.notify_followers([BOOK_ID])
            assert await read(anew, 0, 1) == [7]
