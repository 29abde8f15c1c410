"""Payment links in the browser: made, found, shown with what became of them, cancelled."""

from typing import Any, get_args
from urllib.parse import urlencode

import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.world import TEST, fill_all, pay
from tests.make import Business, Make
from tillhouse.access.scopes import Role

LINKS, NEW = "/v1/payment-links", "/desk/links/new"
WRITES = {"owner", "admin", "manager", "cashier", "front_desk"}
READS = WRITES | {"developer"}


async def wallet_link(business: Business, **fields: Any) -> dict[str, Any]:
    """A link into the wallet."""
    body = {"title": "Deposit for Saturday", "amount": 250, **fields}
    return await business.made(f"{LINKS}/wallet/dynamic", body)


async def read(business: Business, link_id: str) -> dict[str, Any]:
    """A link as the API tells it."""
    return (await business.owner.get(f"{LINKS}/{link_id}", headers=TEST, status=200)).data


async def count(business: Business) -> int:
    """How many links there are."""
    return (await business.owner.get(LINKS, headers=TEST, status=200)).json["meta"]["total"]


async def test_a_list_has_views_and_a_search(owner: Browser, business: Business) -> None:
    """All in the address, with the next page."""
    assert "No links here" in (await owner.open("/desk/links")).words
    for number in range(27):
        await wallet_link(business, title=f"Class {number:02}")
    gone = await wallet_link(business, title="Gone")
    await business.owner.delete(f"{LINKS}/{gone['id']}", headers=TEST, status=200)
    page = await owner.open("/desk/links")
    assert "1 to 25 of 28 links" in page.words
    assert len(named(page, **{"aria-current": "page"})) == 2
    after = next(link for link in page.links if "page=2" in link)
    assert "26 to 28 of 28 links" in (await owner.open(after)).words
    active = next(link for link in page.links if "status=active" in link)
    page = await owner.open(active)
    assert "of 27 links" in page.words
    assert "Gone" not in page.words
    search = next(form for form in page.forms if form.action == "/desk/links")
    assert search.fields["status"] == "active"
    page = await owner.open(f"/desk/links?{urlencode(search.fields | {'search': 'Class 07'})}")
    assert "1 to 1 of 1 link" in page.words
    cancelled = next(link for link in page.links if "status=CANCELLED" in link)
    page = await owner.open(cancelled)
    assert f"/desk/links/{gone['id']}" in page.links
    assert not named(page, **{"data-copy": gone["url"]})
    await owner.open("/desk/links?status=broken", status=422)


async def test_a_link_into_the_wallet_is_made(owner: Browser, business: Business) -> None:
    """Each refusal stands at its field, and nothing that was typed is lost."""
    await owner.open(NEW)
    typed = {"title": "Deposit", "amount": "50.005", "redirect_url": "javascript:alert(1)",
             "customer.name": "Sade Balogun", "customer.email": "sade@"}  # fmt: skip
    page = await owner.submit(NEW, 422, **typed)
    wrong = {found["name"] for found in named(page, **{"aria-invalid": "true"})}
    assert wrong == {"amount", "redirect_url", "customer.email"}
    fields = next(form for form in page.forms if form.action == NEW).fields
    assert typed.items() <= fields.items()
    right = {"amount": "50.01", "redirect_url": "https://shop.example.com/thanks"}
    page = await owner.submit(NEW, 422, **right, **{"customer.email": ""})
    assert "needs an email or a phone_number" in page.words
    assert "#customer" in page.links
    await owner.submit(NEW, 303, **{"customer.email": "sade@mail.example"})
    made = owner.onward
    page = await owner.open(made)
    link = await read(business, made.rpartition("/")[2])
    assert (link["amount"], link["customerName"]) == (50.01, "Sade Balogun")
    assert link["redirectUrl"] == "https://shop.example.com/thanks"
    assert "Still to pay $50.01" in page.words
    assert named(page, **{"data-copy": link["url"]})
    assert f"/desk/customers/{link['customerId']}" in page.links


async def test_a_link_is_made_once(owner: Browser, business: Business) -> None:
    """However often the button is pressed."""
    await owner.open(NEW)
    form = next(form for form in owner.page.forms if form.action == NEW)
    fields = form.fields | {"title": "Deposit", "amount": "50"}
    await owner.send(NEW, fields)
    first = owner.onward
    await owner.send(NEW, fields)
    assert owner.onward == first
    assert await count(business) == 1


async def test_a_link_is_made_for_an_order(owner: Browser, business: Business) -> None:
    """Chosen from those that owe; it asks for what is still to be paid."""
    world = await fill_all(business)
    page = await owner.open(NEW)
    address = world.address(f"{NEW}?order_id={{order_id}}")
    assert address in page.links
    page = await owner.open(address)
    assert "Asks for $7,000.00" in page.words
    await owner.submit(address)
    first = owner.onward
    page = await owner.open(first)
    assert "Still to pay $7,000.00" in page.words
    assert world.address("/desk/orders/{order_id}") in page.links
    await owner.open(address)
    await owner.submit(address)
    assert owner.onward == first


async def test_a_link_is_made_for_a_debt(owner: Browser, business: Business) -> None:
    """And one that owes nothing any more is refused, on the same page."""
    world = await fill_all(business)
    debts = await business.owner.get("/v1/debts", headers=TEST, status=200)
    address = f"{NEW}?debt_id={debts.data[0]['id']}"
    page = await owner.open(address)
    assert "For the debt of Jollof rice" in page.words
    form = next(form for form in page.forms if form.action == address)
    await owner.submit(address)
    link = await read(business, owner.onward.rpartition("/")[2])
    assert (link["targetType"], link["amount"]) == ("debt", 7000)
    path = world.address("/v1/orders/{order_id}/payments")
    await business.made(path, {"amount": 7000, "method": "cash"})
    again = form.fields | {"idempotency_key": "9f0e3b1e-7a43-4a8e-8d4e-6f2f3c1f9a10"}
    page = await owner.send(address, again, status=400)
    assert "nothing outstanding" in page.alerts[0]


@pytest.mark.parametrize(
    ("case", "told"),
    [("under", "Less than asked for"), ("over", "More than asked for"), ("exact", None)],
)
async def test_a_link_tells_what_came_of_it(
    case: str, told: str | None, owner: Browser, business: Business
) -> None:
    """The state, the sums and everything unusual."""
    link = await wallet_link(business)
    await pay(business, link, case)
    after = await read(business, link["id"])
    page = await owner.open(f"/desk/links/{link['id']}")
    assert f"Received ${after['amountReceived']:,.2f}" in page.words
    assert ("Paid" in page.words) == (after["status"] == "PAID")
    assert ("What came of the payments" in page.words) == (told is not None)
    assert told is None or told in page.words
    listed = await owner.open("/desk/links")
    assert told is None or told in listed.words


async def test_a_code_shows_the_way_to_an_active_link(owner: Browser, business: Business) -> None:
    """As an image of this host, which the policy of the page allows."""
    link = await wallet_link(business)
    page = await owner.open(f"/desk/links/{link['id']}")
    image = next(found for tag, found in page.elements if tag == "img")
    assert image["src"] == f"/pay/{link['reference']}/qr.svg"
    drawn = await business.anybody.get(image["src"] or "", status=200)
    assert drawn.headers["content-type"] == "image/svg+xml"


async def test_a_link_is_cancelled(owner: Browser, business: Business) -> None:
    """A paid one isn't: the page says so and stays."""
    link = await wallet_link(business)
    address = f"/desk/links/{link['id']}"
    await owner.open(address)
    await owner.submit(f"{address}/cancel")
    page = await owner.open(owner.onward)
    assert (await read(business, link["id"]))["status"] == "CANCELLED"
    assert not [form for form in page.forms if form.action == f"{address}/cancel"]
    assert not [tag for tag, _ in page.elements if tag == "img"]
    paid = await wallet_link(business)
    address = f"/desk/links/{paid['id']}"
    await owner.open(address)
    await pay(business, paid, "exact")
    page = await owner.submit(f"{address}/cancel", status=409)
    assert "The link is paid" in page.alerts[0]


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """A button whose operation isn't allowed is absent."""
    link = await wallet_link(business)
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    assert ("/desk/links" in browser.page.links) == (role in READS)
    page = await browser.open("/desk/links", status=200 if role in READS else 403)
    assert (NEW in page.links) == (role in WRITES)
    address = f"/desk/links/{link['id']}"
    page = await browser.open(address, status=200 if role in READS else 403)
    actions = [form.action for form in page.forms]
    assert (f"{address}/cancel" in actions) == (role in WRITES)
    page = await browser.open(NEW, status=200 if role in WRITES else 403)
    fields = page.forms[0].fields
    await browser.send(f"{address}/cancel", fields, status=303 if role in WRITES else 403)
    wanted = fields | {"title": "Deposit", "amount": "50"}
    await browser.send(NEW, wanted, status=303 if role in WRITES else 403)


async def test_another_business_and_another_book_have_no_such_link(
    make: Make, business: Business, owner: Browser, signed_in: SignsIn
) -> None:
    """Not to be seen and not to be cancelled."""
    world = await fill_all(business)
    address = world.address("/desk/links/{link_id}")
    stranger = await signed_in(await make.business())
    await stranger.open(address, status=404)
    fields = stranger.page.forms[0].fields
    await stranger.send(f"{address}/cancel", fields, status=404)
    await stranger.open(world.address(f"{NEW}?order_id={{order_id}}"), status=404)
    await owner.open("/desk")
    await owner.submit("/desk/mode", mode="live")
    await owner.open(address, status=404)
    assert (await read(business, world.ids["link_id"]))["status"] == "active"


async def test_a_link_tells_its_payments_and_its_hour(owner: Browser, business: Business) -> None:
    """Of an order and into the wallet: each with its page; and the hour at which a link ends."""
    world = await fill_all(business)
    order_id = world.ids["order_id"]
    body = {"target_type": "sale", "target_id": order_id}
    made = await business.made("/v1/payment-links", body)
    await pay(business, made)
    page = await owner.open(f"/desk/links/{made['id']}")
    path = f"/v1/finance/transactions?order_id={order_id}"
    found = (await business.owner.get(path, headers=TEST, status=200)).data
    own = [one["id"] for one in found if one["paymentLinkId"] == made["id"]]
    assert own
    assert all(f"/desk/finance/transactions/{one}" in page.links for one in own)
    link = await wallet_link(business)
    page = await owner.open(f"/desk/links/{link['id']}")
    assert link["expiresAt"][13:16] in page.words.partition("Expires")[2]
    assert not [to for to in page.links if to.startswith("/desk/finance/transactions/")]
    await pay(business, link)
    page = await owner.open(f"/desk/links/{link['id']}")
    path = f"/v1/finance/transactions?payment_link_id={link['id']}"
    found = (await business.owner.get(path, headers=TEST, status=200)).data
    assert [one["amount"] for one in found] == [250]
    assert f"/desk/finance/transactions/{found[0]['id']}" in page.links


async def test_a_new_link_suggests_customers(owner: Browser, business: Business) -> None:
    """By the number and the address by which they are found."""
    body = {"name": "Sade Balogun", "phone_number": "+2348012345678", "email": "s@mail.example"}
    await business.made("/v1/customers", body)
    page = await owner.open(NEW)
    assert named(page, value="+2348012345678")
    assert named(page, value="s@mail.example")
    page = await owner.open("/desk/sell")
    assert named(page, value="Sade Balogun")
