"""The facts that the generated tests need about the routes of catalog."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from tests.make import Business, Make


async def _make(business: Business, environment: str, path: str, body: dict[str, Any]) -> Any:
    """Something of the book, made by its owner."""
    headers = {"service-environment": environment}
    return (await business.owner.post(path, body, headers=headers, status=201)).data


async def _make_category(business: Business, environment: str) -> str:
    body = {"name": f"Dishes {secrets.token_hex(4)}"}
    return (await _make(business, environment, "/v1/categories", body))["id"]


async def _make_group(business: Business, environment: str) -> str:
    return (await _make(business, environment, "/v1/modifier-groups", _GROUP))["id"]


async def _make_product(business: Business, environment: str) -> str:
    body = {"name": "Jollof rice", "base_price": 1500}
    return (await _make(business, environment, "/v1/products", body))["id"]


async def _make_variant(business: Business, environment: str) -> str:
    variants = [{"name": "Small"}, {"name": "Large", "price": 2000}]
    body = {"name": "Jollof rice", "base_price": 1500, "variants": variants}
    return (await _make(business, environment, "/v1/products", body))["variants"][1]["id"]


async def _make_store(business: Business, environment: str) -> str:
    return (await _make(business, environment, "/v1/stores", _named("Shop")))["id"]


async def _find_staff(business: Business, environment: str) -> str:
    # People work for the business, so both books show the same ones: the other book's stranger
    # has to come from another business.
    if environment == "test":
        return business.user_id
    return (await Make(business.anybody.app, business.anybody.app.services).business()).user_id


async def _make_table(business: Business, environment: str) -> str:
    body = {"label": f"T{secrets.token_hex(4)}"}
    return (await _make(business, environment, "/v1/tables", body))["id"]


async def _make_session(business: Business, environment: str) -> str:
    body = {"table_id": await _make_table(business, environment)}
    return (await _make(business, environment, "/v1/table-sessions", body))["id"]


async def _make_term(business: Business, environment: str) -> str:
    return (await _make(business, environment, "/v1/academic-terms", _named("Term")))["id"]


async def _make_tag(business: Business, environment: str) -> str:
    return (await _make(business, environment, "/v1/tags", _named("Tag")))["id"]


async def _make_promotion(business: Business, environment: str) -> str:
    body = {"name": "Happy hour", "type": "percent", "value": 10}
    return (await _make(business, environment, "/v1/promotions", body))["id"]


async def _make_stocked(business: Business) -> str:
    body = {"name": "Rice", "base_price": 1500, "tracks_stock": True}
    return (await _make(business, "test", "/v1/products", body))["variants"][0]["id"]


async def _new_adjustment(business: Business) -> dict[str, Any]:
    return {"variant_id": await _make_stocked(business), "kind": "purchase", "quantity": 24}


async def _new_count(business: Business) -> dict[str, Any]:
    return {"items": [{"variant_id": await _make_stocked(business), "counted": 18}]}


async def _new_transfer(business: Business) -> dict[str, Any]:
    adjustment = await _new_adjustment(business)
    await _make(business, "test", "/v1/inventory/adjustments", adjustment)
    items = [{"variant_id": adjustment["variant_id"], "quantity": 6}]
    return {"to_store_id": await _make_store(business, "test"), "items": items}


async def _new_session(business: Business) -> dict[str, Any]:
    return {"table_id": await _make_table(business, "test"), "covers": 4}


def _named(noun: str) -> dict[str, Any]:
    return {"name": f"{noun} {secrets.token_hex(4)}"}


def _remover(path: str) -> Callable[[Business, str], Awaitable[None]]:
    async def remove(business: Business, id_: str) -> None:
        headers = {"service-environment": "test"}
        await business.owner.delete(f"{path}/{id_}", headers=headers, status=200)

    return remove


_GROUP = {"name": "Extras", "options": [{"name": "Plantain", "price_delta": 300}]}

_ID = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"

MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "category_id": _make_category,
    "modifier_group_id": _make_group,
    "product_id": _make_product,
    "variant_id": _make_variant,
    "store_id": _make_store,
    "staff_id": _find_staff,
    "table_id": _make_table,
    "session_id": _make_session,
    "term_id": _make_term,
    "tag_id": _make_tag,
    "promotion_id": _make_promotion,
}
REMOVERS: dict[str, Callable[[Business, str], Awaitable[None]]] = {
    "category_id": _remover("/v1/categories"),
    "modifier_group_id": _remover("/v1/modifier-groups"),
    "product_id": _remover("/v1/products"),
    "variant_id": _remover("/v1/variants"),
    "store_id": _remover("/v1/stores"),
    "table_id": _remover("/v1/tables"),
    "term_id": _remover("/v1/academic-terms"),
    "tag_id": _remover("/v1/tags"),
    "promotion_id": _remover("/v1/promotions"),
}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    "POST /v1/products": lambda _: {"name": "Jollof rice", "base_price": 1500.5},
    "POST /v1/tables": lambda _: {"label": "T12", "area": "Terrace", "seats": 4},
    "PATCH /v1/products/{product_id}": lambda _: {"name": "Fried rice", "base_price": 1750},
    "PATCH /v1/modifier-groups/{modifier_group_id}": lambda _: {"name": "More"},
    "POST /v1/table-sessions/{session_id}/close": lambda _: {},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {
    "POST /v1/table-sessions": _new_session,
    "POST /v1/inventory/adjustments": _new_adjustment,
    "POST /v1/inventory/counts": _new_count,
    "POST /v1/inventory/transfers": _new_transfer,
}
# Bodies that differ from the one that passes, where another `name` would be no field.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    "POST /v1/tables": {"label": "Another"},
    "POST /v1/inventory/adjustments": {"variant_id": _ID, "kind": "waste", "quantity": 1},
    "POST /v1/inventory/counts": {"items": [{"variant_id": _ID, "counted": 1}]},
    "POST /v1/inventory/transfers": {"items": [{"variant_id": _ID, "quantity": 1}]},
    "POST /v1/table-sessions": {"table_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"},
}
