"""Search texts are brought to the form in which names are kept, wherever one is taken."""

import secrets
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from tests.api import Api
from tests.hotel.house import day
from tests.make import Business
from tillhouse.app import ROUTES
from tillhouse.http.endpoint import RouteHandler
from tillhouse.http.fields import inner_type
from tillhouse.kit.values import Search

NAME = "Zoë  Strauß"
Maker = Callable[[Api, str], Awaitable[Any]]


async def _customer(api: Api, name: str) -> None:
    await api.post("/v1/customers", {"name": name}, status=201)


async def _product(api: Api, name: str) -> None:
    await api.post("/v1/products", {"name": name, "base_price": 5}, status=201)


async def _order(api: Api, name: str) -> None:
    item = {"product_name": "Tea", "quantity": 1, "custom_price": 5}
    await api.post("/v1/orders", {"items": [item], "customer_name": name}, status=201)


async def _transaction(api: Api, name: str) -> None:
    item = {"product_name": "Tea", "quantity": 1, "custom_price": 5}
    body = {"items": [item], "customer_name": name, "amount_paid": 5}
    await api.post("/v1/orders", body, status=201)


async def _link(api: Api, name: str) -> None:
    item = {"product_name": "Tea", "quantity": 1, "custom_price": 5}
    body = {"items": [item], "customer_name": name}
    order = (await api.post("/v1/orders", body, status=201)).data
    wanted = {"target_type": "sale", "target_id": order["id"]}
    await api.post("/v1/payment-links", wanted, status=201)


async def _voice_call(api: Api, name: str) -> None:
    [number] = (await api.get("/v1/voice/numbers", status=200)).data
    [agent] = (await api.get("/v1/voice/agents", status=200)).data
    chosen = {"business_voice_number_id": number["id"], "ai_agent_id": agent["id"]}
    body = {"customer_phone": "+2348030000001", "customer_name": name, "purpose": "Reminder"}
    await api.post("/v1/voice/calls", {**body, **chosen}, status=202)


async def _guest(api: Api, name: str) -> None:
    await api.post("/v1/hotel/guests", {"name": name}, status=201)


async def _reservation(api: Api, name: str) -> None:
    kind = {"name": name, "capacity": 1, "rate": 5}
    room_type_id = (await api.post("/v1/hotel/room-types", kind, status=201)).data["id"]
    room = {"room_type_id": room_type_id, "number": name[:20]}
    await api.post("/v1/hotel/rooms", room, status=201)
    body = {"room_type_id": room_type_id, "guest": {"name": name}}
    days = {"check_in_date": day(1), "check_out_date": day(2)}
    await api.post("/v1/hotel/reservations", {**body, **days}, status=201)


async def _conversation(api: Api, name: str) -> None:
    phone = f"+23480300{secrets.randbelow(10**5):05}"
    await api.post("/v1/customers", {"name": name, "phone_number": phone}, status=201)
    await api.post("/v1/conversations", {"phone_number": phone}, status=201)


async def _message(api: Api, name: str) -> None:
    phone = f"+23480300{secrets.randbelow(10**5):05}"
    body = {"from": phone, "text": name}
    await api.post("/v1/messaging/sandbox/inbound", body, status=201)


SEARCHED: dict[str, Maker] = {
    "/v1/customers": _customer,
    "/v1/products": _product,
    "/v1/orders": _order,
    "/v1/finance/transactions": _transaction,
    "/v1/payment-links": _link,
    "/v1/voice/calls": _voice_call,
    "/v1/hotel/guests": _guest,
    "/v1/hotel/reservations": _reservation,
    "/v1/conversations": _conversation,
    "/v1/messages": _message,
}


@pytest.fixture
async def api(business: Business) -> Api:
    """A key for all of it."""
    return await business.client(
        "customers:read", "customers:write", "products:read", "products:write", "orders:read",
        "orders:write", "finance:read", "payment_links:write", "voice:read", "voice:calls:read",
        "voice:calls:create", "hotel:read", "hotel:write", "messaging:read", "messaging:write",
    )  # fmt: skip


def test_every_search_is_of_the_one_type() -> None:
    """A new one can't forget it."""
    found = {
        route.path: inner_type(field.type)
        for route in ROUTES
        for field in _fields(route)
        if field.encode_name == "search"
    }
    assert found == dict.fromkeys(SEARCHED, Search)


def _fields(route: Any) -> Any:
    return msgspec.structs.fields(RouteHandler(route).query_type)


@pytest.mark.parametrize("path", SEARCHED)
async def test_a_name_is_found_however_it_is_typed(api: Api, path: str) -> None:
    """Accents composed or not, spaces of any kind and number."""
    await SEARCHED[path](api, NAME)
    await SEARCHED[path](api, "Ada")
    composed, apart = (unicodedata.normalize(form, "zoë") for form in ("NFC", "NFD"))
    assert composed != apart
    for text in (composed, apart, f" {apart} ", f"{apart} strauß", f"{apart}   strauß",
                 f"{composed}\u00a0strauß", f"\u3000{apart}\u2003\u2009strauß\t"):  # fmt: skip
        answer = await api.get(f"{path}?search={quote(text)}", status=200)
        assert len(answer.data) == 1, text


@pytest.mark.parametrize("path", SEARCHED)
async def test_a_blank_search_is_none(api: Api, path: str) -> None:
    """Every search form sends it when nothing is typed."""
    await SEARCHED[path](api, NAME)
    await SEARCHED[path](api, "Ada")
    everything = (await api.get(path, status=200)).json
    for text in ("", "%20", "+", "%09%0A", "%C2%A0%E3%80%80"):
        assert (await api.get(f"{path}?search={text}", status=200)).json == everything, text
    twice = await api.get(f"{path}?search=&search=x", status=422)
    assert twice.wrong_fields == {"search"}


@pytest.mark.parametrize("path", SEARCHED)
async def test_a_search_has_its_length(api: Api, path: str) -> None:
    """As it came, as the description says."""
    await api.get(f"{path}?search={'x' * 120}", status=200)
    await api.get(f"{path}?search=%20{'x' * 119}", status=200)
    answer = await api.get(f"{path}?search={'x' * 121}", status=422)
    assert answer.json["details"] == [
        {"field": "search", "message": "must have at most 120 characters"}
    ]
