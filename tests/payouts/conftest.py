"""A business whose wallet is looked at."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.make import Business, Make
from tests.payouts.treasury import Treasury
from tests.payouts.wallets import CURRENCY
from tillhouse.access.process import Services


@pytest.fixture
async def business(make: Make) -> Business:
    """A business of this test's own, in the currency of these tests."""
    return await make.business(currency=CURRENCY)


@pytest.fixture
def open_treasury(
    services: Services, business: Business, sql: asyncpg.Connection
) -> Callable[..., Awaitable[Treasury]]:
    """Opens the treasury of the business, with a policy of its own."""

    async def open_one(**policy: Any) -> Treasury:
        return await Treasury.open(services, business, sql, **policy)

    return open_one


@pytest.fixture
async def treasury(open_treasury: Callable[..., Awaitable[Treasury]]) -> Treasury:
    """A treasury with an ordinary policy, and 1,000 in its wallet."""
    one = await open_treasury()
    await one.fill(1000)
    return one
