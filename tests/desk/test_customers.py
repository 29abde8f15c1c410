"""Customers in the browser: made, found, changed, sold to, deleted."""

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.world import fill
from tests.make import Business, Make

TEST = {"service-environment": "test"}


async def test_a_customer_is_made_found_and_changed(owner: Browser, business: Business) -> None:
    """By the forms, with the API's own rules about numbers."""
    await owner.open("/desk/customers/new")
    page = await owner.submit(
        "/desk/customers/new", status=422, name="Tunde Bakare", phone_number="123"
    )
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == [
        "phone_number"
    ]
    await owner.submit("/desk/customers/new", phone_number="+2348035550142", notes="No onions")
    address = owner.onward
    assert "Tunde Bakare" in (await owner.open(address)).words
    page = await owner.open("/desk/customers?search=Tunde")
    assert address in page.links
    await owner.open(f"{address}/edit")
    await owner.submit(f"{address}/edit", notes="", email="tunde@mail.example")
    page = await owner.open(owner.onward)
    assert "tunde@mail.example" in page.words
    assert "No onions" not in page.words


async def test_a_customer_has_orders_and_debts(owner: Browser, business: Business) -> None:
    """Each as the API tells it, with the way to them and to a new sale."""
    world = await fill(business)
    page = await owner.open(world.address("/desk/customers/{customer_id}"))
    assert "Owes $7,000" in page.words
    assert "$10,000 in all" in page.words
    assert world.address("/desk/orders/{order_id}") in page.links
    sale = next(link for link in page.links if link.startswith("/desk/sell?customer_id="))
    assert "New sale" in (await owner.open(sale)).words


async def test_a_customer_is_deleted(owner: Browser, business: Business) -> None:
    """And is in no list any more."""
    made = await business.customer(name="Gone Soon")
    address = f"/desk/customers/{made['id']}"
    await owner.open(address)
    await owner.submit(f"{address}/delete")
    assert "Gone Soon" not in (await owner.open("/desk/customers")).words
    await owner.open(address, status=404)


async def test_another_business_has_no_such_customer(
    make: Make, business: Business, signed_in: SignsIn
) -> None:
    """Not to be seen and not to be changed."""
    made = await business.customer(name="Ours")
    stranger = await signed_in(await make.business())
    for end in ("", "/edit"):
        await stranger.open(f"/desk/customers/{made['id']}{end}", status=404)
    fields = stranger.page.forms[0].fields
    for end in ("/edit", "/delete"):
        path = f"/desk/customers/{made['id']}{end}"
        await stranger.send(path, fields | {"name": "Theirs"}, status=404)
    path = f"/v1/customers/{made['id']}"
    assert (await business.owner.get(path, headers=TEST, status=200)).data["name"] == "Ours"
