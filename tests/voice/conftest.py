"""A business that calls."""

import pytest

from tests.make import Business
from tests.voice.desk import Desk


@pytest.fixture
async def desk(business: Business) -> Desk:
    """A desk of this test's own."""
    return await Desk.open(business)
