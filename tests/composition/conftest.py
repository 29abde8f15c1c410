"""The product with one room more."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.composition.toys import TABLE, TOYS
from tests.conftest import fresh_database, settings_with
from tests.waiting import ended
from tests.webhooks.tls import Authority
from tillhouse.app import App, compose


@pytest.fixture(scope="module")
async def toys_url(server_url: str) -> AsyncIterator[str]:
    """A database with the tables of toys."""
    async with fresh_database(server_url, "tillhouse_toys") as url:
        connection = await asyncpg.connect(url)
        await connection.execute(TABLE)
        await connection.close()
        yield url


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The one that vouches for the receiver."""
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
async def toy_app(toys_url: str, master_key: str, authority: Authority) -> AsyncIterator[App]:
    """The product with toys, in a process that works."""
    settings = settings_with(
        WEBHOOK_ALLOW_TARGETS="127.0.0.1", WEBHOOK_CA_FILE=str(authority.ca_file)
    )
    app = App(settings, toys_url, master_key, compose(TOYS), runs_workers=True)
    await app.start()
    yield app
    await ended(app.stop())
