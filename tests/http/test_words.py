"""The sentences of refusals: a query holds only texts, and only a similar name is suggested."""

import pytest

from tests.api import Api, Response
from tests.make import Business
from tests.routes.table import name_of
from tillhouse.app import ROUTES
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.fields import fields_of
from tillhouse.kit.suggestions import nearest

ORDERS = "/v1/orders"


@pytest.fixture
async def seller(business: Business) -> Api:
    """A key that may record orders and read products."""
    return await business.client("orders:write", "orders:read", "products:read", "events:read")


def said(answer: Response) -> dict[str, str]:
    """The sentences by field."""
    return {detail["field"]: detail["message"] for detail in answer.json["details"]}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/orders?page=x", "must be a whole number"),
        ("/v1/orders?page=1.5", "must be a whole number"),
        ("/v1/orders?page=", "must be a whole number"),
        ("/v1/orders?page=0", "must be a whole number >= 1"),
        ("/v1/orders?page=" + "9" * 30, "must be a whole number <= 1000000"),
        ("/v1/orders?limit=101", "must be a whole number <= 100"),
        ("/v1/orders?is_automated=1", "must be true or false"),
        ("/v1/orders?is_automated=null", "must be true or false"),
        ("/v1/products?is_active=yes", "must be true or false"),
        ("/v1/orders?customer_id=null", "must be a uuid"),
        ("/v1/orders?tag_ids=x,y", "must be a uuid"),
        ("/v1/orders?payment_method=null",
         "must be one of cash, transfer, pos, card, cloove_pay, credit, other"),
    ],
)  # fmt: skip
async def test_a_parameter_is_told_what_it_takes(seller: Api, path: str, message: str) -> None:
    """Without a word of types that no query has, or of null, which it can't say."""
    assert list(said(await seller.get(path, status=422)).values()) == [message]


async def test_a_body_is_told_of_its_types(seller: Api) -> None:
    """There, a string is something else than a number."""
    found = said(await seller.post(ORDERS, {"items": [], "covers": "4"}, status=422))
    assert found["covers"] == "must be a whole number or null, not a string"
    assert found["items"] == "must have at least 1 item"
    long = {"items": [{"product_name": "Tea", "quantity": 1, "custom_price": 1}] * 501}
    found = said(await seller.post(ORDERS, long, status=422))
    assert found["items"] == "must have at most 500 items"
    found = said(await seller.post(ORDERS, {"items": [], "notes": "x" * 2001}, status=422))
    assert found["notes"] == "must have at most 2000 characters"


async def test_a_near_name_is_suggested(seller: Api) -> None:
    """A field, one inside of a line, and a parameter."""
    item = {"product_nam": "Tea", "quantiy": 1}
    found = said(await seller.post(ORDERS, {"items": [item], "storeId": "x"}, status=422))
    assert found["storeId"] == "is no field of this request; did you mean store_id?"
    assert found["items[0].product_nam"].endswith("; did you mean product_name?")
    assert found["items[0].quantiy"].endswith("; did you mean quantity?")
    found = said(await seller.get(f"{ORDERS}?serach=x", status=422))
    assert found["serach"] == "is no parameter of this request; did you mean search?"


async def test_a_far_name_is_not(seller: Api) -> None:
    """A field of something else leads nowhere."""
    names = ("status", "total_amount", "currency", "payment_status", "discount_type", "zz")
    body = {"items": [], **dict.fromkeys(names, 1)}
    found = said(await seller.post(ORDERS, body, status=422))
    assert {found[name] for name in names} == {"is no field of this request"}


KNOWN = {
    f"{name_of(route)} {type_.__name__}": tuple(fields_of(type_))
    for route in ROUTES
    for type_ in (RouteHandler(route).body_type, RouteHandler(route).query_type)
    if fields_of(type_)
}


def spoilt(name: str) -> list[str]:
    """The name in camelCase, with a letter lost, with one doubled, and with two swapped."""
    head, *rest = name.split("_")
    middle = len(name) // 2
    return [
        head + "".join(part.capitalize() for part in rest),
        name[:middle] + name[middle + 1 :],
        name[:middle] + name[middle] + name[middle:],
        name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :],
    ]


@pytest.mark.parametrize("place", KNOWN)
def test_every_field_is_found_by_its_typing_errors(place: str) -> None:
    """Short names are too near to each other to be told apart."""
    known = KNOWN[place]
    for name in (name for name in known if len(name) > 4):
        found = {nearest(typed, known) for typed in spoilt(name)}
        # One letter less, and a plural is its singular.
        assert found <= {name, f"{name}s", name.removesuffix("s")}, name


def test_names_of_other_places_are_seldom_suggested() -> None:
    """A field of another request is no typing error; three in a thousand are near all the same."""
    names = {name for known in KNOWN.values() for name in known}
    others = [(name, known) for known in KNOWN.values() for name in names - set(known)]
    near = [name for name, known in others if nearest(name, known)]
    assert len(others) > 1_000
    assert len(near) < len(others) / 200, sorted(set(near))
