"""Connections of one kind: how many there are, who gets which, and what becomes of them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from tests.system.killing_proxy import Proxy
from tests.waiting import HUNG_S, ended, within
from tillhouse.db.connecting import FAILURES, SESSION_SETTINGS
from tillhouse.db.connections import Connection, Connections

SIZE = 3


@pytest.fixture
async def connections(database_url: str) -> AsyncIterator[Connections]:
    """Three at most, of which one is open."""
    opened = await Connections.open(database_url, SIZE, {})
    yield opened
    async with within():
        await opened.close()
    assert (opened.lent, opened.count) == (0, 0)


async def back(connections: Connections, *lent: Connection) -> None:
    """Give them back."""
    for one in lent:
        await connections.give_back(one, HUNG_S)


async def pid(connection: Connection) -> int:
    """The number of its server process; it answers."""
    found: int | None = await connection.fetchval("SELECT pg_backend_pid()")
    assert found
    return found


async def turned_away(connections: Connections, count: int) -> list[asyncio.Task[Connection]]:
    """Callers who wait, in their order."""
    tasks: list[asyncio.Task[Connection]] = []
    for _ in range(count):
        tasks.append(asyncio.create_task(connections.take()))
        await asyncio.sleep(0)
    return tasks


async def test_there_are_never_more_than_its_size(connections: Connections) -> None:
    """However many ask at once; each has one by itself, and all of them are served."""
    held: set[int] = set()

    async def use() -> None:
        for _ in range(5):
            connection = await connections.take()
            assert id(connection) not in held
            held.add(id(connection))
            assert len(held) <= SIZE
            await pid(connection)
            held.remove(id(connection))
            await back(connections, connection)

    assert connections.count == 1
    async with within():
        await asyncio.gather(*(use() for _ in range(20)))
    assert (connections.lent, connections.count) == (0, SIZE)


async def test_those_who_wait_have_their_turns_in_order(connections: Connections) -> None:
    """A caller who asks later stands behind them, and one who left is passed over."""
    lent = [await connections.take() for _ in range(SIZE)]
    first, leaving, second = await turned_away(connections, 3)
    leaving.cancel()
    await asyncio.wait({leaving})
    await back(connections, lent[0])
    late = asyncio.create_task(connections.take())
    await back(connections, lent[1])
    assert (await ended(first), await ended(second)) == (lent[0], lent[1])
    assert not late.done()
    await back(connections, lent[2])
    assert await ended(late) is lent[2]
    await back(connections, *lent)


async def test_a_connection_that_comes_as_its_caller_leaves_goes_to_the_next(
    connections: Connections,
) -> None:
    """Or lies here; and so does the place of one that is closed."""
    lent = [await connections.take() for _ in range(SIZE)]
    leaving, staying = await turned_away(connections, 2)
    await back(connections, lent[0])
    leaving.cancel()
    assert await ended(staying) is lent[0]
    [leaving, staying] = await turned_away(connections, 2)
    leaving.cancel()
    await back(connections, lent[0])
    assert await ended(staying) is lent[0]
    with pytest.raises(asyncio.CancelledError):
        await leaving
    [leaving, staying] = await turned_away(connections, 2)
    lent[1].terminate()
    await back(connections, lent[1])
    leaving.cancel()
    renewed = await ended(staying)
    assert await pid(renewed)
    [leaving] = await turned_away(connections, 1)
    await back(connections, renewed)
    leaving.cancel()
    await asyncio.wait({leaving})
    assert connections.lent == SIZE - 1
    await back(connections, lent[0], lent[2])


async def test_a_connection_that_died_is_replaced(
    connections: Connections, database_url: str
) -> None:
    """Whether it lay here or was lent; a caller who waits for a place opens another."""
    other = await asyncpg.connect(database_url)
    [one, two, three] = [await connections.take() for _ in range(SIZE)]
    died = [await pid(one), await pid(two)]
    await back(connections, two)
    [waiting] = await turned_away(connections, 1)
    assert await ended(waiting) is two
    await back(connections, two)
    for number in died:
        await other.execute("SELECT pg_terminate_backend($1, 60000)", number)
    for dead in (one, two):
        with pytest.raises(FAILURES):
            await dead.fetchval("SELECT 1")
    await back(connections, one)
    again = [await connections.take(), await connections.take()]
    assert not {await pid(one) for one in again} & set(died)
    await back(connections, three, *again)
    await other.close()


async def test_the_last_that_came_back_is_lent_first(connections: Connections) -> None:
    """Those that aren't needed lie still, and grow old."""
    one, two = await connections.take(), await connections.take()
    await back(connections, one, two)
    for _ in range(3):
        again = await connections.take()
        assert again is two
        await back(connections, again)


async def test_a_place_whose_connection_fails_is_the_next_caller_s(database_url: str) -> None:
    """Nobody waits for a connection that was never made."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), database_url) as proxy:
            connections = await Connections.open(proxy.url, 1, {})
            one = await connections.take()
            waiting = await turned_away(connections, 3)
        # The server is gone, and the connection with it: each opens one, and hears that it can't.
        one.terminate()
        await back(connections, one)
        async with within():
            ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(end, FAILURES) for end in ends), ends
        async with Proxy(Path(folder), database_url):
            again = await connections.take()
            assert await pid(again)
            await back(connections, again)
            await connections.close()


async def test_a_worn_connection_is_replaced(database_url: str) -> None:
    """Its server process keeps what it once read."""
    connections = Connections(database_url, 1, SESSION_SETTINGS, statements_max=5)
    one = await connections.take()
    await back(connections, one)
    again = await connections.take()
    assert again is one
    number = await pid(one)
    while one.statements < 5:
        await pid(one)
    [waiting] = await turned_away(connections, 1)
    await back(connections, one)
    assert one.is_closed()
    another = await ended(waiting)
    assert await pid(another) != number
    await back(connections, another)
    await connections.close()


async def test_all_but_one_are_closed_that_nobody_takes(database_url: str) -> None:
    """The one that was used last stays, however long nobody asks."""
    connections = Connections(database_url, SIZE, SESSION_SETTINGS, idle_s=0.01)
    lent = [await connections.take() for _ in range(SIZE)]
    await back(connections, *lent)
    other = await asyncpg.connect(database_url)
    async with within():
        while connections.count > 1:
            await other.fetchval("SELECT 1")
    await other.close()
    again = await connections.take()
    assert again is lent[-1]
    assert await pid(again)
    await back(connections, again)
    await connections.close()


async def test_closing_waits_for_those_that_are_lent(database_url: str) -> None:
    """A caller who waited before is served; one who comes later is refused."""
    connections = await Connections.open(database_url, 1, {})
    one = await connections.take()
    [waiting] = await turned_away(connections, 1)
    closing = asyncio.create_task(connections.close())
    await asyncio.sleep(0)
    with pytest.raises(asyncpg.InterfaceError, match="being closed"):
        await connections.take()
    await back(connections, one)
    assert await ended(waiting) is one
    assert await pid(one)
    assert not closing.done()
    await back(connections, one)
    await ended(closing)
    assert one.is_closed()


async def test_closing_waits_for_none_that_died(connections: Connections) -> None:
    """Neither for one that lay here nor for one that is given back."""
    one, two = await connections.take(), await connections.take()
    await back(connections, two)
    one.terminate()
    two.terminate()
    closing = asyncio.create_task(connections.close())
    await asyncio.sleep(0)
    await back(connections, one)
    await ended(closing)


async def test_nobody_opens_one_once_they_are_broken_off(database_url: str) -> None:
    """Callers who wait hear so, one after the other."""
    connections = await Connections.open(database_url, 1, {})
    one = await connections.take()
    waiting = await turned_away(connections, 3)
    connections.terminate()
    with pytest.raises(FAILURES):
        await one.fetchval("SELECT 1")
    await back(connections, one)
    async with within():
        ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(end, asyncpg.InterfaceError) for end in ends), ends
    assert (connections.lent, connections.count) == (0, 0)
