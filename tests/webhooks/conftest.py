"""Applications that send and one that does not, and receivers that they may send to."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.conftest import SETTINGS, settings_with
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop
from tests.webhooks.tls import Authority
from tillhouse.app import App
from tillhouse.settings import Settings


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The certificate authority of the receivers."""
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def sending_settings(authority: Authority) -> Settings:
    """Loopback may be sent to, and retries come soon."""
    return settings_with(
        WEBHOOK_ALLOW_TARGETS="127.0.0.1",
        WEBHOOK_CA_FILE=str(authority.ca_file),
        WEBHOOK_RETRY_BASE_S="0.02",
        WEBHOOK_RETRY_FACTOR="1",
    )


@pytest.fixture(scope="session")
async def sending_app(
    fresh_database_url: str, sending_settings: Settings, master_key: str
) -> AsyncIterator[App]:
    """An application on a database of its own, so that it sends this room's webhooks alone."""
    app = App(sending_settings, fresh_database_url, master_key, runs_workers=True)
    await app.start()
    yield app
    await app.stop()


@pytest.fixture(scope="session")
async def quiet_app(database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application that queues webhooks and sends none; no target is allowed beyond the rules."""
    app = App(SETTINGS, database_url, master_key)
    await app.start()
    yield app
    await app.stop()


@pytest.fixture(scope="session")
async def sending_sql(fresh_database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """The owner of the database whose webhooks are sent, for what no route does: ageing a row."""
    connection = await asyncpg.connect(fresh_database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def sender(sending_app: App) -> Shop:
    """A business whose webhooks are sent."""
    return await Shop.open(sending_app)


@pytest.fixture
async def quiet(quiet_app: App) -> Shop:
    """A business whose webhooks are queued."""
    return await Shop.open(quiet_app)


@pytest.fixture
async def receiver(authority: Authority) -> AsyncIterator[Receiver]:
    """A healthy receiver."""
    receiver = await Receiver().start(authority.server())
    yield receiver
    await receiver.stop()
