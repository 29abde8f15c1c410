"""The world that walks are taken in."""

from collections.abc import AsyncIterator

import pytest

from tests.money.world import World, standing


@pytest.fixture(scope="module")
async def world(server_url: str) -> AsyncIterator[World]:
    """One for all walks; each has a business of its own."""
    async with standing(server_url) as made:
        yield made
