"""A business that calls, and a network of its own in which time is virtual."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Business, Make
from tests.voice.desk import Desk
from tests.voice.model_server import ModelServer
from tests.voice.virtual import Network, VirtualClock
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.kit.network import parse_networks


@pytest.fixture
async def desk(business: Business) -> Desk:
    """A desk of this test's own."""
    return await Desk.open(business)


@pytest.fixture(scope="session")
async def network_url(server_url: str) -> AsyncIterator[str]:
    """A database whose calls nobody else places: a dispatcher makes those of every book."""
    async with fresh_database(server_url, "tillhouse_voice") as url:
        yield url


@pytest.fixture(scope="session")
async def network_app(
    network_url: str, master_key: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[App]:
    """The application on it, with a folder for recordings."""
    settings = msgspec.structs.replace(
        SETTINGS,
        data=tmp_path_factory.mktemp("voice"),
        model_allow_targets=parse_networks(["127.0.0.1"]),
    )
    async with running(settings, network_url, master_key) as app:
        yield app


@pytest.fixture
async def caller(network_app: App) -> Desk:
    """A desk whose calls are made."""
    make = Make(network_app, network_app.services)
    return await Desk.open(await make.business(currency="NGN", country="NG"))


@pytest.fixture
def network(network_app: App) -> Network:
    """A dispatcher on a virtual clock that begins now."""
    return Network(network_app.services, VirtualClock(now()))


@pytest.fixture
def recordings(network_app: App) -> Path:
    """The folder of recordings."""
    return network_app.services.settings.data / "recordings"


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    """A server of language models."""
    server = await ModelServer().start()
    yield server
    await server.stop()
