"""The palette as a page, the table of keys, and single letters that can be switched off."""

from typing import get_args

import pytest

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.desk.test_live import headers_of
from tests.desk.world import TEST, World, fill_all
from tests.make import Business, Make
from tillhouse.access.scopes import Role
from tillhouse.app import App
from tillhouse.desk.frame.places import ENTRIES
from tillhouse.desk.frame.sentences import SENTENCES
from tillhouse.desk.pages import PAGES


@pytest.fixture(scope="module")
async def full(app: App) -> tuple[Business, World]:
    """A business with one of everything, for those tests that only look."""
    business = await Make(app, app.services).business()
    return business, await fill_all(business)


@pytest.fixture
async def browsing(full: tuple[Business, World], signed_in: SignsIn) -> Browser:
    """Its owner, in the test book."""
    return await signed_in(full[0])


async def test_without_words_it_leads_to_every_page(browsing: Browser) -> None:
    """And to what can be done."""
    page = await browsing.open("/desk/search")
    for address in ("/desk/orders", "/desk/wallet", "/desk/account", "/desk/keys", "/desk/sell",
                    "/desk/links/new"):  # fmt: skip
        assert address in page.links


async def test_every_area_names_its_pages_and_actions(browsing: Browser) -> None:
    """Those of the navigation, and what an area says of its own; only with the word in it."""
    for words, address in (
        ("tables", "/desk/settings/tables"),
        ("new ta", "/desk/settings/tables/new"),
        ("kitchen", "/desk/settings/kitchen"),
        ("new cust", "/desk/customers/new"),
        ("promo", "/desk/products/promotions"),
        ("expenses", "/desk/finance/expenses"),
        ("payout", "/desk/wallet/accounts"),
        ("settings", "/desk/settings"),
        ("invite", "/desk/people/invite"),
        ("second", "/desk/people/second-factor"),
        ("second", "/desk/account/second-factor"),
        ("new key", "/desk/developers/keys/new"),
        ("first", "/desk/developers/begin"),
        ("apps", "/desk/developers/keys/apps"),
        ("new end", "/desk/developers/webhooks/new"),
        ("deliveries", "/desk/developers/webhooks/deliveries"),
        ("signing", "/desk/developers/webhooks/signing"),
        ("events", "/desk/developers/events"),
        ("usage", "/desk/developers/usage"),
    ):
        page = await browsing.open(f"/desk/search?q={words.replace(' ', '+')}")
        assert address in page.links
    assert "/desk/settings/tables" not in (await browsing.open("/desk/search?q=kitchen")).links


async def found_by(browser: Browser, words: str) -> list[str]:
    """The addresses that the palette finds by these words."""
    await browser.open("/desk/search")
    page = await browser.open(f"/desk/search?q={words}", 200, **headers_of(browser, "found"))
    return page.links


async def test_other_words_find_pages_too(browsing: Browser) -> None:
    """For what people want to do, whatever the page is called; those named so come first."""
    for words, address in (
        ("refund", "/desk/orders"),
        ("passw", "/desk/account"),
        ("dark", "/desk/account"),
        ("tax", "/desk/settings"),
        ("invoice", "/desk/links/new"),
        ("staff", "/desk/people"),
        ("webhook", "/desk/developers/webhooks/deliveries"),
        ("chargeback", "/desk/finance/disputes"),
    ):
        assert address in await found_by(browsing, words)
    assert "/desk/orders" not in await found_by(browsing, "fund")
    links = await found_by(browsing, "payout")
    assert links.index("/desk/wallet/accounts") < links.index("/desk/wallet/withdrawals")


def test_other_words_are_of_places() -> None:
    """A page that has another name by now would be found by them no more."""
    names = {f"nav.{entry.name}" for entry in ENTRIES}
    names |= {page.goal.name for page in PAGES if page.goal}
    assert {name.removeprefix("also.") for name in SENTENCES if name.startswith("also.")} <= names


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_is_led_where_it_may_go(
    role: str, make: Make, full: tuple[Business, World], signed_in: SignsIn
) -> None:
    """Each page that the palette offers opens."""
    browser = await signed_in(await make.member(full[0], role))
    page = await browser.open("/desk/search")
    for address in {link.partition("#")[0] for link in page.links if link.startswith("/desk")}:
        await browser.open(address)


async def test_words_find_pages_and_things(browsing: Browser, full: tuple[Business, World]) -> None:
    """By the search of the API, some of each."""
    page = await browsing.open("/desk/search?q=jollof")
    for path in ("/desk/orders/{order_id}", "/desk/customers/{customer_id}",
                 "/desk/products/{product_id}", "/desk/links/{link_id}"):  # fmt: skip
        assert full[1].address(path) in page.links
    page = await browsing.open("/desk/search?q=wall")
    assert "/desk/wallet" in page.links
    assert "Nothing is called" in (await browsing.open("/desk/search?q=zzzzzz")).words


@pytest.mark.parametrize("role", get_args(Role))
async def test_people_are_found_by_roles_that_open_their_pages(
    role: str, make: Make, signed_in: SignsIn
) -> None:
    """By name with the role in words, and by id; others read the name elsewhere, and go nowhere."""
    business = await make.business()
    cook = await make.member(business, "kitchen")
    listed = (await business.owner.get("/v1/members", status=200)).data
    found = next(one for one in listed if one["role"] == "kitchen")
    address = f"/desk/people/{found['id']}"
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    page = await browser.open(f"/desk/search?q={found['name'].split()[0]}")
    may_open = role in {"owner", "admin"}
    assert (address in page.links) == may_open, cook.email
    await browser.open(f"/desk/search?q={found['id']}", status=303 if may_open else 200)
    assert not may_open or browser.onward == address


@pytest.mark.parametrize(
    "path",
    ["/desk/orders/{order_id}", "/desk/customers/{customer_id}", "/desk/products/{product_id}",
     "/desk/links/{link_id}", "/desk/finance/transactions/{transaction_id}",
     "/desk/settings/tables/{table_id}"],
)  # fmt: skip
async def test_an_id_leads_straight_to_its_thing(
    path: str, browsing: Browser, full: tuple[Business, World]
) -> None:
    """But not from the palette, which asks while somebody types."""
    address = full[1].address(path)
    query = f"/desk/search?q={address.rpartition('/')[2]}"
    await browsing.open(query, status=303)
    assert browsing.onward == address
    await browsing.open("/desk/search")
    page = await browsing.open(query, 200, **headers_of(browsing, "found"))
    assert page.links == [address]


async def test_a_code_leads_straight_to_its_thing(
    browsing: Browser, full: tuple[Business, World]
) -> None:
    """That of an order, of a payment link and of a transaction, whichever case it is typed in."""
    business, world = full
    for path, field, address in (
        ("/v1/orders/{order_id}", "shortCode", "/desk/orders/{order_id}"),
        ("/v1/payment-links/{link_id}", "reference", "/desk/links/{link_id}"),
    ):
        thing = (await business.owner.get(world.address(path), headers=TEST, status=200)).data
        await browsing.open(f"/desk/search?q={thing[field]}", status=303)
        assert browsing.onward == world.address(address)
    code = (await business.owner.get(world.address("/v1/orders/{order_id}"), headers=TEST)).data
    await browsing.open(f"/desk/search?q={code['shortCode'].lower()}", status=303)


async def test_a_search_finds_only_the_roles_own_lists(
    make: Make, full: tuple[Business, World], signed_in: SignsIn
) -> None:
    """A cashier sees no transactions, and nobody what is another business's."""
    business, world = full
    cashier = await signed_in(await make.member(business, "cashier"))
    page = await cashier.open("/desk/search?q=jollof")
    assert world.address("/desk/orders/{order_id}") in page.links
    assert not [link for link in page.links if "/finance/" in link]
    page = await cashier.open(f"/desk/search?q={world.ids['transaction_id']}")
    assert "Nothing is called" in page.words
    stranger = await signed_in(await make.business())
    assert "Nothing is called" in (await stranger.open("/desk/search?q=jollof")).words
    page = await stranger.open(f"/desk/search?q={world.ids['order_id']}")
    assert "Nothing is called" in page.words


@pytest.mark.parametrize(
    "words",
    ["j", "%25", "x" * 61, "x" * 2000, "a" * 60, "+", "0803", "%F0%9F%98%80"],
)
async def test_any_words_are_answered(words: str, browsing: Browser) -> None:
    """None is an error: too short, too long, or of no list's kind."""
    await browsing.open(f"/desk/search?q={words}")


async def test_the_table_of_keys_is_a_page_and_a_block(browsing: Browser) -> None:
    """With the letters of the pages that the role opens."""
    page = await browsing.open("/desk/keys")
    assert "Payment links" in page.words
    await browsing.open("/desk/keys", 200, **headers_of(browsing, "keys"))
    assert browsing.response.headers["tillhouse-block"] == "keys"


async def test_single_letters_can_be_switched_off(owner: Browser) -> None:
    """In this browser, and on again."""
    for keys, is_off in (("off", True), ("", False)):
        await owner.open("/desk/account")
        await owner.submit("/desk/account/keys", keys=keys)
        await owner.open("/desk/orders")
        assert (b'data-keys="off"' in owner.response.body) == is_off
    await owner.open("/desk/account")
    await owner.submit("/desk/account/keys", 404, keys="perhaps")
