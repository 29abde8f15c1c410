"""Choices in the browser: groups of modifiers with their options."""

import asyncio

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.goods import READS, WRITES, copies, form_of, read, wrong
from tests.desk.world import World, fill
from tests.make import Business, Make

CHOICES = "/desk/products/choices"
NEW = f"{CHOICES}/new"


@pytest.fixture
async def world(business: Business) -> World:
    """A product with a group of one option."""
    return await fill(business)


async def test_choices_are_made_once_changed_and_deleted(
    owner: Browser, business: Business
) -> None:
    """With rows left out in between; an option keeps its id, and one without a name goes."""
    fields = form_of(await owner.open(NEW), NEW).fields
    typed = {
        "name": "Pepper", "min_choices": "1", "max_choices": "2", "name.0": "Mild",
        "name.2": "Hot", "price_delta.2": "50.5",
    }  # fmt: skip
    both = copies(owner)
    await asyncio.gather(*(one.send(NEW, fields | typed) for one in both))
    [group] = await read(business, "/v1/modifier-groups")
    assert [(one["name"], one["priceDelta"]) for one in group["options"]] == [
        ("Mild", 0), ("Hot", 50.5)
    ]  # fmt: skip
    page = await owner.open(CHOICES)
    assert "Pepper Mild, Hot +$50.50 Mild, Hot +$50.50 at least 1, at most 2" in page.words
    path = f"{CHOICES}/{group['id']}"
    fields = form_of(await owner.open(path), path).fields
    kept = {name: value for name, value in fields.items() if name != "is_active.1"}
    await owner.send(path, kept | {"name.0": "", "name.3": "Very hot", "max_choices": ""})
    [changed] = await read(business, "/v1/modifier-groups")
    assert [(one["name"], one["isActive"]) for one in changed["options"]] == [
        ("Hot", False), ("Very hot", True)
    ]  # fmt: skip
    assert changed["options"][0]["id"] == group["options"][1]["id"]
    assert changed["maxChoices"] is None
    await owner.open(path)
    await owner.submit(f"{path}/delete")
    assert "No choices yet." in (await owner.open(owner.onward)).words


async def test_wrong_choices_are_refused_at_their_fields(owner: Browser, world: World) -> None:
    """Each option at its own row, and nothing that was typed is lost."""
    path = f"{CHOICES}/{world.ids['group_id']}"
    for address in (NEW, path):
        await owner.open(address)
        typed = {"name": "", "max_choices": "some", "name.3": "Hot", "price_delta.3": "x",
                 "name.4": "Hotter" * 30}  # fmt: skip
        fields = form_of(owner.page, address).fields
        page = await owner.send(address, fields | typed, status=422)
        assert wrong(page) == ["name", "max_choices", "price_delta.3", "name.4"]
        assert "Price of option 4" in page.alerts[0]
        assert typed.items() <= form_of(page, address).fields.items()
    await owner.open(NEW)
    page = await owner.submit(NEW, status=422, name="Pepper")
    assert "options" in page.alerts[0]
    await owner.open(path)
    page = await owner.submit(f"{path}/delete", status=409)
    assert "Products offer this group" in page.alerts[0]


@pytest.mark.parametrize("role", ["manager", "cashier", "kitchen", "developer"])
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A button whose operation isn't allowed is absent, and its form is refused."""
    browser = await signed_in(await make.member(business, role))
    own = browser.page.forms[0].fields
    path = f"{CHOICES}/{world.ids['group_id']}"
    page = await browser.open(CHOICES, status=200 if role in READS else 403)
    assert ({path, NEW} <= set(page.links)) == (role in WRITES)
    for address in (NEW, path):
        await browser.open(address, status=200 if role in WRITES else 403)
        if role not in WRITES:
            await browser.send(address, own | {"name": "X", "name.0": "Y"}, status=403)
    if role not in WRITES:
        await browser.send(f"{path}/delete", own, status=403)


async def test_another_business_has_no_such_choices(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen and not to be changed; nor by the other mode."""
    path = f"{CHOICES}/{world.ids['group_id']}"
    stranger = await signed_in(await make.business())
    await stranger.open(path, status=404)
    own = stranger.page.forms[0].fields | {"name": "Theirs", "name.0": "X"}
    for address in (path, f"{path}/delete"):
        await stranger.send(address, own, status=404)
    assert (await read(business, path.replace("/desk/products/choices", "/v1/modifier-groups")))[
        "name"
    ] == "Jollof rice"
    await owner.submit("/desk/mode", mode="live")
    await owner.open(path, status=404)
