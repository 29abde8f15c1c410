"""Stock in the browser: levels and moves, changes, counts and transfers."""

import asyncio
from decimal import Decimal
from typing import Any, get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.goods import READS, WRITES, copies, form_of, read, wrong
from tests.desk.world import World, fill
from tests.make import Business, Make
from tillhouse.access.scopes import Role

STOCK = "/desk/products/stock"
MOVES, COUNT, TRANSFER = (f"{STOCK}/{end}" for end in ("moves", "count", "transfer"))


@pytest.fixture
async def world(business: Business) -> World:
    """A variant of which 12 were bought for a store, and 2 sold without one."""
    return await fill(business)


async def levels(business: Business) -> dict[Any, Decimal]:
    """How much is on hand, by store."""
    return {one["storeId"]: one["onHand"] for one in await read(business, "/v1/inventory")}


async def test_levels_have_views_and_a_store(
    owner: Browser, business: Business, world: World
) -> None:
    """Those of the API: all, those that run low, and those of the chosen store."""
    page = await owner.open(STOCK)
    assert "Jollof rice Jollof rice The business as a whole" in page.words
    assert "12 0 12 Enough" in page.words
    assert "-2 0 -2 Out" in page.words
    page = await owner.open(f"{STOCK}?low=true")
    assert "1 to 1 of 1 level" in page.words
    [store] = await read(business, "/v1/stores")
    await owner.open("/desk/account")
    await owner.submit("/desk/store", store_id=store["id"])
    page = await owner.open(STOCK)
    assert "1 to 1 of 1 level" in page.words
    assert "12 Enough" in page.words


async def test_moves_are_filtered(owner: Browser, world: World) -> None:
    """By kind, and by variant; each has the way to its product and its order."""
    page = await owner.open(MOVES)
    assert "1 to 2 of 2 moves" in page.words
    assert world.address("/desk/orders/{order_id}") in page.links
    page = await owner.open(world.address(f"{MOVES}?kind=purchase&variant_id={{variant_id}}"))
    assert "1 to 1 of 1 move" in page.words
    filters = next(form for form in page.forms if form.action == MOVES)
    assert filters.fields == {"kind": "purchase", "variant_id": world.ids["variant_id"]}
    await owner.open(f"{MOVES}?kind=magic", status=422)


async def test_stock_changes_once(owner: Browser, business: Business, world: World) -> None:
    """A double click is one move."""
    path = world.address("/desk/products/{product_id}")
    fields = form_of(await owner.open(path), f"{path}/stock").fields
    [store] = await read(business, "/v1/stores")
    typed = {"kind": "waste", "quantity": "2.5", "store_id": store["id"], "reason": "Spilled"}
    both = copies(owner)
    await asyncio.gather(*(one.send(f"{path}/stock", fields | typed) for one in both))
    assert (await levels(business))[store["id"]] == Decimal("9.5")
    page = await owner.open(both[0].onward)
    assert "Waste Spilled" in page.words


async def test_a_wrong_change_is_refused_at_its_field(
    owner: Browser, business: Business, world: World
) -> None:
    """Nothing that was typed is lost; more than there is goes only if it is said."""
    path = world.address("/desk/products/{product_id}")
    here = f"{path}/stock"
    [store] = await read(business, "/v1/stores")
    await owner.open(path)
    for quantity in ("-1", "x", "0", ""):
        typed = {"kind": "waste", "quantity": quantity, "store_id": store["id"], "reason": "Old"}
        page = await owner.submit(here, status=422, **typed)
        assert wrong(page) == ["quantity"]
        assert typed.items() <= form_of(page, here).fields.items()
    page = await owner.submit(here, status=400, **typed | {"quantity": "13"})
    assert "not enough" in page.alerts[0]
    await owner.submit(here, allow_negative="true")
    assert (await levels(business))[store["id"]] == -1


async def test_a_count_sets_stock_once(owner: Browser, business: Business, world: World) -> None:
    """Of the filled fields alone; what is thought to be there isn't told."""
    field = world.address("counted.{variant_id}")
    page = await owner.open(f"{COUNT}?search=Jollof")
    here = f"{COUNT}?search=Jollof"
    page = await owner.submit(here, status=422, reason="Sunday")
    assert "items" in page.alerts[0]
    page = await owner.send(
        here, form_of(page, here).fields | {field: "-3", "reason": "Sunday"}, status=422
    )
    assert wrong(page) == [field]
    fields = form_of(page, here).fields
    assert (fields[field], fields["reason"]) == ("-3", "Sunday")
    assert "Jollof rice Jollof rice : must not be negative" in page.alerts[0]
    [store] = await read(business, "/v1/stores")
    both = copies(owner)
    typed = fields | {field: "7", "store_id": store["id"]}
    await asyncio.gather(*(one.send(here, typed) for one in both))
    assert (await levels(business))[store["id"]] == 7
    counts = await read(business, "/v1/inventory/moves?kind=count")
    assert [one["onHandChange"] for one in counts] == [-5]


async def test_a_transfer_moves_stock_once(
    owner: Browser, business: Business, world: World
) -> None:
    """From one store to another; not more than there is, and not to the same store."""
    field = world.address("quantity.{variant_id}")
    here = world.address(f"{TRANSFER}?product_id={{product_id}}")
    there = (await business.store(name="Yaba"))["id"]
    store = next(one for one in await levels(business) if one)
    fields = form_of(await owner.open(here), here).fields
    typed = fields | {field: "13", "from_store_id": store, "to_store_id": there, "reason": "Feast"}
    page = await owner.send(here, typed, status=400)
    assert "not enough" in page.alerts[0]
    fields = form_of(page, here).fields
    assert fields[field] == "13"
    page = await owner.send(here, typed | {"to_store_id": store}, status=422)
    assert wrong(page) == ["to_store_id"]
    both = copies(owner)
    await asyncio.gather(*(one.send(here, fields | {field: "5"}) for one in both))
    assert both[0].onward == world.address("/desk/products/{product_id}")
    found = await levels(business)
    assert (found[store], found[there]) == (7, 5)


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A button whose operation isn't allowed is absent, and its form is refused."""
    browser = await signed_in(business if role == "owner" else await make.member(business, role))
    own = browser.page.forms[0].fields
    may = role in WRITES
    page = await browser.open(STOCK, status=200 if role in READS else 403)
    assert ({COUNT, TRANSFER} <= set(page.links)) == may
    await browser.open(MOVES, status=200 if role in READS else 403)
    path = world.address("/desk/products/{product_id}")
    page = await browser.open(path, status=200 if role in READS else 403)
    assert (f"{path}/stock" in [form.action for form in page.forms]) == may
    for address in (COUNT, TRANSFER):
        await browser.open(address, status=200 if may else 403)
        if not may:
            await browser.send(address, own | {"counted.x": "1"}, status=403)
    if not may:
        await browser.send(f"{path}/stock", own | {"quantity": "1"}, status=403)


async def test_another_business_has_no_such_stock(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen and not to be moved; nor by the other mode."""
    stranger = await signed_in(await make.business())
    await stranger.open(world.address(f"{COUNT}?product_id={{product_id}}"), status=404)
    for path in (STOCK, MOVES, COUNT):
        assert "Jollof" not in (await stranger.open(path)).words
    before = await levels(business)
    variant = world.ids["variant_id"]
    own = stranger.page.forms[0].fields
    await stranger.send(COUNT, own | {f"counted.{variant}": "99"}, status=422)
    path = world.address("/desk/products/{product_id}/stock")
    change = {"variant_id": variant, "kind": "purchase", "quantity": "99"}
    await stranger.send(path, own | change, status=404)
    assert await levels(business) == before
    await owner.submit("/desk/mode", mode="live")
    assert "Jollof" not in (await owner.open(STOCK)).words
