"""Lists of products: order, filters, pages, and what they cost."""

import json
from uuid import UUID

import asyncpg
import pytest

from tests.explaining import pages_read, plan_of, scanned
from tests.make import Business, Make
from tests.products.catalog import PRODUCTS, Catalog
from tillhouse.access.process import Services
from tillhouse.kit.page import Page
from tillhouse.products.store.products import ProductQuery, count_products, list_products


@pytest.fixture
async def catalog(business: Business, sql: asyncpg.Connection) -> Catalog:
    """The catalog of this test's business."""
    return await Catalog.open(business, sql)


async def test_pages_cover_every_product_once(catalog: Catalog) -> None:
    """The newest first, and what is told about the whole is true."""
    for number in range(5):
        await catalog.product(f"Dish {number}")
    seen: list[str] = []
    for page in (1, 2, 3):
        answer = await catalog.api.get(f"{PRODUCTS}?page={page}&limit=2", status=200)
        seen += [product["name"] for product in answer.data]
        assert answer.json["meta"] == {
            "total": 5, "page": page, "perPage": 2, "totalPages": 3, "hasMore": page < 3,
        }  # fmt: skip
    assert seen == [f"Dish {number}" for number in (4, 3, 2, 1, 0)]
    await catalog.api.get(f"{PRODUCTS}?limit=101", status=422)


async def test_a_search_finds_beginnings_of_names_and_skus(catalog: Catalog) -> None:
    """In any case, also the sku of a variant; never the middle, and % is a character."""
    await catalog.product("Jollof rice", sku="RX-1")
    await catalog.product("jollof pasta")
    await catalog.product("100% juice", variants=[{"name": "S", "sku": "jol-77"}])
    assert await catalog.names("search=JOL") == ["100% juice", "jollof pasta", "Jollof rice"]
    assert await catalog.names("search=rx") == ["Jollof rice"]
    assert await catalog.names("search=ollof") == []
    assert await catalog.names("search=%25") == []
    assert await catalog.names("search=100%25") == ["100% juice"]
    assert await catalog.names("search=jol&type=variable") == ["100% juice"]
    gone = await catalog.product("Jollof special")
    await catalog.api.delete(f"{PRODUCTS}/{gone['id']}", status=200)
    assert len(await catalog.names("search=jol")) == 3


async def test_filters_narrow_together(catalog: Catalog) -> None:
    """Category, type and activity; a change moves a product to the end of what changed since."""
    mains = (await catalog.category())["id"]
    first = await catalog.product("A", category_id=mains)
    second = await catalog.product("B", category_id=mains, type="service")
    third = await catalog.product("C", type="service", is_active=False)
    assert await catalog.names(f"category_id={mains}") == ["B", "A"]
    assert await catalog.names(f"category_id={mains}&type=service") == ["B"]
    assert await catalog.names("is_active=false&type=service") == ["C"]
    assert await catalog.names(f"updated_since={second['updatedAt']}") == ["B", "C"]
    await catalog.change(first["id"], base_price=2)
    assert await catalog.names(f"updated_since={third['updatedAt']}") == ["C", "A"]
    answer = await catalog.api.get(f"{PRODUCTS}?type=x&updated_since=y&category_id=1", status=422)
    assert answer.wrong_fields == {"type", "updated_since", "category_id"}


async def test_others_see_nothing_of_it(catalog: Catalog, make: Make) -> None:
    """Neither another business nor the other environment; the same sku is free there."""
    await catalog.product(sku="J")
    live = await catalog.business.client("products:read", "products:write", environment="live")
    assert (await live.get(PRODUCTS, status=200)).data == []
    await live.post(PRODUCTS, {"name": "Rice", "base_price": 1, "sku": "J"}, status=201)
    other = await Catalog.open(await make.business(), catalog.sql)
    assert await other.names() == []
    await other.product(sku="J")


async def test_the_scopes_part_reading_and_writing(business: Business) -> None:
    """A key that reads can't write, and the other way round."""
    reader, writer = await business.client("products:read"), await business.client("products:write")
    await reader.post(PRODUCTS, {"name": "Rice", "base_price": 1}, status=403)
    await writer.post(PRODUCTS, {"name": "Rice", "base_price": 1}, status=201)
    await writer.get(PRODUCTS, status=403)


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (ProductQuery(), "products_"),
        (ProductQuery(type="bundle"), "products_by_type"),
        (ProductQuery(is_active=False), "products_by_activity"),
        (ProductQuery(search="dish 77"), "products_by_name"),
    ],
)
async def test_a_list_finds_its_page_by_an_index(
    catalog: Catalog, services: Services, sql: asyncpg.Connection, wanted: ProductQuery, index: str
) -> None:
    """Of 20,000 products the first page of each filter reads few rows, whatever the filter."""
    book_id = await _fill(catalog, sql, 20_000)
    async with services.pool.transaction() as db:
        for is_count, ask in (
            (True, lambda asked: count_products(asked, book_id, wanted)),
            (False, lambda asked: list_products(asked, book_id, wanted, Page())),
        ):
            plan = await plan_of(db, ask)
            if is_count and wanted == ProductQuery():
                # A count of nearly all of a table may well read all of it.
                continue
            assert "products" not in set(scanned(plan))
            assert index in json.dumps(plan)
            assert pages_read(plan) < 2_000, plan


async def _fill(catalog: Catalog, sql: asyncpg.Connection, count: int) -> UUID:
    book_id = await sql.fetchval(
        "SELECT id FROM books WHERE business_id::text = $1 AND environment = 'test'",
        catalog.business.id,
    )
    await sql.execute(
        """
        INSERT INTO products (book_id, id, name, type, base_price, created_at, updated_at)
        SELECT $1, gen_random_uuid(), 'Dish ' || n, 'simple', n, now(), now()
        FROM generate_series(1, $2) n
        """,
        book_id,
        count,
    )
    await sql.execute("VACUUM ANALYZE products")
    assert isinstance(book_id, UUID)
    return book_id
