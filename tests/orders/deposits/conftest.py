"""A till whose test book collects by the sandbox."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.make import Make
from tests.orders.deposits.depositing import Depositing
from tillhouse.app import App


@pytest.fixture
async def till(app: App, make: Make, sql: asyncpg.Connection) -> AsyncIterator[Depositing]:
    """A till of this test's own business, whose books are proven at the end."""
    opened = await Depositing.open(make, sql)
    opened.services = app.services
    yield opened
    assert await opened.faults(app.services) == []
