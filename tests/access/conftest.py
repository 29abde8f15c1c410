"""Further applications on the same database: with proxies, with a rate limit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.conftest import settings_with
from tillhouse.app import App


@asynccontextmanager
async def started(database_url: str, master_key: str, **environ: str) -> AsyncIterator[App]:
    """An application with other settings."""
    app = App(settings_with(**environ), database_url, master_key)
    await app.start()
    try:
        yield app
    finally:
        await app.stop()


@pytest.fixture(scope="module")
async def proxied(database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application behind trusted proxies."""
    proxies = "10.0.0.0/8, 2001:db8:ff::/48, 127.0.0.1"
    async with started(database_url, master_key, TRUSTED_PROXIES=proxies) as app:
        yield app


@pytest.fixture(scope="module")
async def limited(database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application that lets twenty requests a second pass, thirty at once."""
    async with started(database_url, master_key, RATE_LIMIT="20", RATE_BURST="30") as app:
        yield app
