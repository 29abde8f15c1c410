"""Shops whose money is looked at."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.finance.books import Books
from tests.make import Make

Open = Callable[..., Awaitable[Books]]


@pytest.fixture
def open_books(make: Make, sql: asyncpg.Connection) -> Open:
    """Opens shops of a business of the given time zone and currency."""

    async def open_one(**fields: Any) -> Books:
        return await Books.open(make, sql, **fields)

    return open_one
