"""The business itself: read by every member, changed by some, told on receipts."""

import asyncio
import io
from typing import Any, get_args
from uuid import UUID

import asyncpg
import msgspec
import pytest
from pypdf import PdfReader

from tests.api import Api
from tests.folios.lodge import STAYS, Lodge
from tests.make import Business, Make
from tests.orders.receipts import open_page, page_text, path_of, receipt_url
from tests.orders.shop import Shop, fee
from tillhouse.access.scopes import Role

PATH = "/v1/business"
IMPRINT: dict[str, Any] = {
    "legal_name": "Ada's Kitchen <Limited>",
    "address": {
        "lines": ["Block 4", "12 Marina Road"],
        "city": "Lagos",
        "region": "Lagos State",
        "postal_code": "101241",
        "country": "NG",
    },
    "tax_numbers": [{"label": "TIN", "number": "12345678-0001"}],
    "receipt_footer": "Thank you.\n\nGoods are exchanged for 7 days.",
}
PRINTED = (
    "Ada's Kitchen <Limited>",
    "Block 4, 12 Marina Road, 101241 Lagos, Lagos State, Nigeria",
    "TIN 12345678-0001",
    "Thank you.",
    "Goods are exchanged for 7 days.",
)


async def changed(by: Api, body: dict[str, Any], status: int = 200) -> Any:
    """The business after a change."""
    return (await by.request("PATCH", PATH, body, status=status)).json.get("data")


async def fields_told(sql: asyncpg.Connection, business: Business) -> list[list[str]]:
    """The fields that the audit log names, change by change."""
    query = (
        "SELECT metadata FROM audit_events WHERE business_id = $1 "
        "AND event_type = 'business.changed' ORDER BY sequence"
    )
    rows = await sql.fetch(query, UUID(business.id))
    return [msgspec.json.decode(row["metadata"])["fields"] for row in rows]


async def test_a_business_is_changed_piece_by_piece(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Other fields stay, null takes one away, and the audit log names those that became another."""
    begun = (await business.owner.get(PATH, status=200)).data
    assert begun == {
        "id": business.id,
        "name": "Ada's",
        "type": "retail",
        "currency": "USD",
        "country": "US",
        "timeZone": "UTC",
        "taxInclusive": False,
        "stockPolicy": "deny",
        "restocksCancelled": True,
        "serviceChargePercent": None,
        "serviceChargeModes": ["dine_in"],
        "legalName": None,
        "address": None,
        "taxNumbers": [],
        "receiptFooter": None,
        "createdAt": begun["createdAt"],
        "updatedAt": begun["createdAt"],
    }
    first = await changed(business.owner, {**IMPRINT, "type": "hotel", "time_zone": "Africa/Lagos"})
    address = {**IMPRINT["address"], "postalCode": "101241"}
    del address["postal_code"]
    assert (first["type"], first["timeZone"]) == ("hotel", "Africa/Lagos")
    assert (first["legalName"], first["address"]) == (IMPRINT["legal_name"], address)
    assert first["taxNumbers"] == IMPRINT["tax_numbers"]
    assert first["updatedAt"] > begun["updatedAt"]
    await changed(business.owner, {"name": "Ada's", "tax_numbers": IMPRINT["tax_numbers"]})
    last = await changed(business.owner, {"legal_name": None, "tax_inclusive": True})
    assert last == (await business.owner.get(PATH, status=200)).data
    assert last == {
        **first, "legalName": None, "taxInclusive": True, "updatedAt": last["updatedAt"],
    }  # fmt: skip
    assert await fields_told(sql, business) == [
        ["type", "time_zone", "legal_name", "address", "tax_numbers", "receipt_footer"],
        ["tax_inclusive", "legal_name"],
    ]


@pytest.mark.parametrize("role", get_args(Role))
async def test_every_member_reads_and_some_change(
    business: Business, make: Make, role: str
) -> None:
    """As MANAGE_BUSINESS says; of another business nothing is read or changed."""
    member = await make.member(business, role)
    assert (await member.owner.get(PATH, status=200)).data["id"] == business.id
    may = role in ("owner", "admin")
    await changed(member.owner, {"name": "Ada's Bar"}, status=200 if may else 403)
    named = (await business.owner.get(PATH, status=200)).data["name"]
    assert named == ("Ada's Bar" if may else "Ada's")


async def test_keys_read_alone(business: Business) -> None:
    """With `stores:read`, in both environments the same; no key changes the business."""
    shown = (await business.owner.get(PATH, status=200)).data
    for environment in ("test", "live"):
        key = await business.client("stores:read", "stores:write", environment=environment)
        assert (await key.get(PATH, status=200)).data == shown
        await changed(key, {"name": "Taken over"}, status=401)
    other = await business.client("orders:read", "orders:write")
    await other.get(PATH, status=403)


WRONG: list[tuple[str, Any]] = [
    ("currency", "EUR"),
    ("id", "0199a7c0-0000-7000-8000-000000000000"),
    ("name", None),
    ("name", "A"),
    ("name", "Ada\u202egnol"),
    ("type", "bank"),
    ("time_zone", "Africa/Atlantis"),
    ("country", "Nigeria"),
    ("tax_inclusive", "yes"),
    ("stock_policy", "sometimes"),
    ("service_charge_percent", 0),
    ("service_charge_percent", -1),
    ("service_charge_percent", 100.01),
    ("service_charge_percent", 12.345),
    ("service_charge_percent", 1e300),
    ("service_charge_percent", "12.5"),
    ("service_charge_percent", True),
    ("service_charge_percent", [10]),
    ("service_charge_modes", None),
    ("service_charge_modes", "dine_in"),
    ("service_charge_modes", ["dine_in", "takeaway", "room_service", "dine_in"]),
    ("service_charge_modes", ["dine_in"] * 80_000),
    ("legal_name", "Ada\u2066gnol"),
    ("legal_name", "x" * 201),
    ("legal_name", "two\nlines"),
    ("receipt_footer", "Thank you\u202euoy knahT"),
    ("receipt_footer", "x" * 501),
    ("receipt_footer", "\n".join("abcdefghi")),
]
WRONG_INSIDE: list[tuple[dict[str, Any], str]] = [
    ({"address": {"lines": [], "city": "Lagos"}}, "address.lines"),
    ({"address": {"lines": ["1"] * 5, "city": "Lagos"}}, "address.lines"),
    ({"address": {"lines": ["1\u202e2"], "city": "Lagos"}}, "address.lines[0]"),
    ({"address": {"lines": ["1"], "city": "\u2069Lagos\u2067s"}}, "address.city"),
    ({"address": {"lines": ["1"], "city": "Lagos", "planet": "Earth"}}, "address.planet"),
    ({"service_charge_modes": ["dine_in", "delivery"]}, "service_charge_modes[1]"),
    ({"service_charge_modes": ["takeaway", None]}, "service_charge_modes[1]"),
    ({"service_charge_modes": ["dine_in", "takeaway", "dine_in"]}, "service_charge_modes[2]"),
    ({"tax_numbers": [{"label": "TIN", "number": "1"}] * 6}, "tax_numbers"),
    ({"tax_numbers": [{"label": "TIN"}]}, "tax_numbers[0].number"),
    ({"tax_numbers": [{"label": "T\u202eN", "number": "1"}]}, "tax_numbers[0].label"),
]


@pytest.mark.parametrize(
    ("body", "field"), [*(({name: value}, name) for name, value in WRONG), *WRONG_INSIDE]
)
async def test_what_no_business_has(business: Business, body: dict[str, Any], field: str) -> None:
    """Unknown words, too much of a text, and signs that turn the direction of writing."""
    answer = await business.owner.request("PATCH", PATH, body, status=422)
    assert answer.wrong_fields == {field}


async def test_days_stand_once_live_sales_are_booked(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Test sales bind nothing, a live one does; the same zone again is no change."""
    zone = {"time_zone": "Africa/Lagos"}
    sale = {"items": [fee(500)], "amount_paid": 500}
    await business.made("/v1/orders", sale, "test")
    assert (await changed(business.owner, zone))["timeZone"] == "Africa/Lagos"
    await business.made("/v1/orders", sale, "live")
    answer = await business.owner.request(
        "PATCH", PATH, {"time_zone": "Europe/Paris", "name": "Chez Ada"}, status=409
    )
    assert "time zone stands" in answer.json["message"]
    shown = await changed(business.owner, {**zone, "name": "Ada's Bar"})
    assert (shown["timeZone"], shown["name"]) == ("Africa/Lagos", "Ada's Bar")
    assert await fields_told(sql, business) == [["time_zone"], ["name"]]


async def test_days_stand_once_a_period_is_closed(business: Business) -> None:
    """Of the test book as well: a closed day ends at a midnight of its zone."""
    sale = {"items": [fee(500)], "amount_paid": 500, "occurred_at": "2026-01-05T10:00:00Z"}
    await business.made("/v1/orders", sale, "test")
    key = await business.client("finance:closings:write")
    await key.put("/v1/ledger/closing", {"closed_until": "2026-01-31"}, status=200)
    await changed(business.owner, {"time_zone": "Africa/Lagos"}, status=409)


async def test_changes_at_once_lose_nothing(business: Business, sql: asyncpg.Connection) -> None:
    """Each changes a field of its own, and all of them stand."""
    bodies = ({"name": "Ada's Bar"}, {"tax_inclusive": True}, {"legal_name": "Ada Limited"})
    await asyncio.gather(*(changed(business.owner, body) for body in bodies))
    shown = (await business.owner.get(PATH, status=200)).data
    assert (shown["name"], shown["taxInclusive"]) == ("Ada's Bar", True)
    assert shown["legalName"] == "Ada Limited"
    assert sorted(await fields_told(sql, business)) == [["legal_name"], ["name"], ["tax_inclusive"]]


async def test_trade_holds_for_sales_from_then_on(make: Make, sql: asyncpg.Connection) -> None:
    """Prices include tax once the business says so; what was sold before stays."""
    shop = await Shop.open(make, sql)
    owner = shop.business.owner
    goods = await shop.product(107.5, tax_rate=7.5)
    before = await shop.sell({"product_id": goods["id"], "quantity": 1})
    await changed(owner, {"tax_inclusive": True})
    after = await shop.sell({"product_id": goods["id"], "quantity": 1})
    assert before["totalAmount"] > after["totalAmount"] == 107.5
    assert after["taxAmount"] == 7.5


async def test_a_charge_for_service_is_set(business: Business, sql: asyncpg.Connection) -> None:
    """Its share to two decimals, and its modes in one order; null takes it off."""
    set_to = {"service_charge_percent": 12.5, "service_charge_modes": ["takeaway", "dine_in"]}
    shown = await changed(business.owner, set_to)
    assert shown["serviceChargePercent"] == 12.5
    assert shown["serviceChargeModes"] == ["dine_in", "takeaway"]
    await changed(business.owner, {**set_to, "service_charge_percent": 12.50})
    for percent in (0.01, 100):
        shown = await changed(business.owner, {"service_charge_percent": percent})
        assert shown["serviceChargePercent"] == percent
    off = {"service_charge_percent": None, "service_charge_modes": []}
    shown = await changed(business.owner, off)
    assert (shown["serviceChargePercent"], shown["serviceChargeModes"]) == (None, [])
    one, both = ["service_charge_percent"], ["service_charge_percent", "service_charge_modes"]
    assert await fields_told(sql, business) == [both, one, one, both]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("service_charge_percent", "0"),
        ("service_charge_percent", "100.01"),
        ("service_charge_percent", "1.001"),
        ("service_charge_percent", "'NaN'"),
        ("service_charge_modes", "'{delivery}'"),
        ("service_charge_modes", "'{dine_in,dine_in}'"),
        ("service_charge_modes", "'{NULL}'"),
    ],
)
async def test_the_database_holds_no_other_charge(
    business: Business, sql: asyncpg.Connection, column: str, value: str
) -> None:
    """It refuses what the API does."""
    statement = f"UPDATE businesses SET {column} = {value} WHERE id = $1"  # noqa: S608
    with pytest.raises(asyncpg.CheckViolationError, match=column):
        await sql.execute(statement, UUID(business.id))


async def test_receipts_tell_the_particulars(make: Make, sql: asyncpg.Connection) -> None:
    """On the page and in both files; a receipt that was made before keeps saying what it said."""
    shop = await Shop.open(make, sql, business_name="Ada's Kitchen")
    order = await shop.sell(fee(500))
    before = await receipt_url(shop, order)
    assert path_of(await receipt_url(shop, order)).split("?")[0] == path_of(before).split("?")[0]
    await changed(shop.business.owner, IMPRINT)
    page = await page_text(shop, order)
    for words in PRINTED:
        assert words.replace("'", "&#39;").replace("<", "&lt;").replace(">", "&gt;") in page
    old = await open_page(shop, before, status=200)
    assert "TIN" not in old.body.decode()
    url = (await receipt_url(shop, order)).replace("?", ".pdf?")
    for paper in ("a4", "80mm"):
        file = await open_page(shop, f"{url}&paper={paper}", status=200)
        text = " ".join(PdfReader(io.BytesIO(file.body)).pages[0].extract_text().split())
        for words in PRINTED:
            assert words in text, paper


async def test_a_transaction_and_a_bill_tell_them_too(
    business: Business, sql: asyncpg.Connection
) -> None:
    """The receipt of a payment, and the bill of the stay that it paid."""
    lodge = await Lodge.begin(business, sql)
    await changed(business.owner, IMPRINT)
    stay = await lodge.arrive(1)
    bill = (await lodge.api.post(f"{STAYS}/{stay['id']}/bill", {}, status=200)).data
    await lodge.pay(stay, 100)
    headers = {"service-environment": "test"}
    (paid,) = (await business.owner.get("/v1/finance/transactions", headers=headers)).data
    path = f"/v1/finance/transactions/{paid['id']}/receipt"
    receipt = (await business.owner.post(path, headers=headers, status=200)).data
    for url in (bill["url"], receipt["url"]):
        page = (await business.anybody.get(path_of(url), status=200)).body.decode()
        assert "TIN 12345678-0001" in page
        assert "Goods are exchanged for 7 days." in page
