"""The application as it is set up anywhere: there a password costs what it costs its guessers."""

from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.conftest import SETTINGS, running
from tests.make import Make
from tillhouse.app import App
from tillhouse.settings import from_env

_OWN = from_env({})


@pytest.fixture(scope="session")
async def guarded(database_url: str, master_key: str) -> AsyncIterator[App]:
    """The application, without a rate limit, with passwords at their full price."""
    costs = {name: getattr(_OWN, name) for name in ("password_memory_kib", "password_passes")}
    settings = msgspec.structs.replace(SETTINGS, **costs)
    async with running(settings, database_url, master_key) as app:
        yield app


@pytest.fixture
def make_guarded(guarded: App) -> Make:
    """Makes businesses there: for tests of how long a check takes, or of what happens meanwhile."""
    return Make(guarded, guarded.services)
