"""Shops that ask for money by links."""

from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.checkout.till import Till
from tests.make import Make

Open = Callable[..., Awaitable[Till]]


@pytest.fixture
def open_till(make: Make, sql: asyncpg.Connection) -> Open:
    """Opens shops of a business."""

    async def open_one(environment: str = "test", **fields: Any) -> Till:
        return await Till.open(
            make, sql, environment, **{"currency": "NGN", "country": "NG", **fields}
        )

    return open_one
