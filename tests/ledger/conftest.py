"""A book with orders in it, for tests of what is posted and read."""

import asyncpg
import pytest
from hypothesis import HealthCheck, settings

from tests.ledger.shop import Shop
from tests.make import Business
from tillhouse.access.house import House

settings.register_profile("ledger", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ledger")


@pytest.fixture
async def shop(business: Business, house: House, sql: asyncpg.Connection) -> Shop:
    """The test book of this test's business."""
    return await Shop.of(business, house, sql)
