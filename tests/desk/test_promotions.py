"""Promotions in the browser: made, changed and deleted."""

import asyncio
from typing import get_args
from urllib.parse import urlencode

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.goods import READS, WRITES, copies, form_of, read, wrong
from tests.desk.world import World, fill
from tests.make import Business, Make
from tillhouse.access.scopes import Role

PROMOTIONS = "/desk/products/promotions"
NEW = f"{PROMOTIONS}/new"


@pytest.fixture
async def world(business: Business) -> World:
    """A promotion of 500 off for one product."""
    return await fill(business)


async def test_a_promotion_is_made_once(owner: Browser, business: Business, world: World) -> None:
    """With everything that the form has; the list tells it."""
    fields = form_of(await owner.open(NEW), NEW).fields
    typed = {
        "name": "Happy hour", "value": "12.5", "scope": "categories", "days": "1",
        "category_ids": world.ids["category_id"], "minimum_subtotal": "1000.50",
        "maximum_discount": "5000", "starts_at": "2026-01-05", "ends_at": "2099-12-24",
        "from_time": "16:00", "to_time": "18:30", "limit_total": "10", "limit_per_customer": "1",
    }  # fmt: skip
    both = copies(owner)
    await asyncio.gather(*(one.send(NEW, fields | typed) for one in both))
    made, other = await read(business, "/v1/promotions")
    assert other["name"] == "Jollof rice"
    assert (made["value"], made["days"], made["limitTotal"]) == (12.5, [1], 10)
    assert (made["minimumSubtotal"], made["fromTime"]) == (1000.5, "16:00")
    assert made["categoryIds"] == [world.ids["category_id"]]
    page = await owner.open(PROMOTIONS)
    assert "Happy hour 12.5 % 12.5 % Mon, 16:00\N{EN DASH}18:30" in page.words
    assert "0 of 10 Given" in page.words


async def test_a_promotion_that_is_saved_as_it_stands_stays(
    owner: Browser, business: Business, world: World
) -> None:
    """A day stays a day, and a moment that moment; an emptied field says nothing any more."""
    path = f"{PROMOTIONS}/{world.ids['promotion_id']}"
    api = path.replace("/desk/products", "/v1")
    at = {"starts_at": "2026-03-01T18:00:00+01:00"}
    await business.owner.patch(api, at, headers={"service-environment": "test"}, status=200)
    before = await read(business, api)
    assert form_of(await owner.open(path), path).fields["ends_at"] == "2027-12-24"
    fields = [*form_of(owner.page, path).fields.items(), ("days", "5")]
    await owner.send_raw(path, urlencode(fields).encode(), 303, "same-origin")
    after = await read(business, api)
    assert {**after, "updatedAt": ""} == {**before, "updatedAt": ""}
    form = form_of(await owner.open(path), path)
    kept = {name: value for name, value in form.fields.items() if name not in ("days", "is_active")}
    await owner.send(path, kept | {"ends_at": "", "limit_total": ""})
    after = await read(business, api)
    assert (after["days"], after["endsAt"], after["limitTotal"]) == (None, None, None)
    assert after["isActive"] is False
    assert "Not given" in (await owner.open(PROMOTIONS)).words


async def test_a_wrong_promotion_is_refused_at_its_fields(
    owner: Browser, business: Business, world: World
) -> None:
    """A new one and one that is there; nothing that was typed is lost."""
    for address in (NEW, f"{PROMOTIONS}/{world.ids['promotion_id']}"):
        page = await owner.open(address)
        typed = {
            "name": "", "type": "percent", "value": "101", "minimum_subtotal": "x",
            "starts_at": "soon", "from_time": "16:00", "limit_total": "many",
            "scope": "categories", "product_ids": world.ids["product_id"],
        }  # fmt: skip
        fields = form_of(page, address).fields
        page = await owner.send(address, fields | typed | {"to_time": ""}, status=422)
        assert set(wrong(page)) == {
            "name", "value", "minimum_subtotal", "starts_at", "to_time", "limit_total"
        }  # fmt: skip
        assert "product ids" in page.alerts[0]
        assert "category ids" in page.alerts[0]
        assert typed.items() <= form_of(page, address).fields.items()


async def test_a_product_that_is_gone_can_be_taken_out(
    owner: Browser, business: Business, world: World
) -> None:
    """It stands with its id; what a search finds can be chosen in its place."""
    gone = world.ids["product_id"]
    await business.owner.delete(
        f"/v1/products/{gone}", headers={"service-environment": "test"}, status=200
    )
    tea = await business.made("/v1/products", {"name": "Tea", "base_price": 5})
    path = f"{PROMOTIONS}/{world.ids['promotion_id']}"
    page = await owner.open(f"{path}?search=Tea")
    assert f"{gone} Tea" in page.words
    here = f"{path}?search=Tea"
    page = await owner.submit(here, status=422)
    assert "product ids" in page.alerts[0]
    await owner.send(here, form_of(page, here).fields | {"product_ids": tea["id"]})
    after = await read(business, path.replace("/desk/products", "/v1"))
    assert after["productIds"] == [tea["id"]]


async def test_a_promotion_is_deleted(owner: Browser, world: World) -> None:
    """And is in no list any more."""
    path = f"{PROMOTIONS}/{world.ids['promotion_id']}"
    await owner.open(path)
    await owner.submit(f"{path}/delete")
    assert "No promotions yet." in (await owner.open(owner.onward)).words
    await owner.open(path, status=404)


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A button whose operation isn't allowed is absent, and its form is refused."""
    browser = await signed_in(business if role == "owner" else await make.member(business, role))
    own = browser.page.forms[0].fields
    path = f"{PROMOTIONS}/{world.ids['promotion_id']}"
    page = await browser.open(PROMOTIONS, status=200 if role in READS else 403)
    assert ({path, NEW} <= set(page.links)) == (role in WRITES)
    for address in (NEW, path):
        await browser.open(address, status=200 if role in WRITES else 403)
        if role not in WRITES:
            await browser.send(address, own | {"name": "X", "type": "fixed"}, status=403)
    if role not in WRITES:
        await browser.send(f"{path}/delete", own, status=403)


async def test_another_business_has_no_such_promotion(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen and not to be changed; nor by the other mode."""
    path = f"{PROMOTIONS}/{world.ids['promotion_id']}"
    stranger = await signed_in(await make.business())
    await stranger.open(path, status=404)
    own = stranger.page.forms[0].fields
    typed = {"name": "Theirs", "type": "fixed", "scope": "order", "value": "1"}
    for address in (path, f"{path}/delete"):
        await stranger.send(address, own | typed, status=404)
    assert (await read(business, path.replace("/desk/products", "/v1")))["name"] == "Jollof rice"
    await owner.submit("/desk/mode", mode="live")
    await owner.open(path, status=404)
