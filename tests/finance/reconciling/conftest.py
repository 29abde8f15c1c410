"""A business whose books drift."""

import asyncpg
import pytest

from tests.finance.reconciling.drifting import Drifting
from tests.make import Make
from tillhouse.app import App


@pytest.fixture
async def drifting(app: App, make: Make, sql: asyncpg.Connection) -> Drifting:
    """A business of this test's own."""
    return await Drifting.open(app.services, make, sql)
