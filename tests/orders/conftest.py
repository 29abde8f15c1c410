"""Shops: one for all tests of a file that don't disturb each other, and ones of one's own."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.make import Make
from tests.orders.shop import Shop
from tillhouse.app import App

Open = Callable[..., Awaitable[Shop]]


@pytest.fixture(scope="module")
async def shop(app: App, sql: asyncpg.Connection) -> Shop:
    """A shop of this file: what a test makes in it is its own."""
    return await Shop.open(Make(app, app.services), sql)


@pytest.fixture
def open_shop(make: Make, sql: asyncpg.Connection) -> Open:
    """Opens shops of other kinds, or for one test alone."""

    async def open_one(**fields: Any) -> Shop:
        return await Shop.open(make, sql, **fields)

    return open_one
