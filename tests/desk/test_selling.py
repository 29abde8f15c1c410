"""A sale in the browser: from the goods to the paid order, and what can go wrong on the way."""

import asyncio
from decimal import Decimal
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.world import World, fill
from tests.make import Business, Make
from tillhouse.desk.selling import cart
from tillhouse.desk.selling.cart import CartLine

TEST = {"service-environment": "test"}


@pytest.fixture
async def world(business: Business) -> World:
    """Goods, a customer and an order."""
    return await fill(business)


async def plain(business: Business, name: str, price: float) -> str:
    """The line of goods that need no choice."""
    made = await business.made("/v1/products", {"name": name, "base_price": price})
    ids = made["id"], made["variants"][0]["id"]
    return "_".join([*(one.replace("-", "") for one in ids), "1"])


async def test_a_sale_is_recorded_and_paid(
    owner: Browser, business: Business, world: World
) -> None:
    """By the buttons and links of the pages alone, to the kobo."""
    await plain(business, "Zobo", 1500.5)
    page = await owner.open("/desk/sell?search=Zobo")
    add = next(found["value"] for found in named(page, name="add"))
    page = await owner.open(f"/desk/sell?{urlencode({'cart': '', 'add': add})}")
    text = page.forms[2].fields["cart"]
    page = await owner.open(f"/desk/sell?{urlencode({'cart': text, 'more': '0'})}")
    choose = next(link for link in page.links if "/choose/" in link)
    page = await owner.open(choose)
    form = next(form for form in page.forms if form.action == "/desk/sell/add")
    choice = next(
        found for _, found in page.elements if (found.get("name") or "").startswith("choice.")
    )
    await owner.send(
        "/desk/sell/add",
        form.fields | {choice["name"] or "": choice["value"] or "", "quantity": "3"},
    )
    page = await owner.open(owner.onward)
    await owner.submit("/desk/sell/add", name="Delivery", price="2,460.50")
    page = await owner.open(owner.onward)
    assert "3 lines" in page.words
    await owner.submit(
        "/desk/sell/record", customer_name="Tunde Bakare", discount_amount="1000", notes="no onions"
    )
    address = owner.onward.partition("#")[0]
    order_id = address.rpartition("/")[2]
    order = (await business.owner.get(f"/v1/orders/{order_id}", headers=TEST, status=200)).data
    assert order["totalAmount"] == 2 * 1500.5 + 3 * 5000 + 2460.5 - 1000
    assert (order["customer"]["name"], order["notes"]) == ("Tunde Bakare", "no onions")
    page = await owner.open(address)
    pay = f"{address}/payments"
    fields = next(form for form in page.forms if form.action == pay).fields
    assert Decimal(fields["amount"]) == Decimal("19461.50")
    await owner.submit(pay, amount="9461.5", method="transfer", tip="50")
    await owner.open(owner.onward)
    await owner.submit(pay, method="cash")
    page = await owner.open(owner.onward)
    assert "Paid" in page.words
    assert pay not in [form.action for form in page.forms]
    order = (await business.owner.get(f"/v1/orders/{order_id}", headers=TEST, status=200)).data
    assert (order["paymentStatus"], order["tipAmount"]) == ("paid", 50)


async def test_a_double_click_is_one_sale_and_one_payment(
    owner: Browser, business: Business, world: World
) -> None:
    """Sent twice at once, and again after a reload."""
    line = await plain(business, "Zobo", 1500)
    page = await owner.open(f"/desk/sell?cart={line}")
    form = next(form for form in page.forms if form.action == "/desk/sell/record")
    before = await _count(business)
    others = [_copy(owner) for _ in range(4)]
    for pair in (others[:2], others[2:]):
        await asyncio.gather(*(one.send(form.action, form.fields) for one in pair))
    assert len({one.onward for one in others}) == 1
    assert await _count(business) == before + 1
    address = others[0].onward.partition("#")[0]
    page = await owner.open(address)
    pay = next(form for form in page.forms if form.action.endswith("/payments"))
    again = [_copy(owner), _copy(owner)]
    await asyncio.gather(*(one.send(pay.action, pay.fields) for one in again))
    order = (await business.owner.get(f"/v1{address.removeprefix('/desk')}", headers=TEST)).data
    assert [payment["amount"] for payment in order["payments"]] == [1500]


def _copy(browser: Browser) -> Browser:
    found = Browser(browser.api)
    found.cookies = dict(browser.cookies)
    return found


async def _count(business: Business) -> int:
    return (await business.owner.get("/v1/orders", headers=TEST)).json["meta"]["total"]


async def test_a_refused_sale_loses_nothing(owner: Browser, business: Business) -> None:
    """The refusal stands at its field; cart, customer and notes are there."""
    line = await plain(business, "Zobo", 1500)
    await owner.open(f"/desk/sell?cart={line}")
    page = await owner.submit(
        "/desk/sell/record", status=422, customer_name="Tunde", discount_amount="much",
        notes="no onions",
    )  # fmt: skip
    form = next(form for form in page.forms if form.action == "/desk/sell/record")
    assert form.fields["cart"] == line
    assert (form.fields["customer_name"], form.fields["notes"]) == ("Tunde", "no onions")
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == [
        "discount_amount"
    ]
    assert await _count(business) == 0


async def test_goods_of_another_business_are_not_sold(
    owner: Browser, make: Make, business: Business
) -> None:
    """Nor shown."""
    other = await make.business()
    line = await plain(other, "Their secret", 1500)
    await owner.open(f"/desk/sell?cart={line}", status=404)
    assert "Their secret" not in owner.page.words
    await owner.open("/desk/sell")
    form = owner.page.forms[0].fields
    await owner.send("/desk/sell/record", form | {"cart": line}, status=404)
    assert await _count(business) == 0


async def test_a_cook_sells_nothing(
    business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """No entry, no button, and refused by the API's own sentence."""
    cook = await signed_in(await make.member(business, "kitchen"))
    assert "/desk/sell" not in cook.page.links
    await cook.open("/desk/orders")
    assert "/desk/sell" not in cook.page.links
    line = CartLine(quantity=Decimal(1), name="Tea", price="5").text
    form = cook.page.forms[0].fields
    page = await cook.send("/desk/sell/record", form | {"cart": line}, status=403)
    assert "orders:write" in page.words


LINES = st.builds(
    CartLine,
    quantity=st.decimals("0.001", 999999, places=3),
    product=st.uuids(),
    variant=st.none() | st.uuids(),
    choices=st.lists(st.tuples(st.uuids(), st.uuids()), max_size=4).map(tuple),
) | st.builds(
    CartLine,
    quantity=st.decimals("0.001", 999999, places=3),
    name=st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip())),
    price=st.decimals(0, 10**9, places=2).map(lambda price: f"{price:f}"),
)  # fmt: skip


@given(st.lists(LINES, max_size=12))
def test_a_cart_is_read_as_it_was_written(lines: list[CartLine]) -> None:
    """Every line, in its order; nothing in it needs escaping in an address."""
    text = cart.write(lines)
    assert cart.read(text) == lines
    assert urlencode({"cart": text}) == f"cart={text}"


@given(st.text(max_size=200) | st.text("0123456789abcdefx_~-.", max_size=200))
def test_no_text_breaks_a_cart(text: str) -> None:
    """A part that is no line is left out."""
    assert all(line.quantity > 0 for line in cart.read(text))


def test_the_same_goods_are_one_line() -> None:
    """Added twice they are two; with other choices they are others; one less of one is none."""
    tea = CartLine(quantity=Decimal(1), product=uuid4())
    sweet = CartLine(quantity=Decimal(1), product=tea.product, choices=((uuid4(), uuid4()),))
    lines = cart.changed([], {"add": tea.text})
    lines = cart.changed(lines, {"add": tea.text})
    lines = cart.changed(lines, {"add": sweet.text})
    assert [line.quantity for line in lines] == [2, 1]
    lines = cart.changed(cart.changed(lines, {"less": "1"}), {"more": "0"})
    assert [line.quantity for line in lines] == [3]
    assert cart.changed(lines, {"less": "7", "more": "x", "add": "y"}) == lines


def test_a_cart_has_an_end() -> None:
    """An address that is made up costs no more than sixty lines."""
    tea = CartLine(quantity=Decimal(1), name="Tea", price="5").text
    assert len(cart.read("~".join([tea] * 1000))) == cart.LINES_MAX
