"""A till: a shop whose orders are paid and refunded through the API."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.make import Make
from tests.orders.payments.till import Till
from tillhouse.app import App


@pytest.fixture
async def till(app: App, make: Make, sql: asyncpg.Connection) -> AsyncIterator[Till]:
    """A till of this test's own business, whose books are proven at the end."""
    opened = await Till.open(make, sql)
    yield opened
    assert await opened.faults(app.services) == []
