"""The hotel of a test."""

import pytest

from tests.hotel.house import House
from tests.make import Business


@pytest.fixture
async def house(business: Business) -> House:
    """Two rooms of one type, 101 and 102."""
    return await House.open(business, rooms=2)
