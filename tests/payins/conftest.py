"""A business that collects by the sandbox."""

import asyncpg
import pytest

from tests.make import Make
from tests.payins.collecting import Collecting
from tillhouse.access.process import Services


@pytest.fixture
async def till(services: Services, sql: asyncpg.Connection, make: Make) -> Collecting:
    """Its test book."""
    return await Collecting.of(services, sql, await make.business(currency="NGN"))
