"""Orders in the browser: lists and views, one order, its money, its kitchen and its end."""

from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.world import World, fill
from tests.make import Business, Make
from tillhouse.access.scopes import Role
from tillhouse.kit.ids import new_id

TEST = {"service-environment": "test"}
SELLS = {"owner", "admin", "manager", "cashier", "front_desk"}
COOKS = SELLS | {"kitchen"}
READS = COOKS | {"developer"}


@pytest.fixture
async def world(business: Business) -> World:
    """Goods, a customer and an order of 10,000 of which 3,000 are paid in cash."""
    return await fill(business)


def order_of(world: World) -> str:
    """The address of the order."""
    return world.address("/desk/orders/{order_id}")


async def read(business: Business, world: World) -> dict[str, object]:
    """The order as the API tells it."""
    path = world.address("/v1/orders/{order_id}")
    return (await business.owner.get(path, headers=TEST, status=200)).data


async def test_a_list_has_views_searches_and_pages(owner: Browser, business: Business) -> None:
    """All in the address: it can be shared, and Back works."""
    for number in range(30):
        line = {"product_name": "Tea", "quantity": 1, "custom_price": 100 + number}
        await business.made("/v1/orders", {"items": [line], "customer_name": f"Guest {number:02}"})
    page = await owner.open("/desk/orders")
    assert "1 to 25 of 30 orders" in page.words
    after = next(link for link in page.links if "page=2" in link)
    page = await owner.open(after)
    assert "26 to 30 of 30 orders" in page.words
    page = await owner.open("/desk/orders?search=Guest+07&status=pending")
    assert "1 to 1 of 1 order" in page.words
    search = next(form for form in page.forms if form.action == "/desk/orders")
    assert search.fields["status"] == "pending"
    unpaid = next(link for link in page.links if "payment_status" in link)
    page = await owner.open(unpaid)
    assert "of 30 orders" in page.words
    scheduled = next(link for link in page.links if "status=scheduled" in link)
    assert "No orders here" in (await owner.open(scheduled)).words
    page = await owner.open("/desk/orders?page=x", status=422)
    assert "page" in page.alerts[0]


async def test_a_code_leads_to_its_order(
    owner: Browser, business: Business, world: World, make: Make, signed_in: SignsIn
) -> None:
    """As people say it, in this book alone; what is no code of one is nothing."""
    code = str((await read(business, world))["shortCode"])
    for written in (code, code.lower()):
        await owner.open(f"/desk/orders/{written}", status=303)
        assert owner.onward == order_of(world)
    stranger = await signed_in(await make.business())
    await stranger.open(f"/desk/orders/{code}", status=404)
    for wrong in (code[:-1], "x", "x" * 61, "Jollof", f"{code}/refund"):
        await owner.open(f"/desk/orders/{wrong}", status=404)


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A button whose operation isn't allowed is absent."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    await browser.open(order_of(world), status=200 if role in READS else 403)
    actions = [form.action for form in browser.page.forms]
    path = order_of(world)
    assert (f"{path}/payments" in actions) == (role in SELLS)
    assert (f"{path}/refund" in browser.page.links) == (role in SELLS)
    assert (f"{path}/cancel" in browser.page.links) == (role in SELLS)
    assert (f"{path}/kitchen" in actions) == (role in COOKS)
    await browser.open("/desk/orders", status=200 if role in READS else 403)


async def test_sums_lead_to_what_is_to_be_paid(
    owner: Browser, business: Business, world: World
) -> None:
    """Each as the API tells it."""
    page = await owner.open(order_of(world))
    order = await read(business, world)
    assert order["totalAmount"] == 10_000
    for told in ("Subtotal $10,000.00", "Total $10,000.00", "Paid $3,000.00",
                 "To collect $7,000.00"):  # fmt: skip
        assert told in page.words


async def test_a_wrong_payment_is_refused_at_its_field(
    owner: Browser, business: Business, world: World
) -> None:
    """And nothing that was typed is lost."""
    await owner.open(order_of(world))
    page = await owner.submit(
        f"{order_of(world)}/payments", status=422, amount="x", method="pos", reference="slip 7"
    )
    form = next(form for form in page.forms if form.action.endswith("/payments"))
    assert (form.fields["amount"], form.fields["reference"]) == ("x", "slip 7")
    page = await owner.submit(
        f"{order_of(world)}/payments", status=400, amount="7", method="credit"
    )
    assert len((await read(business, world))["payments"]) == 1  # type: ignore[arg-type]


async def test_two_people_do_not_take_the_same_money(
    business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """A form that shows another amount as paid is shown again, with the order as it stands."""
    cashier = await signed_in(await make.member(business, "cashier"))
    owner = await signed_in(business)
    path, code = order_of(world), str((await read(business, world))["shortCode"])
    # Forms of the cashier after the owner gave or took money, each of a page opened before.
    stale = {
        path: (f"{path}/payments", {}),
        f"{path}/refund": (f"{path}/refunds", {"amount": "40"}),
        f"{path}/cancel": (f"{path}/cancel", {"code": code}),
    }
    for page, (action, fields) in stale.items():
        await cashier.open(page)
        await owner.open(page if page == path else f"{path}/refund")
        target = action if page == path else f"{path}/refunds"
        await owner.submit(target, **({} if page == path else {"amount": "40"}))
        refused = await cashier.submit(action, status=409, **fields)
        assert "paid by now" in refused.alerts[0]
    order = await read(business, world)
    assert (order["amountPaid"], order["status"]) == (10_000 - 80, "completed")


async def test_lines_go_back(owner: Browser, business: Business, world: World) -> None:
    """By quantities; the method is asked for where there were several."""
    path = order_of(world)
    await owner.open(path)
    await owner.submit(f"{path}/payments", method="transfer")
    page = await owner.open(f"{path}/refund")
    line = next(
        name for _, found in page.elements if (name := found.get("name") or "").startswith("lines.")
    )
    cold = page.forms[-1].fields | {line: "1", "reason": "Cold"}
    page = await owner.send(f"{path}/refunds", cold, status=422)
    assert [found["name"] for _, found in page.elements if "aria-invalid" in found] == ["method"]
    await owner.send(f"{path}/refunds", page.forms[-1].fields | cold | {"method": "transfer"})
    page = await owner.open(owner.onward)
    assert "Paid $10,000.00 Given back \N{MINUS SIGN}$5,000.00 Kept $5,000.00" in page.words
    assert "1 × Jollof rice (Jollof rice), Cold" in page.words
    assert "Completed Part refunded" in page.words
    assert "Part refunded" in (await owner.open("/desk/orders")).words
    order = await read(business, world)
    assert (order["refundedAmount"], order["amountPaid"]) == (5_000, 5_000)


async def test_a_refund_offers_the_ways_that_it_can_go(owner: Browser, business: Business) -> None:
    """The one by which all came is chosen; nothing is online that wasn't, nor anybody's credit."""
    line = {"product_name": "Tea", "quantity": 2, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line], "amount_paid": 10})
    path = f"/desk/orders/{order['id']}"

    async def offered() -> tuple[str, list[str]]:
        page = await owner.open(f"{path}/refund")
        found = next(form for form in page.forms if form.action == f"{path}/refunds")
        options = [one["value"] or "" for tag, one in page.elements if tag == "option"]
        return found.fields["method"], [one for one in options if not one.startswith("/")]

    method, options = await offered()
    assert method == "cash"
    assert not {"", "pos", "cloove_pay", "credit"} & set(options)
    await owner.submit(f"{path}/refunds", amount="4")
    await business.made(f"/v1/orders/{order['id']}/payments", {"amount": 34, "method": "pos"})
    method, options = await offered()
    assert method == ""
    assert {"cash", "pos"} <= set(options)
    assert "Cash ($6.00 came)" in owner.page.words


async def test_a_refund_shows_what_it_comes_to_first(owner: Browser, business: Business) -> None:
    """All that was typed stays, nothing is done; a fault stands at its line."""
    line = {"product_name": "Tea", "quantity": 2, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line], "amount_paid": 40})
    path, name = f"/desk/orders/{order['id']}", f"lines.{order['items'][0]['id']}"
    await owner.open(f"{path}/refund")
    page = await owner.submit(f"{path}/refunds", 200, **{name: "1", "preview": "true"})
    assert "$20.00 would be given back. Nothing is done yet." in page.words
    assert "Refund $20.00" in page.words
    form = next(form for form in page.forms if form.action == f"{path}/refunds")
    assert form.fields[name] == "1"
    page = await owner.submit(f"{path}/refunds", 422, **{name: "3", "preview": "true"})
    assert "must not exceed the 2" in page.words
    assert "Given back" not in (await owner.open(path)).words
    await owner.open(f"{path}/refund")
    await owner.submit(f"{path}/refunds", **{name: "1"})
    assert "Given back \N{MINUS SIGN}$20.00" in (await owner.open(path)).words


async def test_what_was_given_back_is_not_called_paid(owner: Browser, business: Business) -> None:
    """On its page and in the list, where it wears one word for its money."""
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line], "amount_paid": 20})
    path = f"/desk/orders/{order['id']}"
    await business.made(f"/v1/orders/{order['id']}/refunds", {"amount": 20})
    page = await owner.open(path)
    assert "Refunded Paid" not in page.words
    assert "Paid $20.00 Given back \N{MINUS SIGN}$20.00 Kept $0.00" in page.words
    for path in ("/desk/orders", "/desk/orders?status=cancelled,refunded"):
        page = await owner.open(path)
        assert page.words.count("Refunded Refunded") == 1
        assert "Refunded Paid" not in page.words


@pytest.mark.parametrize("name", ["Bola", None])
async def test_what_is_paid_over_a_lowered_total_is_told(
    owner: Browser, business: Business, name: str | None
) -> None:
    """It is the credit of the customer, or of nobody known; change in cash is neither."""
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 85}
    body = {"items": [line], "amount_paid": 85, "payment_method": "pos"}
    order = await business.made("/v1/orders", body | ({"customer_name": name} if name else {}))
    path = f"/desk/orders/{order['id']}"
    assert "Over the total" not in (await owner.open(path)).words
    lower = {"total_amount": 70}
    await business.owner.patch(f"/v1/orders/{order['id']}", lower, headers=TEST, status=200)
    whose = "credit of the customer" if name else "of no known customer"
    assert f"Over the total: {whose} $15.00" in (await owner.open(path)).words
    paid = await business.made("/v1/orders", {"items": [line], "amount_paid": 100})
    page = await owner.open(f"/desk/orders/{paid['id']}")
    assert "Change" in page.words
    assert "Over the total" not in page.words


async def test_an_order_is_recorded_before_it_is_paid(owner: Browser, business: Business) -> None:
    """Also where both are of one moment: the newest is told first."""
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line], "amount_paid": 20})
    page = await owner.open(f"/desk/orders/{order['id']}")
    told = page.words.partition("Time line")[2]
    assert 0 < told.index("$20.00 by Cash") < told.index("Recorded")


async def test_an_order_is_cancelled_by_its_code(
    owner: Browser, business: Business, world: World
) -> None:
    """Another code cancels nothing."""
    path = order_of(world)
    order = await read(business, world)
    await owner.open(f"{path}/cancel")
    page = await owner.submit(f"{path}/cancel", status=422, code="NOPE", cancellation_reason="Left")
    form = next(form for form in page.forms if form.action == f"{path}/cancel")
    assert form.fields["cancellation_reason"] == "Left"
    code = str(order["shortCode"]).lower()
    await owner.submit(f"{path}/cancel", code=f" {code} ", cancellation_reason="Left")
    page = await owner.open(owner.onward)
    order = await read(business, world)
    assert order["status"] == "cancelled"
    assert f"{path}/cancel" not in page.links


async def test_the_kitchen_is_moved_on(owner: Browser, business: Business, world: World) -> None:
    """Sent, then stage by stage."""
    path = order_of(world)
    page = await owner.open(path)
    if f"{path}/kitchen" in [form.action for form in page.forms]:
        await owner.submit(f"{path}/kitchen")
        await owner.open(path)
    for stage in ("preparing", "ready", "served"):
        await owner.submit(f"{path}/stage", stage=stage)
        await owner.open(path)
        assert (await read(business, world))["kitchenTicketStatus"] == stage
    assert f"{path}/stage" not in [form.action for form in owner.page.forms]


async def test_a_receipt_opens(owner: Browser, world: World) -> None:
    """On this host, by its signed address."""
    await owner.open(order_of(world))
    await owner.submit(f"{order_of(world)}/receipt")
    assert owner.onward.startswith("/receipts/")
    await owner.open(owner.onward)


async def test_another_business_has_no_such_order(
    owner: Browser, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen, and not to be paid, given back or cancelled; nor by the other mode."""
    path = order_of(world)
    page = await owner.open(path)
    forms = [form for form in page.forms if form.action.startswith(path)]
    stranger = await signed_in(await make.business())
    for address in (path, f"{path}/refund", f"{path}/cancel", f"/desk/orders/{new_id()}"):
        await stranger.open(address, status=404)
    own = stranger.page.forms[0].fields
    for form in forms:
        await stranger.send(form.action, form.fields | own, status=404)
    await owner.submit("/desk/mode", mode="live")
    await owner.open(path, status=404)


@pytest.mark.parametrize("role", ["owner", "developer", "cashier"])
async def test_webhooks_of_an_order_are_told_to_its_developers(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Those about it, and about no other order."""
    await business.endpoint(events=["order.created", "payment.received"])
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line], "amount_paid": 20})
    other = await business.made("/v1/orders", {"items": [line]})
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    page = await browser.open(f"/desk/orders/{order['id']}")
    shown = page.words.count("order.created"), page.words.count("payment.received")
    assert shown == ((1, 1) if role != "cashier" else (0, 0))
    page = await browser.open(f"/desk/orders/{other['id']}")
    assert page.words.count("payment.received") == 0


async def test_webhooks_of_the_ticket_stand_on_the_order(
    owner: Browser, business: Business
) -> None:
    """The kitchen's are about its ticket, which is of the order."""
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line]})
    await business.endpoint(events=["kitchen_ticket.created"])
    page = await owner.open(f"/desk/orders/{order['id']}")
    assert "kitchen_ticket.created" not in page.words
    await owner.submit(f"/desk/orders/{order['id']}/kitchen")
    page = await owner.open(owner.onward)
    assert "kitchen_ticket.created" in page.words


async def test_a_shop_is_offered_what_it_uses(owner: Browser, business: Business) -> None:
    """No credit without a customer; the kitchen without a card of its own."""
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 20}
    order = await business.made("/v1/orders", {"items": [line]})
    page = await owner.open(f"/desk/orders/{order['id']}")
    options = [one["value"] for tag, one in page.elements if tag == "option"]
    assert "cash" in options
    assert "credit" not in options
    assert f"/desk/orders/{order['id']}/kitchen" in [form.action for form in page.forms]
