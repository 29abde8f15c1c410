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

# Longer than the guard of a wait: a follower that is not woken fails the test.
LONG_S = 600.0
QUIET_S = 0.25
LOOKS = 40
TOLD = 60
EVENTS = 9
BOOK_ID = new_id()
_FOLLOWED = """
    SELECT count(*) = 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tillhouse stream'
        AND query ILIKE 'LISTEN %tillhouse_news%' AND state = 'idle'
"""
_LISTENERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tillhouse stream'
"""


async def woken(follower: Follower) -> None:
    """Wait until it is."""
    async with within():
        await follower.wait(LONG_S)


async def is_woken(follower: Follower) -> bool:
    """Whether it is, before its time is over."""
    began = time.monotonic()
    await follower.wait(QUIET_S)
    return time.monotonic() - began < QUIET_S


async def left_alone(follower: Follower) -> None:
    """It waits for its time: nothing wakes it."""
    began = time.monotonic()
    await follower.wait(QUIET_S)
    assert time.monotonic() - began > QUIET_S / 2


async def test_a_notification_wakes_all_followers_and_is_left_to_a_worker() -> None:
    """A follower takes nothing away, and hears a notification that came while it looked."""
    notifier = Notifier()
    with notifier.following(BOOK_ID) as one, notifier.following() as other:
        notifier.notify_work([BOOK_ID])
        await woken(one)
        await woken(other)
        async with within():
            await notifier.wait(LONG_S)
        # A notification for the worker of this process alone wakes no follower.
        notifier.wake_here()
        await left_alone(one)


async def test_a_follower_hears_of_its_book_alone() -> None:
    """Events of others cost it no look."""
    notifier, other_id = Notifier(), new_id()
    with notifier.following(BOOK_ID) as own, notifier.following() as of_all:
        for notify in (notifier.notify_work, notifier.notify_followers):
            notify([other_id])
            await woken(of_all)
            await left_alone(own)
            notify([other_id, BOOK_ID])
            await woken(own)
            await woken(of_all)
        # Work without an event, a delivery that is sent again, is nothing to look for.
        notifier.notify_work()
        await left_alone(of_all)


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
            async with within():
                while await is_woken(follower):
                    pass
        await sql.execute(f"NOTIFY tillhouse_news, '{heard[0]}'")
        await woken(own)
        await (woken(other) if others else left_alone(other))


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
        async with within():
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
        async with within():
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
            await woken(follower)
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
            await woken(follower)


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
    followed, unfollowed = Notifier(), Notifier()
    told: list[str] = []
    told_to_nobody: list[str] = []
    is_heard = False

    async def connect(_name: str) -> asyncpg.Connection:
        raise OSError

    async def notify(channel: str, _books: str) -> bool:
        told.append(channel)
        if len(told) == 1:
            raise Unavailable(retry_after_s=1)
        return is_heard

    async def notify_nobody(channel: str, _books: str) -> bool:
        told_to_nobody.append(channel)
        return False

    followed.start(connect, notify, listens=False)
    unfollowed.start(connect, notify_nobody, listens=False)
    for heard, count, apart_s in ((False, 3, UNHEARD_S), (True, TOLD, GATHER_S)):
        is_heard = heard
        before, began = len(told), time.monotonic()
        told_to_nobody.clear()
        async with within():
            while len(told) < before + count:
                followed.notify_followers([BOOK_ID])
                unfollowed.notify_followers([BOOK_ID])
                await asyncio.sleep(0.002)
        # The first of them may have waited for its time before.
        assert time.monotonic() - began >= (count - 2) * apart_s
    # Of a time in which the one was told so often, the other hears a few times.
    assert len(told_to_nobody) < TOLD / 2
    await followed.stop()
    await unfollowed.stop()
    assert set(told) == {EVENTS_CHANNEL}
