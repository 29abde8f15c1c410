"""Variants: added, changed, removed, one by one."""

import asyncio

import asyncpg
import pytest

from tests.make import Business
from tests.products.catalog import PRODUCTS, Catalog


@pytest.fixture
async def catalog(business: Business, sql: asyncpg.Connection) -> Catalog:
    """The catalog of this test's business."""
    return await Catalog.open(business, sql)


async def test_a_simple_product_that_gets_a_variant_keeps_its_own(catalog: Catalog) -> None:
    """The implicit variant becomes the first, with its id: stock and orders still find it."""
    made = await catalog.product(sku="J", tracks_stock=True)
    path = f"{PRODUCTS}/{made['id']}/variants"
    added = (await catalog.api.post(path, {"name": "Large", "price": 2000}, status=201)).data
    assert (added["productId"], added["position"], added["price"]) == (made["id"], 1, 2000)
    now = await catalog.read(made["id"])
    assert now["type"] == "variable"
    assert [(v["id"], v["name"], v["isImplicit"], v["tracksStock"]) for v in now["variants"]] == [
        (made["variants"][0]["id"], "Jollof rice", False, True),
        (added["id"], "Large", False, False),
    ]
    same = await catalog.api.post(path, {"name": "Large"}, status=422)
    assert same.wrong_fields == {"name"}


async def test_a_variant_changes_in_what_is_sent(catalog: Catalog) -> None:
    """Null clears, a list of prices replaces the list, and the product's change is told."""
    store_id = await catalog.store("Ikeja")
    made = await catalog.product(variants=[{"name": "S", "price": 5, "sku": "S1"}, {"name": "L"}])
    path = f"/v1/variants/{made['variants'][0]['id']}"
    prices = [{"store_id": store_id, "price": 7.25}]
    changed = (await catalog.api.patch(path, {"price": None, "prices": prices}, status=200)).data
    assert (changed["price"], changed["sku"], changed["name"]) == (None, "S1", "S")
    assert changed["prices"] == [{"storeId": store_id, "price": 7.25}]
    again = (await catalog.api.patch(path, {"price": None, "sku": "S1"}, status=200)).data
    assert again == changed
    assert [event for event, _ in await catalog.events()] == ["product.created", "product.updated"]
    assert (await catalog.read(made["id"]))["updatedAt"] == changed["updatedAt"]
    wrong = await catalog.api.patch(path, {"price": 0.001, "name": "L", "x": 1}, status=422)
    assert wrong.wrong_fields == {"price", "name", "x"}


async def test_what_is_the_products_is_changed_there(catalog: Catalog) -> None:
    """Name, sku and price of an implicit variant are those of its product."""
    made = await catalog.product()
    path = f"/v1/variants/{made['variants'][0]['id']}"
    body = {"name": "S", "sku": "S", "price": 1, "is_active": True}
    answer = await catalog.api.patch(path, body, status=422)
    assert answer.wrong_fields == {"name", "sku", "price"}
    changed = (await catalog.api.patch(path, {"tracks_stock": True}, status=200)).data
    assert changed["tracksStock"] is True


async def test_the_last_variant_stays(catalog: Catalog) -> None:
    """Of two deletions at once, one finds itself to be the last."""
    made = await catalog.product(variants=[{"name": "S"}, {"name": "L"}])
    paths = [f"/v1/variants/{variant['id']}" for variant in made["variants"]]
    answers = await asyncio.gather(*(catalog.api.delete(path) for path in paths))
    assert sorted(answer.status for answer in answers) == [200, 400]
    now = await catalog.read(made["id"])
    assert len(now["variants"]) == 1
    gone = next(path for path in paths if now["variants"][0]["id"] not in path)
    await catalog.api.patch(gone, {"name": "X"}, status=404)


async def test_a_variant_of_a_bundle_stays(catalog: Catalog) -> None:
    """Until the bundle does without it."""
    cola = await catalog.product("Cola", variants=[{"name": "S"}, {"name": "L"}])
    small = cola["variants"][0]["id"]
    part = {"product_id": cola["id"], "variant_id": small}
    lunch = await catalog.product("Lunch", components=[part])
    answer = await catalog.api.delete(f"/v1/variants/{small}", status=409)
    assert "Lunch" in answer.json["message"]
    await catalog.api.post(f"{PRODUCTS}/{lunch['id']}/variants", {"name": "XL"}, status=400)
    await catalog.api.delete(f"{PRODUCTS}/{lunch['id']}", status=200)
    await catalog.api.delete(f"/v1/variants/{small}", status=200)


async def test_a_product_has_a_hundred_variants_and_no_more(catalog: Catalog) -> None:
    """Also when many are added at once."""
    made = await catalog.product(variants=[{"name": str(n)} for n in range(97)])
    path = f"{PRODUCTS}/{made['id']}/variants"
    bodies = [{"name": f"more {n}"} for n in range(8)]
    answers = await asyncio.gather(*(catalog.api.post(path, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] * 3 + [409] * 5
    assert {a.error for a in answers if a.status == 409} == {"limit_reached"}
    assert len((await catalog.read(made["id"]))["variants"]) == 100


async def test_a_sku_has_one_owner(catalog: Catalog) -> None:
    """Among products and among variants; a deleted owner lets it go."""
    first = await catalog.product(sku="J")
    for body in (
        {"name": "Rice", "base_price": 1, "sku": "J"},
        {"name": "Rice", "base_price": 1, "variants": [{"name": "S", "sku": "J"}]},
    ):
        answer = await catalog.api.post(PRODUCTS, body, status=409)
        assert answer.error == "request_failed"
        assert answer.wrong_fields & {"sku", "variants[0].sku"}
    other = await catalog.product("Cola", variants=[{"name": "S", "sku": "C-S"}, {"name": "L"}])
    path = f"/v1/variants/{other['variants'][1]['id']}"
    await catalog.api.patch(path, {"sku": "C-S"}, status=409)
    await catalog.api.delete(f"{PRODUCTS}/{first['id']}", status=200)
    await catalog.api.patch(path, {"sku": "J"}, status=200)


@pytest.mark.parametrize("of_variants", [False, True])
async def test_of_many_with_one_sku_at_once_one_wins(
    catalog: Catalog, *, of_variants: bool
) -> None:
    """The others hear 409 and the sentence, and nothing of theirs is left."""
    more = {"variants": [{"name": "S", "sku": "J"}]} if of_variants else {"sku": "J"}
    bodies = [{"name": f"Rice {n}", "base_price": 1, **more} for n in range(12)]
    answers = await asyncio.gather(*(catalog.api.post(PRODUCTS, body) for body in bodies))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 11
    said = {answer.json["message"] for answer in answers if answer.status == 409}
    assert said == {"The sku is taken: each names one product or variant of this book."}
    assert len(await catalog.names()) == 1
    assert len(await catalog.events()) == 1


async def test_changes_at_once_are_all_kept(catalog: Catalog) -> None:
    """Each changes another field of the same product: none is lost."""
    made = await catalog.product()
    path = f"{PRODUCTS}/{made['id']}"
    fields = {"unit": "kg", "description": "Good", "is_active": False, "tax_rate": 5, "sku": "Q"}
    await asyncio.gather(*(catalog.api.patch(path, {n: v}, status=200) for n, v in fields.items()))
    now = await catalog.read(made["id"])
    assert (now["unit"], now["description"], now["isActive"]) == ("kg", "Good", False)
    assert (now["taxRate"], now["sku"]) == (5, "Q")
    assert len(await catalog.events()) == 6
