"""The hotel of a test, whose books are proven at the end."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.folios.lodge import Lodge
from tests.make import Business


@pytest.fixture
async def lodge(business: Business, sql: asyncpg.Connection) -> AsyncIterator[Lodge]:
    """Two rooms at 100 a night."""
    opened = await Lodge.begin(business, sql)
    yield opened
    assert await opened.faults() == []
