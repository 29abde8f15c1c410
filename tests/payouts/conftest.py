"""A business whose wallet is looked at."""

import pytest

from tests.make import Business, Make
from tests.payouts.wallets import CURRENCY


@pytest.fixture
async def business(make: Make) -> Business:
    """A business of this test's own, in the currency of these tests."""
    return await make.business(currency=CURRENCY)
