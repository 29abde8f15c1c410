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
from tests.hotel.house import House
from tests.make import Business, Make
from tillhouse.desk.selling import cart
from tillhouse.desk.selling.cart import Cart, CartLine

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


CHANGE = "/desk/sell/change"


async def test_a_sale_is_of_the_store_that_its_form_showed(
    owner: Browser, business: Business
) -> None:
    """Whichever store another tab has chosen meanwhile."""
    stores = [(await business.made("/v1/stores", {"name": name}))["id"] for name in ("One", "Two")]
    await owner.open("/desk/account")
    await owner.submit("/desk/store", store_id=stores[0])
    line = await plain(business, "Zobo", 1500.5)
    page = await owner.open(f"/desk/sell?cart={line}")
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await owner.open("/desk/account")
    await owner.submit("/desk/store", store_id=stores[1])
    await owner.send("/desk/sell/record", fields)
    path = owner.onward.partition("#")[0].replace("/desk", "/v1")
    order = (await business.owner.get(path, headers=TEST, status=200)).data
    assert order["store"]["id"] == stores[0]


async def test_a_sale_is_recorded_and_paid(
    owner: Browser, business: Business, world: World
) -> None:
    """By the buttons of the pages alone, to the kobo; what was typed stays through all of them."""
    await plain(business, "Zobo", 1500.5)
    page = await owner.open("/desk/sell?search=Zobo")
    add = next(found["value"] for found in named(page, name="add"))
    await owner.submit(CHANGE, add=add or "", notes="no onions", discount_amount="1000")
    await owner.open(owner.onward)
    await owner.submit(CHANGE, more="0", search="Jollof")
    page = await owner.open(owner.onward)
    choose = next(found["value"] for found in named(page, name="choose"))
    await owner.submit(CHANGE, choose=choose or "", customer_name="Tunde Bakare")
    page = await owner.open(owner.onward)
    form = next(form for form in page.forms if form.action.startswith("/desk/sell/choose/"))
    choice = next(
        found for _, found in page.elements if (found.get("name") or "").startswith("choice.")
    )
    chosen = {choice["name"] or "": choice["value"] or "", "quantity": "3"}
    await owner.send(form.action, form.fields | chosen)
    page = await owner.open(owner.onward)
    await owner.submit(CHANGE, other="1", name="Delivery", price="2460.50")
    page = await owner.open(owner.onward)
    assert "3 lines" in page.words
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await owner.send("/desk/sell/record", fields)
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


async def test_a_cart_tells_what_its_lines_come_to(
    owner: Browser, business: Business, world: World
) -> None:
    """At the prices of the store that is chosen, as the order has them; each by its own name."""
    product, store = await business.made("/v1/products", {
        "name": "T-shirt", "base_price": 6000,
        "variants": [{"name": "Small"}, {"name": "Large", "price": 6500}],
    }), await business.store()  # fmt: skip
    ids = product["id"], *(one["id"] for one in product["variants"])
    shirt, small, large = (one.replace("-", "") for one in ids)
    address = f"/desk/sell?cart={shirt}_{small}_1~{shirt}_{large}_2.5"
    page = await owner.open(address)
    assert "T-shirt Small $6,000" in page.words
    assert "T-shirt Large $6,500 each $16,250" in page.words
    assert "Before discount, tax and charges $22,250" in page.words
    assert len(named(page, **{"aria-label": "One T-shirt, Large more"})) == 1
    change = {"prices": [{"store_id": store["id"], "price": 7000}]}
    path = f"/v1/variants/{product['variants'][1]['id']}"
    await business.owner.patch(path, change, headers=TEST, status=200)
    await owner.open("/desk/account")
    await owner.submit("/desk/store", store_id=store["id"])
    page = await owner.open(address)
    assert "$7,000 each $17,500" in page.words
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await owner.send("/desk/sell/record", fields)
    page = await owner.open(owner.onward.partition("#")[0])
    assert "Subtotal $23,500.00" in page.words
    page = await owner.open(f"/desk/sell?cart={shirt}_{small}_1~{'0' * 32}__1")
    assert "Before discount" not in page.words


async def test_a_double_click_is_one_sale_and_one_payment(
    owner: Browser, business: Business, world: World
) -> None:
    """Sent twice at once, and again after a reload."""
    line = await plain(business, "Zobo", 1500)
    page = await owner.open(f"/desk/sell?cart={line}")
    form = next(form for form in page.forms if form.action == CHANGE)
    before = await _count(business)
    others = [_copy(owner) for _ in range(4)]
    for pair in (others[:2], others[2:]):
        await asyncio.gather(*(one.send("/desk/sell/record", form.fields) for one in pair))
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


async def test_a_form_in_two_tabs_is_one_payment(
    owner: Browser, business: Business, world: World
) -> None:
    """Both were filled in with all that was owed then; another amount is refused with a word."""
    path = world.address("/desk/orders/{order_id}")
    await owner.open(path)
    tabs = [_copy(owner), _copy(owner)]
    for tab in tabs:
        await tab.open(path)
    first = await tabs[0].submit(f"{path}/payments", method="transfer")
    assert first
    await tabs[1].submit(f"{path}/payments", method="transfer")
    order = (await business.owner.get(f"/v1{path.removeprefix('/desk')}", headers=TEST)).data
    assert [one["amount"] for one in order["payments"]] == [3000, order["totalAmount"] - 3000]
    page = await owner.submit(f"{path}/payments", status=409, method="pos")
    assert "was sent before" in page.alerts[0]


async def test_a_refused_sale_loses_nothing(owner: Browser, business: Business) -> None:
    """The refusal stands at its field; cart, customer and notes are there."""
    line = await plain(business, "Zobo", 1500)
    page = await owner.open(f"/desk/sell?cart={line}")
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    typed = {"customer_name": "Tunde", "discount_amount": "much", "notes": "no onions"}
    page = await owner.send("/desk/sell/record", fields | typed, status=422)
    form = next(form for form in page.forms if form.action == CHANGE)
    assert form.fields["cart"] == line
    assert (form.fields["customer_name"], form.fields["notes"]) == ("Tunde", "no onions")
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == [
        "discount_amount"
    ]
    assert await _count(business) == 0


@pytest.mark.parametrize("price", ["1,50", "1.000,50", "-5", "1e3", "\uff11\uff10", "", ".5"])
async def test_a_price_is_never_guessed(price: str, owner: Browser) -> None:
    """An amount that is none is refused at its field, with all that was typed."""
    await owner.open("/desk/sell?notes=no+onions")
    page = await owner.submit(CHANGE, status=422, other="1", name="Delivery", price=price)
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == ["price"]
    form = next(form for form in page.forms if form.action == CHANGE)
    assert (form.fields["price"], form.fields["notes"]) == (price, "no onions")


async def test_a_sale_is_for_the_customer_that_it_began_with(
    owner: Browser, business: Business, world: World
) -> None:
    """By the way from the customer's page, whatever is added; under the name of the API."""
    page = await owner.open(world.address("/desk/customers/{customer_id}"))
    sale = next(link for link in page.links if link.startswith("/desk/sell?customer_id="))
    page = await owner.open(f"{sale}&customer_name=Somebody+else")
    assert "For Jollof rice" in page.words
    await owner.submit(CHANGE, other="1", name="Delivery", price="5")
    page = await owner.open(owner.onward)
    assert "For Jollof rice" in page.words
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await owner.send("/desk/sell/record", fields)
    order_id = owner.onward.partition("#")[0].rpartition("/")[2]
    order = (await business.owner.get(f"/v1/orders/{order_id}", headers=TEST, status=200)).data
    assert order["customer"]["id"] == world.ids["customer_id"]


async def test_goods_that_are_gone_can_be_taken_out(
    owner: Browser, make: Make, business: Business
) -> None:
    """Deleted, or of another business: nothing is told of them, and the rest of the cart stays."""
    other = await make.business()
    line, tea = await plain(other, "Their secret", 1500), CartLine(
        quantity=Decimal(1), name="Tea", price="5"
    ).text  # fmt: skip
    page = await owner.open(f"/desk/sell?cart={line}~{tea}")
    assert "Their secret" not in page.words
    assert "No longer sold" in page.words
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    page = await owner.send("/desk/sell/record", fields, status=422)
    assert "No longer sold" in page.words
    assert await _count(business) == 0
    await owner.submit(CHANGE, less="0")
    page = await owner.open(owner.onward)
    assert "1 line" in page.words
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await owner.send("/desk/sell/record", fields)


async def test_a_cart_that_is_cut_is_not_recorded(owner: Browser, business: Business) -> None:
    """The page says that something is missing, and the button sells nothing by itself."""
    tea = CartLine(quantity=Decimal(1), name="Tea", price="5").text
    for text in (f"{tea}~x_1000000_5_41", "~".join([tea] * 61), f"{tea}~", "nonsense"):
        page = await owner.open(f"/desk/sell?cart={text}", status=422)
        assert "can't be read" in page.alerts[0]
        fields = next(form for form in page.forms if form.action == CHANGE).fields
        await owner.send("/desk/sell/record", fields | {"cart": text}, status=422)
    assert await _count(business) == 0
    full = "~".join(
        CartLine(quantity=Decimal(1), name=f"Tea {number}", price="5").text for number in range(60)
    )
    await owner.open(f"/desk/sell?cart={full}")
    page = await owner.submit(CHANGE, status=422, other="1", name="One more", price="5")
    assert "The cart is full" in page.alerts[0]


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
    name=st.text(min_size=1, max_size=80).filter(lambda text: bool(text.strip())),
    price=st.decimals(0, 10**9, places=2).map(lambda price: f"{price:f}"),
)  # fmt: skip


@given(st.lists(LINES, max_size=12))
def test_a_cart_is_read_as_it_was_written(lines: list[CartLine]) -> None:
    """Every line, in its order; nothing in it needs escaping in an address."""
    whole = Cart(tuple(lines))
    assert cart.read(whole.text) == whole
    assert urlencode({"cart": whole.text}) == f"cart={whole.text}"


@given(st.text(max_size=200) | st.text("0123456789abcdefx_~-.", max_size=200))
def test_no_text_breaks_a_cart(text: str) -> None:
    """A part that is no line is left out, and the cart says so."""
    found = cart.read(text)
    assert all(line.quantity > 0 for line in found.lines)
    assert found.is_whole == (len(found.lines) == (text.count("~") + 1 if text else 0))


def test_the_same_goods_are_one_line() -> None:
    """Added twice they are two; with other choices they are others; one less of one is none."""
    tea = CartLine(quantity=Decimal(1), product=uuid4())
    sweet = CartLine(quantity=Decimal(1), product=tea.product, choices=((uuid4(), uuid4()),))
    found = Cart()
    for line in (tea, tea, sweet):
        found = found.with_line(line) or found
    assert [line.quantity for line in found.lines] == [2, 1]
    found = found.with_more(1, Decimal(-1)).with_more(0, Decimal(1))
    assert [line.quantity for line in found.lines] == [3]
    assert found.with_more(7, Decimal(1)) == found
    most = Cart((CartLine(quantity=Decimal(999_999), name="Tea", price="5"),))
    assert most.with_more(0, Decimal(1)) == most


async def test_a_sale_has_its_promotion_and_its_tags(owner: Browser, business: Business) -> None:
    """By the form alone; a category narrows the goods, and a bad tag is told at the field."""
    drinks = await business.made("/v1/categories", {"name": "Drinks"})
    food = await business.made("/v1/categories", {"name": "Food"})
    for name, category in (("Zobo", drinks), ("Jollof", food)):
        body = {"name": name, "base_price": 1000, "category_id": category["id"]}
        await business.made("/v1/products", body)
    offer = {"name": "Tenth off", "type": "percent", "value": 10}
    promotion = await business.made("/v1/promotions", offer)
    tag = await business.made("/v1/tags", {"name": "Delivery"})
    page = await owner.open("/desk/sell")
    assert {"Zobo", "Jollof"} <= set(page.words.split())
    await owner.submit(CHANGE, category_id=drinks["id"], tags="Delivery, Late night")
    page = await owner.open(owner.onward)
    assert "Zobo" in page.words.split()
    assert "Jollof" not in page.words.split()
    add = next(found["value"] for found in named(page, name="add"))
    await owner.submit(CHANGE, add=add or "", promotion_id=promotion["id"])
    page = await owner.open(owner.onward)
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    assert fields["promotion_id"] == promotion["id"]
    page = await owner.send("/desk/sell/record", fields | {"tags": "fine,\u202eevil"}, status=422)
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == ["tags"]
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await owner.send("/desk/sell/record", fields | {"tags": "Delivery, Late night"})
    order_id = owner.onward.partition("#")[0].rpartition("/")[2]
    order = (await business.owner.get(f"/v1/orders/{order_id}", headers=TEST, status=200)).data
    assert (order["totalAmount"], order["discountAmount"]) == (900, 100)
    assert [one["name"] for one in order["tags"]] == ["Delivery", "Late night"]
    assert order["tags"][0]["id"] == tag["id"]


async def test_a_school_sells_in_a_term(make: Make, signed_in: SignsIn) -> None:
    """The term is one of the school's."""
    business = await make.business(business_type="school")
    body = {"name": "First term", "starts_on": "2026-09-07", "ends_on": "2026-12-11"}
    term = await business.made("/v1/academic-terms", body)
    browser = await signed_in(business)
    line = await plain(business, "Tuition", 90000)
    page = await browser.open(f"/desk/sell?cart={line}")
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await browser.send("/desk/sell/record", fields | {"academic_term_id": term["id"]})
    order_id = browser.onward.partition("#")[0].rpartition("/")[2]
    order = (await business.owner.get(f"/v1/orders/{order_id}", headers=TEST, status=200)).data
    assert order["academicTerm"]["id"] == term["id"]


async def test_a_hotel_charges_a_room(make: Make, signed_in: SignsIn) -> None:
    """Rooms where somebody is checked in are offered, by number and guest, and no others."""
    business = await make.business(business_type="hotel")
    house = await House.open(business, rooms=2)
    stay = await house.book()
    await house.act(stay, "check-in")
    browser = await signed_in(business)
    line = await plain(business, "Supper", 45)
    page = await browser.open(f"/desk/sell?cart={line}")
    room = (await house.room_of(await house.read(stay)))["id"]
    at = next(index for index, (_, found) in enumerate(page.elements)
              if found.get("name") == "hotel_room_id")  # fmt: skip
    offered = [found["value"] for tag, found in page.elements[at + 1 : at + 4] if tag == "option"]
    assert offered[:2] == ["", room]
    assert f"{stay['guestName']}" in page.words
    fields = next(form for form in page.forms if form.action == CHANGE).fields
    await browser.send("/desk/sell/record", fields | {"hotel_room_id": room})
    folio = await house.api.get(f"/v1/hotel/reservations/{stay['id']}/folio", status=200)
    assert "Supper" in str(folio.data)
