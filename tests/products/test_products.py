"""Products: what they show, what they refuse, what they tell."""

from uuid import uuid4

import asyncpg
import pytest

from tests.make import Business, Make
from tests.products.catalog import PRODUCTS, Catalog
from tillhouse.access.process import Services


@pytest.fixture
async def catalog(business: Business, sql: asyncpg.Connection) -> Catalog:
    """The catalog of this test's business."""
    return await Catalog.open(business, sql)


async def test_a_product_without_variants_has_one_that_stands_for_it(catalog: Catalog) -> None:
    """It bears the sku and the stock settings, and is as nameless as it is implicit."""
    store_id = await catalog.store("Ikeja")
    made = await catalog.product(
        sku="JOL", unit="plate", description=" Smoky \n", tax_rate=7.5, tracks_stock=True,
        stock_policy="allow", low_stock_threshold=2.5, image_url="https://cdn.example.com/j.jpg",
        prices=[{"store_id": store_id, "price": 1600.25}],
    )  # fmt: skip
    [variant] = made["variants"]
    assert variant == {
        "id": variant["id"], "name": "", "sku": "JOL", "price": None, "imageUrl": None,
        "isActive": True, "isImplicit": True, "tracksStock": True, "stockPolicy": "allow",
        "lowStockThreshold": 2.5, "position": 0,
        "prices": [{"storeId": store_id, "price": 1600.25}],
    }  # fmt: skip
    assert made == {
        "id": made["id"], "name": "Jollof rice", "type": "simple", "description": "Smoky",
        "categoryId": None, "unit": "plate", "sku": "JOL", "basePrice": 1500, "currency": "USD",
        "taxRate": 7.5, "imageUrl": "https://cdn.example.com/j.jpg", "isActive": True,
        "isExtraOnly": False, "variants": [variant], "modifierGroups": [], "components": [],
        "createdAt": made["createdAt"], "updatedAt": made["createdAt"],
    }  # fmt: skip
    assert await catalog.read(made["id"]) == made
    assert (await catalog.api.get(PRODUCTS, status=200)).data == [made]


async def test_everything_of_a_product_is_made_at_once(
    catalog: Catalog, services: Services
) -> None:
    """Variants, modifiers and category in one request of few statements."""
    category = await catalog.category()
    egg, drinks = await catalog.group(), await catalog.group(name="Drinks")
    large = {"name": "L", "price": 2000.5, "is_active": False}
    spent: list[int] = []
    for sku in ("J-1", "J-2", "J-S"):
        before = services.pool.statements
        made = await catalog.product(
            category_id=category["id"],
            modifier_group_ids=[drinks["id"], egg["id"]],
            variants=[{"name": "S", "sku": sku}, large],
        )
        spent.append(services.pool.statements - before - 1)
    # The process's own chores add statements, and nothing takes any away.
    assert min(spent) <= 7
    assert made["type"] == "variable"
    assert [group["id"] for group in made["modifierGroups"]] == [drinks["id"], egg["id"]]
    told = [(v["name"], v["sku"], v["price"], v["position"]) for v in made["variants"]]
    assert told == [("S", "J-S", None, 0), ("L", None, 2000.5, 1)]
    assert made["variants"][1]["isActive"] is False
    assert await catalog.read(made["id"]) == made


async def test_a_bundle_shows_what_it_contains(catalog: Catalog) -> None:
    """By variant, in the order given, named as people would; one variant needs no naming."""
    rice = await catalog.product()
    cola = await catalog.product("Cola", variants=[{"name": "33 cl"}, {"name": "50 cl"}])
    large = cola["variants"][1]["id"]
    parts = [
        {"product_id": cola["id"], "variant_id": large, "quantity": 2},
        {"product_id": rice["id"]},
    ]
    made = await catalog.product("Lunch", components=parts)
    assert made["type"] == "bundle"
    assert made["components"] == [
        {"productId": cola["id"], "variantId": large, "name": "Cola 50 cl", "quantity": 2},
        {"productId": rice["id"], "variantId": rice["variants"][0]["id"], "name": "Jollof rice",
         "quantity": 1},
    ]  # fmt: skip
    turned = await catalog.change(made["id"], components=[parts[1]])
    assert [part["name"] for part in turned["components"]] == ["Jollof rice"]


async def test_no_bundle_is_in_a_bundle(catalog: Catalog) -> None:
    """Neither a bundle inside another, nor itself, nor one that became a bundle later."""
    rice = await catalog.product()
    part = {"product_id": rice["id"]}
    lunch = await catalog.product("Lunch", components=[part])
    nested = await catalog.refused(components=[{"product_id": lunch["id"]}])
    assert nested == {"components[0].product_id"}
    path = f"{PRODUCTS}/{rice['id']}"
    cola = await catalog.product("Cola")
    body = {"type": "bundle", "components": [{"product_id": cola["id"]}]}
    assert (await catalog.api.patch(path, body, status=422)).wrong_fields == {"type"}
    own = {"components": [part]}
    assert (
        "components[0].product_id" in (await catalog.api.patch(path, own, status=422)).wrong_fields
    )
    assert (await catalog.api.delete(path, status=409)).json["message"].startswith("The bundle Lun")


async def test_every_wrong_field_is_named(catalog: Catalog, make: Make) -> None:
    """Form and rules together, with the place inside of lists."""
    other = await Catalog.open(await make.business(), catalog.sql)
    theirs = await other.category()
    wrong = await catalog.refused(
        name="", base_price=1.005, category_id=theirs["id"], tax_rate=101, tracks_stock=True,
        modifier_group_ids=[str(uuid4())],
        variants=[
            {"name": "S", "price": 0.001, "sku": "X"},
            {"name": "S", "price": -1, "sku": "X"},
            {"name": "M", "prices": [{"store_id": str(uuid4()), "price": 1}]},
        ],
        components=[{"product_id": str(uuid4()), "quantity": 0}],
    )  # fmt: skip
    assert wrong >= {
        "name", "base_price", "category_id", "tax_rate", "modifier_group_ids[0]",
        "variants[0].price", "variants[1].price", "variants[1].name", "variants[1].sku",
        "variants[2].prices[0].store_id", "components[0].quantity", "components[0].product_id",
        "tracks_stock",
    }  # fmt: skip
    assert await catalog.names() == []


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"type": "variable"}, {"type"}),
        ({"type": "simple", "variants": [{"name": "S"}]}, {"type"}),
        ({"type": "bundle"}, {"components"}),
        ({"type": "service", "tracks_stock": True}, {"tracks_stock"}),
        ({"type": "service", "variants": [{"name": "S", "tracks_stock": True}]},
         {"variants[0].tracks_stock"}),
        ({"variants": [{"name": str(n)} for n in range(101)]}, {"variants"}),
        ({"modifier_group_ids": [str(uuid4()) for _ in range(51)]}, {"modifier_group_ids"}),
        ({"image_url": "javascript:alert(1)"}, {"image_url"}),
        ({"sku": "x" * 65}, {"sku"}),
        ({"variants": "none"}, {"variants"}),
    ],
)  # fmt: skip
async def test_what_is_no_product_is_refused(
    catalog: Catalog, fields: dict[str, object], named: set[str]
) -> None:
    """The type fits the rest, and no list is endless."""
    assert await catalog.refused(**fields) == named


async def test_a_currency_without_decimals_takes_whole_prices(
    make: Make, sql: asyncpg.Connection
) -> None:
    """500 yen, not 500.5; for options and store prices too."""
    catalog = await Catalog.open(await make.business(currency="JPY"), sql)
    assert await catalog.refused(base_price=500.5) == {"base_price"}
    made = await catalog.product(base_price=500)
    assert (made["basePrice"], made["currency"]) == (500, "JPY")
    body = {"name": "Extras", "options": [{"name": "Egg", "price_delta": 0.5}]}
    answer = await catalog.api.post("/v1/modifier-groups", body, status=422)
    assert answer.wrong_fields == {"options[0].price_delta"}


async def test_an_inactive_and_an_extra_only_product_stay_in_the_list(catalog: Catalog) -> None:
    """They are shown as what they are, and can be parts of a bundle."""
    hidden = await catalog.product("Hidden", is_active=False)
    extra = await catalog.product("Extra", is_extra_only=True)
    assert await catalog.names("is_active=false") == ["Hidden"]
    assert await catalog.names() == ["Extra", "Hidden"]
    parts = [{"product_id": hidden["id"]}, {"product_id": extra["id"]}]
    assert len((await catalog.product("Both", components=parts))["components"]) == 2


async def test_a_change_is_told_once_and_nothing_is_not_told(catalog: Catalog) -> None:
    """Created, updated for what is new, silence for what is as it was, deleted."""
    made = await catalog.product(unit="plate")
    same = await catalog.change(made["id"], name=" Jollof rice ", base_price=1500.00, unit="plate")
    assert same == made
    changed = await catalog.change(made["id"], base_price=1750.5, unit=None, is_active=False)
    assert (changed["basePrice"], changed["unit"], changed["isActive"]) == (1750.5, None, False)
    assert changed["name"] == made["name"]
    assert changed["updatedAt"] > made["updatedAt"]
    gone = await catalog.api.delete(f"{PRODUCTS}/{made['id']}", status=200)
    assert gone.data.keys() == {"id", "deletedAt"}
    await catalog.api.get(f"{PRODUCTS}/{made['id']}", status=404)
    assert await catalog.names() == []
    events = await catalog.events()
    assert [event for event, _ in events] == [
        "product.created", "product.updated", "product.deleted"
    ]  # fmt: skip
    assert events[1][1] == {
        "id": made["id"], "name": "Jollof rice", "type": "simple", "basePrice": 1750.5,
        "categoryId": None, "unit": None, "isActive": False, "isExtraOnly": False,
        "updatedAt": changed["updatedAt"],
    }  # fmt: skip
    assert events[2][1]["updatedAt"] > changed["updatedAt"]


async def test_a_refused_change_tells_nothing(catalog: Catalog) -> None:
    """An unwritten change emits no event."""
    made = await catalog.product()
    await catalog.api.patch(f"{PRODUCTS}/{made['id']}", {"category_id": str(uuid4())}, status=422)
    assert [event for event, _ in await catalog.events()] == ["product.created"]
    assert await catalog.read(made["id"]) == made


async def test_prices_and_stock_of_the_one_variant_are_set_through_its_product(
    catalog: Catalog,
) -> None:
    """A list of prices replaces the list; with variants of its own a product has none of that."""
    ikeja, lekki = await catalog.store("Ikeja"), await catalog.store("Lekki")
    made = await catalog.product(prices=[{"store_id": ikeja, "price": 1}])
    prices = [{"store_id": lekki, "price": 2}, {"store_id": ikeja, "price": 3}]
    changed = await catalog.change(made["id"], prices=prices, tracks_stock=True, sku="NEW")
    [variant] = changed["variants"]
    assert {p["storeId"]: p["price"] for p in variant["prices"]} == {lekki: 2, ikeja: 3}
    assert (variant["tracksStock"], variant["sku"]) == (True, "NEW")
    emptied = await catalog.change(made["id"], prices=[])
    assert emptied["variants"][0]["prices"] == []
    several = await catalog.product("Cola", variants=[{"name": "S"}])
    answer = await catalog.api.patch(
        f"{PRODUCTS}/{several['id']}", {"tracks_stock": True, "prices": prices}, status=422
    )
    assert answer.wrong_fields == {"tracks_stock", "prices"}
    twice = [{"store_id": ikeja, "price": 1}, {"store_id": ikeja, "price": 2}]
    assert await catalog.refused(prices=twice) == {"prices[1].store_id"}


async def test_a_type_changes_with_what_it_needs(catalog: Catalog) -> None:
    """Simple becomes variable and back as long as there is one variant, which stays itself."""
    made = await catalog.product(sku="J")
    [before] = made["variants"]
    turned = await catalog.change(made["id"], type="variable")
    [after] = turned["variants"]
    assert (after["id"], after["isImplicit"], after["name"]) == (before["id"], False, "Jollof rice")
    back = await catalog.change(made["id"], type="simple")
    assert (back["variants"], back["sku"]) == ([before], "J")
    several = await catalog.product("Cola", variants=[{"name": "S"}, {"name": "L"}])
    answer = await catalog.api.patch(f"{PRODUCTS}/{several['id']}", {"type": "simple"}, status=422)
    assert answer.wrong_fields == {"type"}


async def test_a_bundle_has_a_hundred_components_and_no_more(catalog: Catalog) -> None:
    """The list is named, with how long it may be."""
    parts = [{"product_id": str(uuid4())} for _ in range(101)]
    body = {"name": "Lunch", "base_price": 1, "components": parts}
    answer = await catalog.api.post(PRODUCTS, body, status=422)
    told = {detail["field"]: detail["message"] for detail in answer.json["details"]}
    assert told["components"] == "must have at most 100 items"
