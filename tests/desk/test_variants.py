"""Variants, parts of bundles and categories in the browser."""

import asyncio
from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.goods import WRITES, copies, form_of, read, wrong
from tests.desk.world import World, fill
from tests.make import Business, Make
from tillhouse.access.scopes import Role

LIST = "/desk/products"
CATEGORIES = f"{LIST}/categories"


@pytest.fixture
async def world(business: Business) -> World:
    """A product of two variants in a category."""
    return await fill(business)


async def product(business: Business, **fields: object) -> str:
    """The id of a simple product."""
    made = await business.made("/v1/products", {"name": "Zobo", "base_price": 500, **fields})
    return made["id"]


async def test_a_variant_is_added_once_changed_and_deleted(
    owner: Browser, business: Business, world: World
) -> None:
    """A double click adds one; the product of one thing has two then."""
    path = f"{LIST}/{await product(business)}"
    new = f"{path}/variants/new"
    assert new in (await owner.open(path)).links
    fields = form_of(await owner.open(new), new).fields
    both = copies(owner)
    typed = {"name": "Large", "price": "700.5", "sku": "Z-L", "tracks_stock": "true"}
    await asyncio.gather(*(one.send(new, fields | typed) for one in both))
    page = await owner.open(both[0].onward)
    assert "Large Z-L $700.50 On sale" in page.words
    variants = (await read(business, path.replace("/desk", "/v1")))["variants"]
    assert [one["name"] for one in variants] == ["Zobo", "Large"]
    address = f"{path}/variants/{variants[1]['id']}"
    form = form_of(await owner.open(address), address)
    kept = {name: value for name, value in form.fields.items() if name != "is_active"}
    price = next(name for name in kept if name.startswith("prices."))
    await owner.send(address, kept | {"price": "", price: "900"})
    assert "Large Z-L $900 in Jollof rice" in (await owner.open(path)).words
    variant = (await read(business, path.replace("/desk", "/v1")))["variants"][1]
    assert (variant["price"], variant["isActive"], variant["tracksStock"]) == (None, False, True)
    await owner.open(address)
    await owner.submit(f"{address}/delete")
    last = f"{path}/variants/{variants[0]['id']}"
    await owner.open(owner.onward)
    await owner.open(last)
    page = await owner.submit(f"{last}/delete", status=400)
    assert "last variant" in page.alerts[0]


async def test_the_only_variant_is_changed_with_its_product(
    owner: Browser, business: Business
) -> None:
    """Its address leads to the form of the product; one of another product isn't there."""
    one, other = await product(business), await product(business)
    variant = (await read(business, f"/v1/products/{one}"))["variants"][0]["id"]
    await owner.open(f"{LIST}/{one}/variants/{variant}", status=303)
    assert owner.onward == f"{LIST}/{one}/edit"
    await owner.open(f"{LIST}/{other}/variants/{variant}", status=404)


async def test_a_wrong_variant_is_refused_at_its_fields(
    owner: Browser, business: Business, world: World
) -> None:
    """A new one and one that is there; nothing that was typed is lost."""
    path = world.address(f"{LIST}/{{product_id}}/variants")
    for end in ("new", world.ids["variant_id"]):
        page = await owner.open(f"{path}/{end}")
        prices = next(name for name in form_of(page, f"{path}/{end}").fields if "prices." in name)
        typed = {"name": "Jollof rice 2", "price": "-1", "low_stock_threshold": "x", prices: "y"}
        page = await owner.submit(f"{path}/{end}", status=422, **{**typed, "sku": "S"})
        assert set(wrong(page)) == set(typed)
        assert typed.items() <= form_of(page, f"{path}/{end}").fields.items()


async def test_a_bundle_is_made_of_what_is_found(
    owner: Browser, business: Business, world: World
) -> None:
    """Part by part; a wrong quantity is refused at its field, and without parts it is simple."""
    path = f"{LIST}/{await product(business)}"
    await owner.open(path)
    page = await owner.open(f"{path}/parts?search=Jollof")
    adds = [found["value"] or "" for _, found in page.elements if found.get("name") == "add"]
    assert len(adds) == 2
    here = form_of(page, f"{path}/parts?search=Jollof").action
    for add in adds:
        await owner.submit(here, add=add)
        await owner.open(owner.onward)
    part = f"part.{adds[0]}"
    page = await owner.send(here, form_of(owner.page, here).fields | {part: "many"}, status=422)
    assert wrong(page) == [part]
    assert form_of(page, here).fields[part] == "many"
    await owner.send(here, form_of(page, here).fields | {part: "2.5"})
    page = await owner.open(owner.onward)
    assert "Bundle" in page.words
    assert "Jollof rice 2.5" in page.words
    await owner.open(f"{path}/parts")
    fields = form_of(owner.page, f"{path}/parts").fields
    await owner.send(f"{path}/parts", fields | {f"part.{add}": "" for add in adds})
    made = await read(business, path.replace("/desk", "/v1"))
    assert (made["type"], made["components"]) == ("simple", [])


async def test_a_category_is_made_once_renamed_and_deleted(
    owner: Browser, business: Business, world: World
) -> None:
    """A refusal stands at its field; one with products stays."""
    fields = form_of(await owner.open(CATEGORIES), CATEGORIES).fields
    page = await owner.submit(CATEGORIES, status=422, name="", position="first")
    assert wrong(page) == ["name", "position"]
    assert form_of(page, CATEGORIES).fields["position"] == "first"
    both = copies(owner)
    await asyncio.gather(*(one.send(CATEGORIES, fields | {"name": "Drinks"}) for one in both))
    names = {one["name"]: one["id"] for one in await read(business, "/v1/categories")}
    assert len(names) == 2
    path = f"{CATEGORIES}/{names['Drinks']}"
    assert path in (await owner.open(CATEGORIES)).links
    await owner.open(path)
    page = await owner.submit(path, status=422, name="", position="7")
    assert (wrong(page), form_of(page, path).fields["position"]) == (["name"], "7")
    await owner.submit(path, name="Cold drinks", position="7")
    assert "Cold drinks 7" in (await owner.open(CATEGORIES)).words
    await owner.open(path)
    await owner.submit(f"{path}/delete")
    assert "Cold drinks" not in (await owner.open(CATEGORIES)).words
    full = world.address(f"{CATEGORIES}/{{category_id}}")
    await owner.open(full)
    page = await owner.submit(f"{full}/delete", status=409)
    assert page.alerts


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A button whose operation isn't allowed is absent, and its form is refused."""
    browser = await signed_in(business if role == "owner" else await make.member(business, role))
    may = role in WRITES
    path, category = (
        world.address(one) for one in (f"{LIST}/{{product_id}}", f"{CATEGORIES}/{{category_id}}")
    )
    own = browser.page.forms[0].fields
    if (page := await browser.open("/desk/account")) and LIST in page.links:
        page = await browser.open(path)
        assert (f"{path}/variants/new" in page.links) == may
        page = await browser.open(CATEGORIES)
        assert (category in page.links) == may
        assert (CATEGORIES in [form.action for form in page.forms]) == may
    else:
        await browser.open(CATEGORIES, status=403)
    for address in (f"{path}/variants/new", world.address(f"{path}/variants/{{variant_id}}"),
                    f"{path}/parts", category):  # fmt: skip
        await browser.open(address, status=200 if may else 403)
        if not may:
            await browser.send(address, own | {"name": "X"}, status=403)
    if not may:
        await browser.send(f"{category}/delete", own, status=403)
        variant = world.address(f"{path}/variants/{{variant_id}}/delete")
        await browser.send(variant, own, status=403)


async def test_another_business_has_none_of_them(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen and not to be changed; nor by the other mode."""
    path = world.address(f"{LIST}/{{product_id}}")
    variant = world.address(f"{path}/variants/{{variant_id}}")
    category = world.address(f"{CATEGORIES}/{{category_id}}")
    pages = (f"{path}/variants/new", variant, f"{path}/parts", category)
    stranger = await signed_in(await make.business())
    for address in pages:
        await stranger.open(address, status=404)
    own = stranger.page.forms[0].fields | {"name": "Theirs"}
    for address in (*pages, f"{variant}/delete", f"{category}/delete"):
        await stranger.send(address, own, status=404)
    assert len((await read(business, path.replace("/desk", "/v1")))["variants"]) == 2
    await owner.submit("/desk/mode", mode="live")
    for address in pages:
        await owner.open(address, status=404)
