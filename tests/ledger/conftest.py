"""A book of its own for each test of the ledger."""

import asyncpg
import pytest

from tests.ledger.books import Books
from tests.make import Business
from tillhouse.access.process import Services


@pytest.fixture
async def books(business: Business, services: Services, sql: asyncpg.Connection) -> Books:
    """The test book of this test's business."""
    return await Books.of(business, services, sql)
