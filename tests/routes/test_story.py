"""The examples of the API are true: they are lived through, and they add up."""

from decimal import Decimal
from typing import Any

from tests.make import Make
from tests.routes.story import Story
from tests.routes.table import DOCUMENT, examples
from tillhouse.http.story import sale, world
from tillhouse.http.story.world import example_id

MORNING = (
    "POST /v1/stores", "GET /v1/stores", "GET /v1/stores/{store_id}",
    "GET /v1/staff", "GET /v1/staff/{staff_id}",
    "POST /v1/tables", "POST /v1/tags", "GET /v1/tags", "GET /v1/tags/{tag_id}",
    "POST /v1/academic-terms", "GET /v1/academic-terms",
    "GET /v1/academic-terms/{term_id}", "PATCH /v1/academic-terms/{term_id}",
    "POST /v1/categories", "GET /v1/categories", "GET /v1/categories/{category_id}",
    "POST /v1/customers", "GET /v1/customers", "GET /v1/customers/{customer_id}",
    "POST /v1/modifier-groups", "GET /v1/modifier-groups",
    "GET /v1/modifier-groups/{modifier_group_id}",
    "POST /v1/products", "GET /v1/products/{product_id}",
    "POST /v1/promotions", "GET /v1/promotions", "GET /v1/promotions/{promotion_id}",
    "PATCH /v1/promotions/{promotion_id}",
    "POST /v1/inventory/adjustments",
)  # fmt: skip
NOON = (
    "PUT /v1/kitchen/stage-messages", "GET /v1/kitchen/stage-messages",
    "POST /v1/table-sessions", "GET /v1/tables", "GET /v1/tables/{table_id}",
    "POST /v1/orders", "GET /v1/debts", "GET /v1/debts/{debt_id}",
    "GET /v1/kitchen/tickets", "GET /v1/kitchen/tickets/{ticket_id}",
    "GET /v1/inventory", "GET /v1/inventory/moves",
    "GET /v1/table-sessions", "GET /v1/table-sessions/{session_id}",
    "PATCH /v1/table-sessions/{session_id}",
    "POST /v1/orders/{order_id}/kitchen-status",
    "PATCH /v1/orders/{order_id}",
    "POST /v1/table-sessions/{session_id}/close",
    "POST /v1/orders/{order_id}/receipt",
    "GET /v1/orders", "GET /v1/orders/{order_id}",
    "POST /v1/inventory/counts", "POST /v1/inventory/transfers",
)  # fmt: skip
LATER = (
    "PATCH /v1/customers/{customer_id}", "PATCH /v1/categories/{category_id}",
    "PATCH /v1/tags/{tag_id}", "PATCH /v1/stores/{store_id}",
    "PATCH /v1/products/{product_id}", "PATCH /v1/variants/{variant_id}",
    "POST /v1/products/{product_id}/variants",
    "PATCH /v1/modifier-groups/{modifier_group_id}",
    "DELETE /v1/orders/{order_id}",
    "DELETE /v1/academic-terms/{term_id}", "DELETE /v1/tags/{tag_id}",
    "DELETE /v1/promotions/{promotion_id}", "DELETE /v1/customers/{customer_id}",
)  # fmt: skip


async def test_the_story_of_the_examples_is_what_happens(make: Make) -> None:
    """Each example is sent, and its answer is the example, but for ids, codes and times."""
    business = await make.business(
        name="Ada Okafor", business_type="restaurant", currency="NGN", country="NG",
        time_zone="Africa/Lagos",
    )  # fmt: skip
    scopes = [
        f"{what}:{way}"
        for what in ("orders", "stores", "tables", "products", "customers", "promotions")
        for way in ("read", "write")
    ]
    key = await business.key(*scopes, *_MORE, name="Till at Marina")
    story = Story(
        business.anybody.as_bearer(key["secret"]),
        {
            example_id("user_id"): business.user_id,
            example_id("key_id"): key["id"],
            "ada@example.com": business.email,
        },
    )
    for operation in MORNING:
        await story.does(operation)
    drink = await story.sends("POST", "/v1/products", world.NEW_CHAPMAN, 201)
    story.hears("the drink", world.CHAPMAN, drink.data)
    await story.does("GET /v1/products")
    for operation in NOON:
        await story.does(operation)
    promise = await story.sends("POST", "/v1/orders", sale.PROMISE, 201)
    story.known[sale.CONFIRMED["id"]] = promise.data["id"]
    confirmed = await story.sends(
        "POST", f"/v1/orders/{sale.CONFIRMED['id']}/confirm", _body(_CONFIRM), 200
    )
    story.hears(_CONFIRM, _answer(_CONFIRM), confirmed.json)
    for operation in LATER:
        await story.does(operation)


_MORE = ("inventory:write", "finance:read")
_CONFIRM = "POST /v1/orders/{order_id}/confirm"


def _described(operation: str) -> dict[str, Any]:
    method, path = operation.split()
    return DOCUMENT["paths"][path][method.lower()]


def _body(operation: str) -> Any:
    content = _described(operation)["requestBody"]["content"]["application/json"]
    return examples(content)[0]


def _answer(operation: str) -> Any:
    content = _described(operation)["responses"]["200"]["content"]["application/json"]
    return examples(content)[0]


def test_every_order_of_an_example_adds_up() -> None:
    """Lines sum up to the order, and what was paid and what remains to the total."""
    orders: list[dict[str, Any]] = []
    for path, methods in DOCUMENT["paths"].items():
        for method in methods:
            if path.startswith("/v1/orders") and method != "delete":
                data = _answer(f"{method.upper()} {path}")["data"]
                orders += [one for one in _listed(data) if "items" in one]
    assert len(orders) >= 8
    for order in orders:
        amounts = {name: _exact(v) for name, v in order.items() if name.endswith("Amount")}
        lines = [{n: _exact(v) for n, v in one.items() if _is_number(v)} for one in order["items"]]
        for line in lines:
            assert line["subtotalAmount"] == line["unitPrice"] * line["quantity"]
            net = line["subtotalAmount"] - line["discountAmount"]
            assert line["totalPrice"] == net + line["taxAmount"]
        for name in ("subtotalAmount", "discountAmount", "taxAmount"):
            assert amounts[name] == sum(line[name] for line in lines), name
        total = sum(line["totalPrice"] for line in lines)
        total += amounts["serviceChargeAmount"] + amounts["adjustmentAmount"]
        assert amounts["totalAmount"] == total
        paid = _exact(order["amountPaid"])
        assert amounts["remainingAmount"] == total - paid
        status = "paid" if paid >= total else "partial" if paid else "pending"
        assert order["paymentStatus"] == status
        assert {"completed": "paid", "pending": "pending"}[order["status"]] == status


def _listed(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


def _exact(value: Any) -> Decimal:
    return Decimal(str(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
