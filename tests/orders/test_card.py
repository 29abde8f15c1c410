"""`card` is taken wherever `pos` is: it means the same, and is shown as `pos`."""

from collections.abc import Iterator
from typing import Any

from tests.orders.shop import ORDERS, Shop, fee
from tillhouse import __version__
from tillhouse.app import PRODUCT
from tillhouse.reference.openapi import describe

_TAKEN = {"cash", "transfer", "pos"}
# Of orders five, of stays two, and of expenses and transactions.
MANY = 9


async def test_a_sale_by_card_is_one_by_pos(shop: Shop) -> None:
    """Recorded, changed, paid, confirmed and refunded by card; filters find it by both."""
    sold = await shop.sell(fee(100), payment_method="card", amount_paid=100)
    assert sold["paymentMethod"] == "pos"
    assert [one["method"] for one in sold["payments"]] == ["pos"]
    path = f"{ORDERS}/{sold['id']}"
    for word in ("card", "pos"):
        found = (await shop.api.get(f"{ORDERS}?payment_method={word}", status=200)).data
        assert [one["id"] for one in found] == [sold["id"]]
    body = {"amount": 40, "method": "card"}
    back = (await shop.api.post(path + "/refunds", body, status=201)).data
    assert back["refunds"][0]["method"] == "pos"
    open_one = await shop.sell(fee(50))
    path = f"{ORDERS}/{open_one['id']}"
    changed = (await shop.api.patch(path, {"payment_method": "card"}, status=200)).data
    assert changed["paymentMethod"] == "pos"
    paid = await shop.api.post(path + "/payments", {"amount": 50, "method": "card"}, status=201)
    assert [one["method"] for one in paid.data["payments"]] == ["pos"]
    later = await shop.sell(fee(30), scheduled_for="2031-01-01T10:00:00Z")
    path = f"{ORDERS}/{later['id']}/confirm"
    confirmed = (await shop.api.post(path, {"payment_method": "card"}, status=200)).data
    assert confirmed["paymentMethod"] == "pos"


def test_no_request_takes_pos_and_not_card() -> None:
    """Of the fields and parameters of every operation; answers keep their own words."""
    api = describe(PRODUCT, [], __version__)
    schemas = api["components"]["schemas"]
    asked = [
        operation.get(part)
        for operations in api["paths"].values()
        for operation in operations.values()
        for part in ("requestBody", "parameters")
    ]
    enums = [words for part in asked for words in _enums(part, schemas) if {*words} >= _TAKEN]
    assert len(enums) >= MANY
    assert all("card" in words for words in enums)


def _enums(node: Any, schemas: dict[str, Any]) -> Iterator[list[str]]:
    """The lists of words that a part of the description allows."""
    inner: list[Any] = []
    if isinstance(node, list):
        inner = node
    elif isinstance(node, dict):
        yield node.get("enum", [])
        inner = [one for key, one in node.items() if key not in ("enum", "example", "examples")]
        if "$ref" in node:
            inner.append(schemas.get(node["$ref"].rpartition("/")[2]))
    for one in inner:
        yield from _enums(one, schemas)
