"""A till that gives money back through a provider."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.make import Make
from tests.orders.returning.bank import ReturningProvider
from tests.orders.returning.giving import Giving
from tillhouse.app import App


@pytest.fixture
async def till(app: App, make: Make, sql: asyncpg.Connection) -> AsyncIterator[Giving]:
    """A till of this test's own business, whose books are proven at the end."""
    opened = await Giving.open(make, sql)
    opened.services = app.services
    opened.bank = ReturningProvider(opened.book)
    await opened.fill()
    yield opened
    assert await opened.faults(app.services) == []
