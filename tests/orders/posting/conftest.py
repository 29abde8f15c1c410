"""A book with orders in it, for tests of what is posted and read."""

import asyncpg
import pytest

from tests.make import Business
from tests.orders.posting.shop import Shop
from tillhouse.access.process import Services


@pytest.fixture
async def shop(business: Business, services: Services, sql: asyncpg.Connection) -> Shop:
    """The test book of this test's business."""
    return await Shop.of(business, services, sql)
