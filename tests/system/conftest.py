"""Two servers on one database, for the session; each test makes its own businesses."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import aiohttp
import asyncpg
import pytest

from tests.make import Business
from tests.system.client import Client, register
from tests.system.serving import Serving
from tests.waiting import HUNG_S

Start = Callable[..., Awaitable[Serving]]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Real processes take long: `make proof` runs them."""
    item.add_marker(pytest.mark.proof)


@pytest.fixture(scope="session", autouse=True)
def _heeding() -> Iterator[None]:
    """Processes start as from a terminal; of a run in the background they would ignore Ctrl-C."""
    heeded = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in heeded.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts servers that end with the test."""
    started: list[Serving] = []

    async def start(*args: str, **settings: str) -> Serving:
        serving = Serving.start(*args, **settings)
        started.append(serving)
        return await serving.wait()

    yield start
    for serving in started:
        serving.kill()


@pytest.fixture(scope="session")
async def pair(database_url: str, master_key: str) -> AsyncIterator[tuple[Serving, Serving]]:
    """Two processes on one database, without a rate limit."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key, "LOG_LEVEL": "warning"}
    # Other tests of this database want to see their deliveries unsent.
    a, b = await asyncio.gather(
        Serving.up("--no-work", **settings), Serving.up("--no-work", **settings)
    )
    yield a, b
    codes = await asyncio.gather(a.stop(), b.stop())
    logs = a.log + b.log
    a.kill()
    b.kill()
    assert codes == [0, 0], logs


@pytest.fixture(scope="session")
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """Connections of the tests."""
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=HUNG_S)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        yield session


@pytest.fixture
def here(session: aiohttp.ClientSession, pair: tuple[Serving, Serving]) -> Client:
    """Nobody in particular, at the first process."""
    return Client(session, pair[0].address)


@pytest.fixture
def there(pair: tuple[Serving, Serving]) -> str:
    """The address of the second process."""
    return pair[1].address


@pytest.fixture
async def owned(here: Client) -> Business:
    """A business of this test's own."""
    return await register(here)


@pytest.fixture
async def sql(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A look into the database."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()
