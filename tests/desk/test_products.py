"""Products in the browser: found, made, changed, taken off sale, deleted; and their stock."""

import asyncio
from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.goods import READS, WRITES, copies, form_of, read, wrong
from tests.desk.world import World, fill
from tests.make import Business, Make
from tillhouse.access.scopes import Role

LIST, NEW = "/desk/products", "/desk/products/new"


@pytest.fixture
async def world(business: Business) -> World:
    """A product of two variants, one of them with stock."""
    return await fill(business)


async def test_a_list_has_views_and_searches(
    owner: Browser, business: Business, world: World
) -> None:
    """All in the address; a product off sale is in the other view."""
    await business.made("/v1/products", {"name": "Zobo", "base_price": 1500.5, "sku": "DR-ZOB"})
    gone = {"name": "Old stew", "base_price": 900, "is_active": False}
    await business.made("/v1/products", gone)
    page = await owner.open(LIST)
    assert "Zobo DR-ZOB Simple $1,500.50" in page.words
    assert "from $4,500" in page.words
    assert "Old stew" not in page.words
    assert "1 to 2 of 2 products" in page.words
    page = await owner.open(f"{LIST}?search=DR-Z")
    assert "1 to 1 of 1 product" in page.words
    assert "DR-ZOB" in page.words
    page = await owner.open(world.address(f"{LIST}?category_id={{category_id}}"))
    assert "DR-ZOB" not in page.words
    page = await owner.open(f"{LIST}?is_active=false")
    assert "Old stew" in page.words
    search = next(form for form in page.forms if form.action == LIST)
    assert search.fields["is_active"] == "false"
    page = await owner.open(f"{LIST}?search=nothing")
    assert "No products here" in page.words
    page = await owner.open(f"{LIST}?page=x", status=422)
    assert "page" in page.alerts[0]


async def test_a_product_is_made_and_changed(
    owner: Browser, business: Business, world: World
) -> None:
    """With everything that the form has, and a price of its own in a store."""
    page = await owner.open(NEW)
    prices = next(
        name for _, found in page.elements if (name := found.get("name") or "").startswith("prices")
    )
    form = form_of(page, NEW)
    typed = {
        "name": "Zobo", "base_price": "1500.50", "tax_rate": "7.5", "sku": "ZOB",
        "unit": "bottle", "category_id": world.ids["category_id"],
        "modifier_group_ids": world.ids["group_id"], "description": "Cold\nand red",
        "image_url": "https://cdn.example.com/zobo.jpg", "tracks_stock": "true",
        "low_stock_threshold": "5", "stock_policy": "allow", prices: "1600",
    }  # fmt: skip
    await owner.send(NEW, form.fields | typed)
    address = owner.onward
    page = await owner.open(address)
    for told in ("Zobo ZOB On sale", "$1,500.50, 7.5 % tax", "Unit bottle", "Low from 5",
                 "When out of stock Sell anyway", "Prices $1,600 in Jollof rice",
                 "Description Cold and red", "Nothing was put into stock yet."):  # fmt: skip
        assert told in page.words
    page = await owner.open(f"{address}/edit")
    form = form_of(page, f"{address}/edit")
    assert (form.fields["tracks_stock"], form.fields[prices]) == ("true", "1600")
    assert form.fields["modifier_group_ids"] == world.ids["group_id"]
    kept = {name: value for name, value in form.fields.items() if name != "modifier_group_ids"}
    await owner.send(f"{address}/edit", kept | {"base_price": "1700", "unit": "", prices: ""})
    product = await read(business, address.replace("/desk", "/v1"))
    assert (product["basePrice"], product["unit"], product["sku"]) == (1700, None, "ZOB")
    assert (product["modifierGroups"], product["taxRate"]) == ([], 7.5)
    variant = product["variants"][0]
    assert (variant["prices"], variant["tracksStock"], variant["lowStockThreshold"]) == (
        [],
        True,
        5,
    )


async def test_a_wrong_product_is_refused_at_its_fields(
    owner: Browser, business: Business, world: World
) -> None:
    """By the API's own rules, and nothing that was typed is lost."""
    page = await owner.open(NEW)
    prices = next(
        name for _, found in page.elements if (name := found.get("name") or "").startswith("prices")
    )
    typed = {
        "name": "Zobo", "base_price": "1.5555", "tax_rate": "101", "unit": "x" * 21,
        "description": "Cold", "type": "service", "tracks_stock": "true", prices: "-1",
        "low_stock_threshold": "many", "image_url": "no address",
        "modifier_group_ids": world.ids["group_id"],
    }  # fmt: skip
    page = await owner.submit(NEW, status=422, **typed)
    form = form_of(page, NEW)
    assert typed.items() <= form.fields.items()
    assert set(wrong(page)) == {
        "base_price", "tax_rate", "unit", "tracks_stock", prices, "low_stock_threshold", "image_url"
    }  # fmt: skip
    assert "Price in Jollof rice" in page.alerts[0]
    page = await owner.submit(
        NEW, status=422, **typed | {"name": "", "modifier_group_ids": world.ids["product_id"]}
    )
    assert "name" in wrong(page)
    assert "modifier group ids" in page.alerts[0]


async def test_a_sku_is_taken_once(owner: Browser, business: Business) -> None:
    """The other product keeps it; the refusal stands at the field, when it is changed as well."""
    for sku in ("ZOB", "TEA"):
        made = await business.made("/v1/products", {"name": sku, "base_price": 5, "sku": sku})
    await owner.open(NEW)
    page = await owner.submit(NEW, status=409, name="Zobo", base_price="5", sku="ZOB")
    assert wrong(page) == ["sku"]
    path = f"{LIST}/{made['id']}/edit"
    await owner.open(path)
    page = await owner.submit(path, status=409, sku="ZOB", description="Hot")
    form = form_of(page, path)
    assert (wrong(page), form.fields["description"]) == (["sku"], "Hot")
    assert (await read(business, f"/v1/products/{made['id']}"))["sku"] == "TEA"


async def test_a_double_click_makes_one_product(owner: Browser, business: Business) -> None:
    """Sent twice at once, both lead to it."""
    page = await owner.open(NEW)
    form = form_of(page, NEW)
    both = copies(owner)
    fields = form.fields | {"name": "Zobo", "base_price": "5"}
    await asyncio.gather(*(one.send(NEW, fields) for one in both))
    assert both[0].onward == both[1].onward
    assert len(await read(business, "/v1/products")) == 1


async def test_a_product_leaves_and_returns(
    owner: Browser, business: Business, world: World
) -> None:
    """By a button on its page."""
    path = world.address(f"{LIST}/{{product_id}}")
    for state, button in ((False, "Put on sale"), (True, "Take off sale")):
        await owner.open(path)
        await owner.submit(f"{path}/state", is_active=str(state).lower())
        assert (await read(business, path.replace("/desk", "/v1")))["isActive"] is state
        assert button in (await owner.open(owner.onward)).words


async def test_a_product_tells_its_stock_and_moves(
    owner: Browser, business: Business, world: World
) -> None:
    """Those of the API, each move with its order."""
    page = await owner.open(world.address(f"{LIST}/{{product_id}}"))
    assert "Bought Jollof rice" in page.words
    assert "+12" in page.words
    assert world.address("/desk/orders/{order_id}") in page.links
    assert "Jollof rice 2 $9,000.00" in page.words


async def test_a_product_is_deleted(owner: Browser, business: Business, world: World) -> None:
    """Its page tells what goes with it; a bundle that contains it stands in the way."""
    path = world.address(f"{LIST}/{{product_id}}")
    parts = [{"product_id": world.ids["product_id"], "variant_id": world.ids["variant_id"],
              "quantity": 2.5}]  # fmt: skip
    tray = await business.made(
        "/v1/products", {"name": "Tray", "base_price": 9, "components": parts}
    )
    page = await owner.open(f"{LIST}/{tray['id']}")
    assert "Parts Change parts Product Quantity Jollof rice" in page.words
    assert "2.5" in page.words
    page = await owner.open(f"{path}/delete")
    assert "its 2 variants" in page.words
    page = await owner.submit(f"{path}/delete", status=409)
    assert "The bundle Tray contains it" in page.alerts[0]
    await owner.open(f"{LIST}/{tray['id']}/delete")
    await owner.submit(f"{LIST}/{tray['id']}/delete")
    await owner.open(f"{path}/delete")
    await owner.submit(f"{path}/delete")
    assert "No products here" in (await owner.open(owner.onward)).words
    await owner.open(path, status=404)


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A button whose operation isn't allowed is absent, and its form is refused."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    may = role in WRITES
    path = world.address(f"{LIST}/{{product_id}}")
    page = await browser.open(path, status=200 if role in READS else 403)
    assert (LIST in page.links) == (role in READS)
    assert (f"{path}/edit" in page.links) == may
    assert (f"{path}/delete" in page.links) == may
    assert (f"{path}/state" in [form.action for form in page.forms]) == may
    page = await browser.open(LIST, status=200 if role in READS else 403)
    assert (NEW in page.links) == may
    own = page.forms[0].fields
    for end in ("/new", f"/{world.ids['product_id']}/edit", f"/{world.ids['product_id']}/delete"):
        await browser.open(f"{LIST}{end}", status=200 if may else 403)
        if not may:
            await browser.send(f"{LIST}{end}", own | {"name": "X", "base_price": "1"}, status=403)


async def test_another_business_has_no_such_product(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen and not to be changed; nor by the other mode."""
    path = world.address(f"{LIST}/{{product_id}}")
    stranger = await signed_in(await make.business())
    for end in ("", "/edit", "/delete"):
        await stranger.open(f"{path}{end}", status=404)
    own = stranger.page.forms[0].fields | {"name": "Theirs", "base_price": "1", "is_active": "x"}
    for end in ("/edit", "/state", "/delete"):
        await stranger.send(f"{path}{end}", own, status=404)
    product = await read(business, path.replace("/desk", "/v1"))
    assert (product["name"], product["isActive"]) == ("Jollof rice", True)
    await owner.submit("/desk/mode", mode="live")
    await owner.open(path, status=404)
