"""A business and a client that may read and change its customers, and hear of it."""

import pytest

from tests.api import Api
from tests.make import Business, Make


@pytest.fixture
async def business(make: Make) -> Business:
    """A business whose national numbers are Nigerian."""
    return await make.business(country="NG", currency="NGN", time_zone="Africa/Lagos")


@pytest.fixture
async def client(business: Business) -> Api:
    """A key of the test book."""
    return await business.client("customers:read", "customers:write", "events:read")
