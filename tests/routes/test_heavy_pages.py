"""The heaviest pages that there can be hold the loop for no longer than others."""

import asyncpg
import pytest

from tests.held_loop import HELD_S, held_s
from tests.make import Make
from tests.orders.shop import ORDERS, Shop, chosen, line
from tests.products.catalog import GROUPS, PRODUCTS
from tillhouse.app import App
from tillhouse.products.types import GROUPS_MAX, OPTIONS_MAX

pytestmark = pytest.mark.proof

MIB = 1024 * 1024
TICKETS = "/v1/kitchen/tickets"


@pytest.fixture(scope="module")
async def shop(app: App, sql: asyncpg.Connection) -> Shop:
    """A restaurant: its orders have tickets."""
    return await Shop.open(Make(app, app.services), sql, business_type="restaurant")


async def _check(shop: Shop, path: str, heaviest: int, least: float) -> None:
    """A page with as many rows as fit has at least so many MiB; one row more is refused."""
    answer = await shop.api.get(f"{path}?limit={heaviest}", status=200)
    assert least * MIB < len(answer.body) < 9 * MIB
    assert await held_s(lambda: shop.api.get(f"{path}?limit={heaviest}")) <= HELD_S
    assert (await shop.api.get(f"{path}?limit=100")).wrong_fields == {"limit"}


async def test_orders_and_tickets(shop: Shop) -> None:
    """Lines with all the modifiers that they may have."""
    group = await shop.group(options=[{"name": "€" * 120, "price_delta": 0}])
    product = await shop.product(modifier_group_ids=[group["id"]])
    heavy = line(product, modifiers=[chosen(group)] * 50)
    for _ in range(27):
        await shop.sell(*[heavy] * 18)
    await _check(shop, ORDERS, 16, 7)
    await _check(shop, TICKETS, 24, 7)


async def test_products(shop: Shop) -> None:
    """Products with all the options that they may have; their page had 100 MB before."""
    groups = [
        await shop.group(*range(OPTIONS_MAX), name=f"Extras {number}")
        for number in range(GROUPS_MAX)
    ]
    for number in range(10):
        ids = [group["id"] for group in groups]
        await shop.product(name=f"Dish {number}", modifier_group_ids=ids)
    await _check(shop, PRODUCTS, 7, 6)
    assert await held_s(lambda: shop.api.get(f"{GROUPS}?limit=100")) <= HELD_S
