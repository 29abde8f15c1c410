"""The notifier and its followers: each gets every notification, and none is busy without end."""

import asyncio
import time

import asyncpg
import pytest

from tests.waiting import within
from tests.webhooks.shop import Shop, until
from tillhouse.app import App
from tillhouse.db.notifier import (
    ANY_BOOK,
    APART_S,
    CHANNEL,
    EVENTS_CHANNEL,
    GATHER_S,
    LOOKS_AT_ONCE,
    LOOKS_PER_S,
    NAMED_BOOKS_MAX,
    UNHEARD_S,
    Follower,
    Notifier,
)
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.ids import new_id

LONG_S = 600.0
QUIET_S = 0.25
# A follower that is not woken would wait for `LONG_S`; a slow machine needs none of it.
SOON_S = 60.0
LOOKS = 40
# Told one by one as nobody hears them, so many would take longer than `SOON_S`.
TOLD = 300
EVENTS = 9
BOOK_ID = new_id()
_FOLLOWED = """
    SELECT count(*) = 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tillhouse stream'
        AND query ILIKE 'LISTEN %'
"""
_LISTENERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tillhouse stream'
"""


async def took_s(follower: Follower) -> float:
    """How long it waits; a follower that is not woken fails the test."""
    began = time.monotonic()
    async with within(UNHEARD_S + SOON_S):
        await follower.wait(LONG_S)
    return time.monotonic() - began


async def is_woken(follower: Follower) -> bool:
    """Whether it is woken soon."""
    began = time.monotonic()
    await follower.wait(QUIET_S)
    return time.monotonic() - began < QUIET_S


async def test_a_notification_wakes_all_followers_and_is_left_to_a_worker() -> None:
    """A follower takes nothing away, and hears a notification that came while it looked."""
    notifier = Notifier()
    with notifier.following(BOOK_ID) as one, notifier.following() as other:
        notifier.notify_work([BOOK_ID])
        assert await took_s(one) < SOON_S
        assert await took_s(other) < SOON_S
        async with within(SOON_S):
            await notifier.wait(LONG_S)
        # A notification for the worker of this process alone wakes no follower.
        notifier.wake_here()
        began = time.monotonic()
        await one.wait(0.1)
        assert time.monotonic() - began > 0.05


async def test_a_follower_hears_of_its_book_alone() -> None:
    """Events of others cost it no look."""
    notifier, other_id = Notifier(), new_id()
    with notifier.following(BOOK_ID) as own, notifier.following() as of_all:
        for notify in (notifier.notify_work, notifier.notify_followers):
            notify([other_id])
            assert await took_s(of_all) < SOON_S
            began = time.monotonic()
            await own.wait(0.1)
            assert time.monotonic() - began > 0.05
            notify([other_id, BOOK_ID])
            assert await took_s(own) < SOON_S
            assert await took_s(of_all) < SOON_S
        # Work without an event, a delivery that is sent again, is nothing to look for.
        notifier.notify_work()
        began = time.monotonic()
        await of_all.wait(0.1)
        assert time.monotonic() - began > 0.05


@pytest.mark.parametrize("others", [0, NAMED_BOOKS_MAX])
async def test_another_process_hears_in_which_books_something_happened(
    app: App, sql: asyncpg.Connection, others: int
) -> None:
    """One notification names them; with too many to name it wakes all who follow."""
    heard: list[str] = []
    await until(lambda: _is_nobody_there(sql))
    await sql.add_listener(CHANNEL, lambda *told: heard.append(told[-1]))
    notifier, stranger = app.services.pool.notifier, new_id()
    notifier.notify_work([BOOK_ID, *(new_id() for _ in range(others))])

    async def is_heard() -> bool | None:
        return bool(heard) or None

    await until(is_heard)
    await sql.reset()
    assert heard == [ANY_BOOK if others else BOOK_ID.hex]
    with notifier.following(BOOK_ID) as own, notifier.following(stranger) as other:
        await until(lambda: _is_followed(sql))
        # All are woken once the connection listens, on each of its channels.
        for follower in (own, other):
            async with within(SOON_S):
                while await is_woken(follower):
                    pass
        await sql.execute(f"NOTIFY tillhouse_news, '{heard[0]}'")
        assert await took_s(own) < SOON_S
        assert await is_woken(other) == bool(others)


async def test_a_follower_of_a_busy_process_looks_now_and_then() -> None:
    """The more there are, the less often each: their number per second is bounded."""
    notifier = Notifier()
    looks, wanted = 0, 0

    async def look() -> None:
        nonlocal looks
        with notifier.following() as follower:
            while looks < wanted:
                await follower.wait(LONG_S)
                looks += 1

    for count, per_s in ((1, 1 / APART_S), (100, LOOKS_PER_S)):
        looks, wanted = 0, count + LOOKS
        began = time.monotonic()
        following = asyncio.gather(*(look() for _ in range(count)))
        async with within(SOON_S):
            while not following.done():
                notifier.notify_work([BOOK_ID])
                await asyncio.sleep(0.001)
        # Each begins with one at once, and may end with one more.
        assert looks <= (time.monotonic() - began) * per_s + 2 * count


async def test_few_look_at_once() -> None:
    """The others wait for their turn, and go without when it does not come soon."""
    notifier = Notifier()
    turns = [notifier.look() for _ in range(LOOKS_AT_ONCE)]
    for turn in turns:
        await turn.__aenter__()
    with pytest.raises(TimeoutError):
        async with notifier.look():
            raise AssertionError("it is not its turn")
    for turn in turns:
        await turn.__aexit__(None, None, None)
    async with notifier.look():
        pass


async def test_a_process_without_followers_holds_no_connection_for_them(
    app: App, sql: asyncpg.Connection
) -> None:
    """However fast they come and go, one listens while there are some, and none afterwards."""
    notifier = app.services.pool.notifier

    async def until(count: int) -> None:
        async with within(SOON_S):
            while await sql.fetchval(_LISTENERS) != count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    # Those of other tests may be about to leave.
    await until(0)
    for _ in range(20):
        with notifier.following():
            await asyncio.sleep(0)
    with notifier.following():
        for _ in range(20):
            with notifier.following():
                await asyncio.sleep(0)
        await until(1)
        with notifier.following() as follower:
            await follower.wait(0.1)
            await sql.execute("NOTIFY tillhouse_work, '*'")
            assert await took_s(follower) < SOON_S
    await until(0)


async def test_what_nobody_subscribes_to_is_heard_in_another_process(
    app: App, quiet: Shop, sql: asyncpg.Connection
) -> None:
    """After its commit, without waiting for a look."""
    with app.services.pool.notifier.following() as follower:
        await until(lambda: _is_followed(sql))
        await follower.wait(0)
        for _ in range(EVENTS):
            await quiet.emit("order.cancelled")
            assert await took_s(follower) < UNHEARD_S + SOON_S


async def test_without_a_follower_nothing_is_notified(
    app: App, quiet: Shop, sql: asyncpg.Connection
) -> None:
    """Events that nobody subscribes to wake no worker, and no channel hears of them."""
    await until(lambda: _is_nobody_there(sql))
    heard: list[str] = []
    for channel in (CHANNEL, EVENTS_CHANNEL):
        await sql.add_listener(channel, lambda *told: heard.append(told[2]))
    for _ in range(EVENTS):
        await quiet.emit("order.cancelled")
    # Any event sent before a notification would have been heard before it.
    await asyncio.sleep(UNHEARD_S + 5 * GATHER_S)
    quiet.services.pool.notifier.notify_work()

    async def is_heard() -> bool | None:
        return bool(heard) or None

    await until(is_heard)
    assert heard == [CHANNEL]
    with app.services.pool.notifier.following():
        await until(lambda: _is_followed(sql))
        await quiet.emit("order.cancelled")

        async def is_told() -> bool | None:
            return EVENTS_CHANNEL in heard or None

        await until(is_told)
    await sql.reset()


async def _is_followed(sql: asyncpg.Connection) -> bool | None:
    return await sql.fetchval(_FOLLOWED) or None


async def _is_nobody_there(sql: asyncpg.Connection) -> bool | None:
    """Whether nobody follows any more, of those who did in other tests."""
    return await sql.fetchval(_LISTENERS) == 0 or None


async def test_events_are_notified_rarely_while_nobody_follows() -> None:
    """And close together once somebody does; a database that is busy for a while ends neither."""
    notifier = Notifier()
    told: list[str] = []
    is_heard = False

    async def connect(_name: str) -> asyncpg.Connection:
        raise OSError

    async def notify(channel: str, _books: str) -> bool:
        told.append(channel)
        if len(told) == 1:
            raise Unavailable(retry_after_s=1)
        return is_heard

    notifier.start(connect, notify, listens=False)
    for heard, count, apart_s in ((False, 3, UNHEARD_S), (True, TOLD, GATHER_S)):
        is_heard = heard
        before, began = len(told), time.monotonic()
        async with within(SOON_S):
            while len(told) < before + count:
                notifier.notify_followers([BOOK_ID])
                await asyncio.sleep(0.002)
        # The first of them may have waited for its time before.
        assert time.monotonic() - began >= (count - 2) * apart_s
    await notifier.stop()
    assert set(told) == {EVENTS_CHANNEL}
