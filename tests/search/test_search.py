"""The search over all lists: by name, code, number and id, for those who may read each."""

from typing import Any, get_args
from urllib.parse import quote

import pytest

from tests.api import Api
from tests.make import Business, Make
from tests.orders.shop import fee
from tillhouse.access.scopes import Role

PATH = "/v1/search"
TEST = {"service-environment": "test"}
# The list of each kind, in the order of the answer.
LISTS = {
    "order": "/v1/orders",
    "customer": "/v1/customers",
    "product": "/v1/products",
    "payment_link": "/v1/payment-links",
    "transaction": "/v1/finance/transactions",
    "table": "/v1/tables",
    "staff": "/v1/staff",
}
SCOPES = {
    "customer": "customers:read",
    "product": "products:read",
    "payment_link": "payment_links:read",
    "transaction": "finance:transactions:read",
    "table": "tables:read",
    "staff": "stores:read",
}


async def found(by: Api, q: str, **query: Any) -> list[dict[str, Any]]:
    """The things that a search of the test book finds."""
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return (await by.get(f"{PATH}?q={quote(q)}{more}", headers=TEST, status=200)).data


def kinds(things: list[dict[str, Any]]) -> set[str]:
    """The kinds of some things."""
    return {one["kind"] for one in things}


@pytest.fixture
async def things(business: Business) -> dict[str, dict[str, Any]]:
    """One of each kind, named Zainab."""
    customer = await business.customer(
        name="Chinedu Zainab", phone_number="+2348031234567", email="zainab@mail.example"
    )
    order = await business.made(
        "/v1/orders",
        {"items": [fee(500)], "customer_id": customer["id"], "amount_paid": 500},
    )
    product = await business.made(
        "/v1/products",
        {"name": "Zainab's rice", "base_price": 5, "sku": "ZAI-1",
         "variants": [{"name": "Small", "sku": "VAR-77"}]},
    )  # fmt: skip
    link = await business.made(
        "/v1/payment-links/wallet/dynamic", {"title": "For Zainab", "amount": 250}
    )
    table = await business.table(label="Zainab 4")
    listed = await business.owner.get("/v1/finance/transactions", headers=TEST, status=200)
    return {
        "order": order, "customer": customer, "product": product, "payment_link": link,
        "transaction": listed.data[0], "table": table,
        "staff": {"id": business.user_id},
    }  # fmt: skip


async def test_a_name_finds_each_kind(
    business: Business, things: dict[str, dict[str, Any]]
) -> None:
    """In any case, by the beginning of a word; the order is that of its customer."""
    for words in ("zainab", "ZAIN", " zainab "):
        hits = await found(business.owner, words)
        assert [(one["kind"], one["id"]) for one in hits] == [
            (kind, things[kind]["id"])
            for kind in ("order", "customer", "product", "payment_link", "table")
        ]
    names = {one["kind"]: (one["name"], one["more"]) for one in hits}
    assert names["order"] == ("Chinedu Zainab", things["order"]["shortCode"])
    assert names["customer"] == ("Chinedu Zainab", "+2348031234567")
    assert names["product"] == ("Zainab's rice", "ZAI-1")
    assert names["payment_link"] == ("For Zainab", things["payment_link"]["reference"])
    [order] = [one for one in hits if one["kind"] == "order"]
    assert (order["amount"], order["currency"], order["isExact"]) == (500, "USD", False)
    [staff] = await found(business.owner, "Ada Ow")
    assert (staff["kind"], staff["more"], staff["isExact"]) == ("staff", "owner", False)


async def test_a_code_finds_its_thing_first(
    business: Business, things: dict[str, dict[str, Any]]
) -> None:
    """Codes, references, SKUs, numbers and addresses, whole and as they are written."""
    link, order = things["payment_link"], things["order"]
    codes = {
        order["shortCode"].lower(): "order",
        link["reference"]: "payment_link",
        things["transaction"]["reference"]: "transaction",
        "zai-1": "product",
        "var-77": "product",
        "+234 803 123 4567": "customer",
        "Zainab@mail.example": "customer",
        "zainab 4": "table",
        business.email: "staff",
    }
    for code, kind in codes.items():
        first, *others = await found(business.owner, code)
        assert (first["kind"], first["id"], first["isExact"]) == (kind, things[kind]["id"], True)
        assert not any(one["isExact"] for one in others)
    begun = await found(business.owner, order["shortCode"][:4])
    assert (begun[0]["id"], begun[0]["isExact"]) == (order["id"], False)


async def test_an_id_finds_its_thing_alone(
    business: Business, make: Make, things: dict[str, dict[str, Any]]
) -> None:
    """Of this book; another business, and the live book, have none of them."""
    stranger = (await make.business()).owner
    for kind, thing in things.items():
        hits = await found(business.owner, thing["id"])
        assert [(one["kind"], one["id"], one["isExact"]) for one in hits] == [
            (kind, thing["id"], True)
        ]
        assert await found(stranger, thing["id"]) == []
        live = (await business.owner.get(f"{PATH}?q={thing['id']}", status=200)).data
        # People are the same in both books.
        assert kinds(live) == ({"staff"} if kind == "staff" else set())
    assert await found(stranger, "zainab") == []
    assert await found(stranger, "ZAI-1") == []
    assert await found(stranger, things["payment_link"]["reference"]) == []
    assert (await business.owner.get(f"{PATH}?q=zainab", status=200)).data == []


async def test_what_was_deleted_is_found_no_more(
    business: Business, things: dict[str, dict[str, Any]]
) -> None:
    """Neither by its name nor by its id."""
    for kind in ("customer", "product", "table"):
        path = f"{LISTS[kind]}/{things[kind]['id']}"
        await business.owner.delete(path, headers=TEST, status=200)
        assert await found(business.owner, things[kind]["id"]) == []
    hits = await found(business.owner, "zainab")
    assert not kinds(hits) & {"customer", "product", "table"}


@pytest.mark.parametrize("role", get_args(Role))
async def test_each_finds_what_it_may_list(
    role: str, business: Business, make: Make, things: dict[str, dict[str, Any]]
) -> None:
    """A kind is found exactly where its list may be read; all who list orders may search."""
    member = (await make.member(business, role)).owner
    allowed = {
        kind for kind, path in LISTS.items() if (await member.get(path, headers=TEST)).status == 200
    }
    status = (await member.get(f"{PATH}?q=zainab", headers=TEST)).status
    # Housekeepers have lists of their own work alone.
    assert status == (200 if "order" in allowed else 403)
    if role == "housekeeping":
        return
    hits = [
        one for thing in things.values() for one in await found(member, thing["id"])
    ] + await found(member, "zainab")
    assert kinds(hits) == allowed


@pytest.mark.parametrize("kind", SCOPES)
async def test_a_key_finds_by_its_scopes(
    kind: str, business: Business, things: dict[str, dict[str, Any]]
) -> None:
    """Without the scope of a list its things are absent."""
    key = await business.client("orders:read", SCOPES[kind])
    assert kinds(await found(key, things[kind]["id"])) == {kind}
    others = [thing["id"] for name, thing in things.items() if name not in (kind, "order")]
    assert [one for id_ in others for one in await found(key, id_)] == []
    assert kinds(await found(key, "zainab")) <= {"order", kind}
    orders_alone = await business.client("orders:read")
    assert kinds(await found(orders_alone, "zainab")) == {"order"}
    await (await business.client(SCOPES[kind])).get(f"{PATH}?q=zainab", status=403)


async def test_of_each_kind_so_many_are_found(business: Business) -> None:
    """The newest orders, and names that begin with the words before those that have them."""
    for name in ("Ada Bello", "Bisi Ada", "Adaeze Obi", "Musa Ada"):
        customer = await business.customer(name=name)
        order = {"items": [fee(500)], "customer_id": customer["id"]}
        orders = [await business.made("/v1/orders", order) for _ in range(2)]
    hits = await found(business.owner, "ada", limit=3)
    assert [one["name"] for one in hits if one["kind"] == "customer"] == [
        "Ada Bello", "Adaeze Obi", "Bisi Ada",
    ]  # fmt: skip
    newest = [one["id"] for one in hits if one["kind"] == "order"]
    assert len(newest) == 3
    assert newest[0] == orders[1]["id"]
    code = orders[0]["shortCode"][:2]
    assert len([1 for one in await found(business.owner, code, limit=1)
                if one["kind"] == "order"]) <= 1  # fmt: skip


@pytest.mark.parametrize(
    "q",
    ["%%", "__", "a%b", "\\", "''", "' OR 1=1 --", "!!", "&|!:*", "((", "<->", "ad:*", "~~", "é́",
     "\U0001f600\U0001f600", "a" * 60, "0803", "+234", "{}", "Z" * 30 + " " + "Y" * 29],
)  # fmt: skip
async def test_signs_are_no_operators(
    q: str, business: Business, things: dict[str, dict[str, Any]]
) -> None:
    """Nothing is found by a sign that stands for others, and nothing fails."""
    assert things
    status = (await business.owner.get(f"{PATH}?q={quote(q)}", headers=TEST)).status
    assert status == (422 if len(q.strip()) < 2 else 200)
    if status == 200:
        assert await found(business.owner, q) == []


async def test_without_words_nothing_is_found(
    business: Business, things: dict[str, dict[str, Any]]
) -> None:
    """Which is no fault."""
    assert things
    for query in ("", "?limit=3"):
        assert (await business.owner.get(f"{PATH}{query}", headers=TEST, status=200)).data == []


@pytest.mark.parametrize(
    "query",
    ["?q=", "?q=a", "?q=%20a%20", f"?q={'a' * 61}", f"?q={'a' * 5000}", "?q=ad&limit=0",
     "?q=ad&limit=11", "?q=ad&limit=x", "?q=ad&page=2", "?q=a%0Ab", "?q=%FF%FE", "?q=a%00b"],
)  # fmt: skip
async def test_what_is_no_search_is_refused(query: str, business: Business) -> None:
    """Before anything is looked for."""
    answer = await business.owner.get(f"{PATH}{query}", headers=TEST)
    assert answer.status in (400, 422), answer
