"""Settings in the browser: the business, how it sells, and what customers hear of the kitchen."""

from typing import Any, get_args

import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.goods import form_of, read, wrong
from tests.desk.world import TEST
from tests.make import Business, Make
from tillhouse.access.scopes import Role

SETTINGS = "/desk/settings"
BUSINESS, SALES, KITCHEN = f"{SETTINGS}/business", f"{SETTINGS}/sales", f"{SETTINGS}/kitchen"
ADDRESS = {
    "address.lines": "12 Marina Road\n\nFloor 2", "address.city": "Lagos",
    "address.region": "Lagos State", "address.postal_code": "101241", "address.country": "NG",
}  # fmt: skip


async def shown(business: Business) -> dict[str, Any]:
    """The business as the API tells it."""
    return await read(business, "/v1/business")


async def test_the_business_is_changed(owner: Browser, business: Business) -> None:
    """All that receipts say of it, and what is emptied says nothing any more."""
    await owner.open(BUSINESS)
    await owner.submit(
        BUSINESS, name="Ada's Kitchen", legal_name="Ada's Kitchen Limited", type="restaurant",
        receipt_footer="Thank you.\nGoods are exchanged.",
        **ADDRESS, **{"tax_numbers.0.label": "TIN", "tax_numbers.0.number": "12345678-0001"},
    )  # fmt: skip
    assert owner.onward == BUSINESS
    told = await shown(business)
    assert (told["name"], told["type"]) == ("Ada's Kitchen", "restaurant")
    assert told["legalName"] == "Ada's Kitchen Limited"
    assert told["address"]["lines"] == ["12 Marina Road", "Floor 2"]
    assert told["address"]["postalCode"] == "101241"
    assert told["taxNumbers"] == [{"label": "TIN", "number": "12345678-0001"}]
    assert told["receiptFooter"] == "Thank you.\nGoods are exchanged."
    page = await owner.open(BUSINESS)
    fields = form_of(page, BUSINESS).fields
    assert fields["address.lines"] == "12 Marina Road\nFloor 2"
    # There is a place for one more.
    assert (fields["tax_numbers.0.label"], fields["tax_numbers.1.label"]) == ("TIN", "")
    empty = dict.fromkeys((*ADDRESS, "legal_name", "receipt_footer"), "")
    await owner.submit(BUSINESS, **empty, **{"tax_numbers.0.label": "", "tax_numbers.0.number": ""})
    told = await shown(business)
    assert [told[name] for name in ("legalName", "address", "receiptFooter")] == [None] * 3
    assert told["taxNumbers"] == []
    assert told["name"] == "Ada's Kitchen"


async def test_a_country_is_chosen_by_its_name(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """One that has none here, since the API takes more, stays until another is chosen."""
    await owner.open(BUSINESS)
    await owner.submit(BUSINESS, country="CI")
    page = await owner.open(BUSINESS)
    assert form_of(page, BUSINESS).fields["country"] == "CI"
    cashier = await signed_in(await make.member(business, "cashier"))
    assert "Ivoire" in (await cashier.open(BUSINESS)).words
    await business.owner.patch("/v1/business", {"country": "AQ"}, headers=TEST, status=200)
    await owner.open(BUSINESS)
    await owner.submit(BUSINESS, name="Bola's")
    assert [(await shown(business))[name] for name in ("name", "country")] == ["Bola's", "AQ"]


async def test_every_wrong_field_is_named_and_nothing_typed_is_lost(
    owner: Browser, business: Business
) -> None:
    """Those of the address and of the tax numbers, too."""
    await owner.open(BUSINESS)
    page = await owner.submit(
        BUSINESS, 422, name="", time_zone="Lagos", country="Nigeria", receipt_footer="kept",
        **{"address.lines": "x" * 121, "tax_numbers.0.label": "TIN"},
    )  # fmt: skip
    assert {*wrong(page)} == {
        "name", "country", "time_zone", "address.lines", "address.city", "tax_numbers.0.number"
    }  # fmt: skip
    fields = form_of(page, BUSINESS).fields
    assert (fields["receipt_footer"], fields["time_zone"]) == ("kept", "Lagos")
    assert fields["address.lines"] == "x" * 121
    assert "Tax number 1" in page.alerts[0]
    assert (await shown(business))["receiptFooter"] is None


async def test_a_zone_that_stands_is_refused_with_the_reason(
    owner: Browser, business: Business
) -> None:
    """Once live sales are recorded by its days."""
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": 20}
    await business.made("/v1/orders", {"items": [line]}, "live")
    await owner.open(BUSINESS)
    page = await owner.submit(BUSINESS, 409, time_zone="Asia/Tokyo", legal_name="Ada Limited")
    assert "The time zone stands" in page.alerts[0]
    assert form_of(page, BUSINESS).fields["legal_name"] == "Ada Limited"


async def test_how_totals_are_made_is_changed(owner: Browser, business: Business) -> None:
    """Tax in prices, stock that runs out, goods of cancelled orders."""
    for inclusive, policy, restocks in (("false", "allow", "true"), ("true", "deny", "")):
        await owner.open(SALES)
        form = form_of(owner.page, SALES)
        form.fields.pop("restocks_cancelled", None)
        extra = {"restocks_cancelled": restocks} if restocks else {}
        await owner.submit(SALES, tax_inclusive=inclusive, stock_policy=policy, **extra)
        told = await shown(business)
        assert told["taxInclusive"] == (inclusive == "true")
        assert (told["stockPolicy"], told["restocksCancelled"]) == (policy, bool(restocks))
    await owner.open(SALES)
    page = await owner.submit(SALES, 422, stock_policy="perhaps")
    assert wrong(page) == ["stock_policy"]


async def test_a_charge_for_service_is_set(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Its share and its modes, which others read; a wrong one is told, and nothing is lost."""
    page = await owner.open(SALES)
    fields = form_of(page, SALES).fields
    assert (fields["service_charge_percent"], fields["service_charge_modes"]) == ("", "dine_in")
    cashier = await signed_in(await make.member(business, "cashier"))
    assert "Service charge No" in (await cashier.open(SALES)).words
    await owner.send(SALES, fields | {"service_charge_percent": "12.50"})
    assert (await shown(business))["serviceChargePercent"] == 12.5
    body = {"service_charge_modes": ["takeaway", "room_service"]}
    await business.owner.patch("/v1/business", body, status=200)
    assert "Service charge 12.5 %: Takeaway, Room service" in (await cashier.open(SALES)).words
    page = await owner.open(SALES)
    checked = [found["value"] for found in named(page, name="service_charge_modes")
               if "checked" in found]  # fmt: skip
    assert checked == ["takeaway", "room_service"]
    for percent in ("0", "100.01", "1.005", "12 %", "1,5"):
        page = await owner.send(SALES, fields | {"service_charge_percent": percent}, status=422)
        assert wrong(page) == ["service_charge_percent"]
        assert form_of(page, SALES).fields["service_charge_percent"] == percent
    page = await owner.send(SALES, fields | {"service_charge_modes": "delivery"}, status=422)
    assert "Orders with a service charge" in page.alerts[0]
    del fields["service_charge_modes"]
    await owner.send(SALES, fields | {"service_charge_percent": ""})
    told = await shown(business)
    assert (told["serviceChargePercent"], told["serviceChargeModes"]) == (None, [])


async def test_messages_of_the_kitchen_are_set(owner: Browser, business: Business) -> None:
    """Each stage by itself, with a template for those who can't be written freely."""
    path = "/v1/kitchen/stage-messages"
    await owner.open(KITCHEN)
    await owner.submit(
        KITCHEN,
        **{"ready.is_sent": "true", "ready.text": "Hi {customer}, {code} is ready.",
           "ready.template": "order_ready", "ready.language": "en", "served.text": "<b>Bye</b>"},
    )  # fmt: skip
    told = {one["stage"]: one for one in await read(business, path)}
    assert told["ready"]["isSent"]
    assert told["ready"]["text"] == "Hi {customer}, {code} is ready."
    assert told["ready"]["template"] == {"name": "order_ready", "language": "en"}
    assert (told["served"]["text"], told["served"]["isSent"]) == ("<b>Bye</b>", False)
    page = await owner.open(KITCHEN)
    assert form_of(page, KITCHEN).fields["served.text"] == "<b>Bye</b>"
    wrong_fields = {"queued.text": "x" * 1001, "ready.template": "Order Ready", "served.text": "y"}
    page = await owner.submit(KITCHEN, 422, **wrong_fields)
    assert {*wrong(page)} == {"queued.text", "ready.template"}
    assert form_of(page, KITCHEN).fields["served.text"] == "y"
    assert "Ready: Name of the template" in page.alerts[0]


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_reads_or_changes(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """The owner and admins change the business; others read it, or have no entry at all."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    reads = role not in ("kitchen", "housekeeping")
    assert (SETTINGS in browser.page.links) == reads
    await browser.open(SETTINGS, status=200 if reads else 403)
    changes = role in ("owner", "admin")
    for address in (BUSINESS, SALES):
        page = await browser.open(address)
        assert (address in [form.action for form in page.forms]) == changes
        fields = page.forms[0].fields
        await browser.send(address, {**fields, "name": ""}, status=422 if changes else 403)
    writes = role in ("owner", "admin", "manager", "cashier", "front_desk")
    page = await browser.open(KITCHEN, status=403 if role == "housekeeping" else 200)
    assert (KITCHEN in [form.action for form in page.forms]) == writes
    await browser.send(KITCHEN, page.forms[0].fields, status=303 if writes else 403)
    assert (await shown(business))["name"] == "Ada's"


async def test_a_page_has_the_sections_of_its_kind_of_business(
    make: Make, signed_in: SignsIn
) -> None:
    """And leads to the others apart; appearance stands with the account."""
    browser = await signed_in(await make.business(business_type="school"))
    page = await browser.open(BUSINESS)
    assert f"{SETTINGS}/terms" in page.links
    assert f"{SETTINGS}/tables" not in page.links
    assert "/desk/account" in page.links
    page = await browser.open(SETTINGS)
    assert f"{SETTINGS}/tables" in page.links
    page = await browser.open(f"{SETTINGS}/tables")
    [here] = named(page, href=f"{SETTINGS}/tables", **{"aria-current": "page"})
    assert here


async def test_another_business_is_not_changed_by_it(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Each has a name of its own."""
    stranger = await make.business()
    await (await signed_in(stranger)).open(BUSINESS)
    await owner.open(BUSINESS)
    await owner.submit(BUSINESS, legal_name="Ada Limited")
    assert (await shown(business))["legalName"] == "Ada Limited"
    assert (await shown(stranger))["legalName"] is None
