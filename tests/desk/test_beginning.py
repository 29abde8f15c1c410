"""The first steps: ticked by what is really there, and only what the role may do."""

from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.test_connections import connect
from tests.desk.world import pay
from tests.hotel.house import House
from tests.make import Business, Make
from tillhouse.access.scopes import Role
from tillhouse.accounts.types import BusinessType
from tillhouse.desk.beginning.steps import STEPS
from tillhouse.desk.frame.sentences import sentence

BEGIN = "/desk/begin"


def ticked(browser: Browser) -> list[bool]:
    """Which of the steps in the list are done."""
    items = [found for tag, found in browser.page.elements if tag == "li" and "class" in found]
    marks = [found["class"] for found in items if found["class"] in ("done", "next")]
    done = [mark == "done" for mark in marks]
    assert done.count(False) <= 1
    return done


async def count_done(browser: Browser) -> int:
    """How many steps the page tells as done, and ticks."""
    await browser.open(BEGIN)
    done = sum(ticked(browser))
    assert f" {done} of " in browser.page.words
    return done


async def test_a_new_business_is_led_from_its_goods_to_its_first_link(
    owner: Browser, business: Business
) -> None:
    """Each step is done by the thing itself, wherever it was made."""
    assert await count_done(owner) == 1
    variants = [{"name": "Bottle", "tracks_stock": True}]
    product = await business.made(
        "/v1/products", {"name": "Zobo", "base_price": 500, "variants": variants}
    )
    assert await count_done(owner) == 2
    variant = product["variants"][0]["id"]
    await business.made("/v1/inventory/counts", {"items": [{"variant_id": variant, "counted": 12}]})
    assert await count_done(owner) == 3
    line = {"product_name": "Delivery", "quantity": 1, "custom_price": 20}
    await business.made("/v1/orders", {"items": [line]})
    assert await count_done(owner) == 4
    path = "/v1/payment-links/wallet/dynamic"
    link = await business.made(path, {"title": "Deposit", "amount": 50})
    assert await count_done(owner) == 4
    await pay(business, link)
    assert await count_done(owner) == 5
    for address in ("/desk/products/new", "/desk/products/stock", "/desk/sell", "/desk/links/new"):
        assert address in owner.page.links
        await owner.open(address)
        await owner.open(BEGIN)
    # Going live is the last step; the live book has none of the others.
    await owner.submit("/desk/mode", mode="live", back="/desk/connections")
    assert owner.onward == "/desk/connections"
    await connect(owner)
    assert await count_done(owner) == 2
    assert "/desk/connections" in owner.page.links
    await owner.submit("/desk/mode", mode="test", back="/desk")
    assert await count_done(owner) == 6
    assert "That is all of it" in owner.page.words
    assert "/desk/begin" in (await owner.open("/desk/orders")).links


@pytest.mark.parametrize("kind", get_args(BusinessType))
async def test_every_kind_of_business_has_its_steps(
    kind: str, make: Make, signed_in: SignsIn
) -> None:
    """In its own words; a step without a page shows the command that does it."""
    business = await make.business(business_type=kind)
    browser = await signed_in(business)
    page = await browser.open(BEGIN)
    assert sentence(f"begin.register.{kind}") in page.words
    for step in STEPS[kind]:
        assert sentence(f"begin.{step.name}.title") in page.words
        address = "/desk/mode" if step.is_live else step.address
        assert address in page.links + [form.action for form in page.forms] or (
            step.command in page.words
        )
    assert f"1 of {len(STEPS[kind]) + 1} done" in page.words


async def test_a_hotel_is_led_to_its_first_stay(make: Make, signed_in: SignsIn) -> None:
    """Kinds of room, rooms, a stay: made by its commands, ticked by its lists."""
    business = await make.business(business_type="hotel")
    browser = await signed_in(business)
    house = await House.open(business)
    assert await count_done(browser) == 3
    await house.made("reservations", **house.stay())
    assert await count_done(browser) == 4


async def test_the_kitchen_step_is_done_by_a_ticket(make: Make, signed_in: SignsIn) -> None:
    """A restaurant's order goes to the kitchen, and stays a step done when it is served."""
    business = await make.business(business_type="restaurant")
    browser = await signed_in(business)
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": 20}
    body = {"items": [line], "service_mode": "dine_in", "send_to_kitchen": True}
    order = await business.made("/v1/orders", body)
    await browser.open(BEGIN)
    # The menu comes first, and is still to be put in.
    assert ticked(browser) == [True, False, True]
    path = f"/v1/orders/{order['id']}/kitchen-status"
    for stage in ("preparing", "ready", "served"):
        answer = await business.owner.post(
            path, {"status": stage}, headers={"service-environment": "test"}
        )
        assert answer.status == 200
    await browser.open(BEGIN)
    assert ticked(browser) == [True, False, True]


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_is_shown_what_it_may_do(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """A cashier sells, and connects no provider."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    await browser.open(BEGIN)
    await browser.submit("/desk/mode", mode="live")
    page = await browser.open(BEGIN)
    pages = {"/desk/products/new", "/desk/sell", "/desk/links/new", "/desk/connections"}
    for address in pages:
        await browser.open(address, status=200 if address in page.links else 403)


async def test_what_is_live_is_no_step_of_the_test_book(owner: Browser, business: Business) -> None:
    """Each book has its own."""
    await business.made("/v1/products", {"name": "Zobo", "base_price": 500}, "live")
    assert await count_done(owner) == 1
    await owner.submit("/desk/mode", mode="live")
    assert await count_done(owner) == 2
