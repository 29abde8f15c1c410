"""The application as it is set up anywhere: here a password costs what it costs its guessers."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.conftest import SETTINGS, running
from tillhouse.app import App
from tillhouse.settings import from_env

_OWN = from_env({})


@pytest.fixture(scope="session")
async def app(database_url: str, master_key: str) -> AsyncIterator[App]:
    """The application, without a rate limit."""
    costs = {name: getattr(_OWN, name) for name in ("password_memory_kib", "password_passes")}
    settings = msgspec.structs.replace(SETTINGS, **costs)
    async with running(settings, database_url, master_key) as app:
        yield app
