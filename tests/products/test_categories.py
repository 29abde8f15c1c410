"""Categories: in the business's order, each name once, none deleted under its products."""

import asyncio

import asyncpg
import pytest

from tests.make import Business
from tests.products.catalog import CATEGORIES, PRODUCTS, Catalog


@pytest.fixture
async def catalog(business: Business, sql: asyncpg.Connection) -> Catalog:
    """The catalog of this test's business."""
    return await Catalog.open(business, sql)


async def test_categories_stand_in_their_order(catalog: Catalog) -> None:
    """By position, then by name; a change moves them."""
    drinks = await catalog.category("drinks", position=1)
    await catalog.category("Mains", position=1)
    await catalog.category("Starters")
    assert await _names(catalog) == ["Starters", "drinks", "Mains"]
    path = f"{CATEGORIES}/{drinks['id']}"
    changed = (await catalog.api.patch(path, {"position": 0}, status=200)).data
    assert (changed["name"], changed["position"]) == ("drinks", 0)
    assert await _names(catalog) == ["drinks", "Starters", "Mains"]
    assert (await catalog.api.patch(path, {"position": 0}, status=200)).data == changed


async def test_a_name_is_taken_once_whatever_the_case(catalog: Catalog) -> None:
    """Of many at once one is made; a deleted one frees its name."""
    bodies = [{"name": name} for name in ("Mains", "MAINS", "mains") * 3]
    answers = await asyncio.gather(*(catalog.api.post(CATEGORIES, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 8
    made = next(answer.data for answer in answers if answer.status == 201)
    await catalog.api.delete(f"{CATEGORIES}/{made['id']}", status=200)
    await catalog.category("Mains")


async def test_a_category_with_products_stays(catalog: Catalog) -> None:
    """Until they have another, or are gone themselves."""
    mains = (await catalog.category())["id"]
    path = f"{CATEGORIES}/{mains}"
    first = await catalog.product(category_id=mains)
    second = await catalog.product("Pasta", category_id=mains)
    answer = await catalog.api.delete(path, status=409)
    assert "Jollof rice" in answer.json["message"]
    await catalog.change(first["id"], category_id=None)
    await catalog.api.delete(f"{PRODUCTS}/{second['id']}", status=200)
    await catalog.api.delete(path, status=200)
    await catalog.api.get(path, status=404)
    assert await catalog.refused(category_id=mains) == {"category_id"}


async def test_no_product_ends_up_in_a_deleted_category(catalog: Catalog) -> None:
    """Products come while their category goes: it goes without them, or it stays."""
    for _ in range(5):
        mains = (await catalog.category())["id"]
        body = {"name": "Rice", "base_price": 1, "category_id": mains}
        gone, *made = await asyncio.gather(
            catalog.api.delete(f"{CATEGORIES}/{mains}"),
            *(catalog.api.post(PRODUCTS, body) for _ in range(4)),
        )
        inside = await catalog.names(f"category_id={mains}")
        assert len(inside) == sum(answer.status == 201 for answer in made)
        assert not (inside and gone.status == 200)
        if gone.status != 200:
            await catalog.api.patch(f"{CATEGORIES}/{mains}", {"name": f"Old {mains}"}, status=200)


async def _names(catalog: Catalog) -> list[str]:
    return [one["name"] for one in (await catalog.api.get(CATEGORIES, status=200)).data]
