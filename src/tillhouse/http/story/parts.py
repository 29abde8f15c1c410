"""Which part of the story is the example of which type and of which operation."""

from copy import deepcopy
from typing import Any

from tillhouse.http.route import Route
from tillhouse.http.story import sale, world
from tillhouse.http.story.world import Json, changed, example_id

# What stands for a type, wherever nothing else is told of it.
_TYPES: dict[str, Any] = {
    "Store": world.STORE,
    "NewStore": world.NEW_STORE,
    "StorePatch": {"preparation_minutes": 25},
    "Staff": world.STAFF,
    "Table": world.TABLE,
    "NewTable": world.NEW_TABLE,
    "TablePatch": {"seats": 6},
    "Session": world.SESSION,
    "NewSession": {"table_id": world.TABLE["id"], "covers": 2},
    "SessionPatch": {"covers": 3},
    "Closing": {},
    "Term": world.TERM,
    "NewTerm": world.NEW_TERM,
    "TermPatch": {"ends_on": "2026-12-11"},
    "Tag": world.TAG,
    "NewTag": {"name": "Birthday"},
    "TagPatch": {"name": "Birthday party"},
    "Category": world.CATEGORY,
    "NewCategory": {"name": "Main dishes", "position": 1},
    "CategoryPatch": {"position": 2},
    "Customer": world.CUSTOMER,
    "NewCustomer": world.NEW_CUSTOMER,
    "CustomerPatch": {"notes": "Likes it mild now."},
    "ModifierGroup": world.EXTRAS,
    "NewModifierGroup": world.NEW_EXTRAS,
    "ModifierGroupPatch": {"max_choices": 1},
    "Product": world.JOLLOF,
    "NewProduct": world.NEW_JOLLOF,
    "ProductPatch": {"description": "Smoky, and hot."},
    "VariantShown": world.SHARED,
    "NewVariant": world.NEW_SHARED,
    "VariantPatch": {"price": 7000},
    "Promotion": world.PROMOTION,
    "NewPromotion": world.NEW_PROMOTION,
    "PromotionPatch": {"limit_total": 150},
    "StockLevel": world.LEVEL,
    "StockMove": world.MOVE,
    "NewAdjustment": world.NEW_ADJUSTMENT,
    "NewCount": {
        "store_id": world.STORE["id"],
        "items": [{"variant_id": world.LARGE["id"], "counted": 21}],
        "reason": "One fell down",
    },
    "NewTransfer": {
        "from_store_id": world.STORE["id"],
        "items": [{"variant_id": world.LARGE["id"], "quantity": 5}],
        "reason": "Back to the kitchen of the house",
    },
    "Order": sale.ORDER,
    "NewOrder": sale.NEW_ORDER,
    "OrderPatch": {"amount_paid": sale.TOTAL},
    "Confirmation": {"payment_method": "transfer", "amount_paid": 8600},
    "StageChange": {"status": "ready"},
    "ReceiptLink": {"url": sale.RECEIPT_URL},
    "TicketShown": sale.TICKET,
    "StageMessages": {
        "messages": [{"stage": "ready", "is_sent": True, "text": sale.STAGE_TEXT}],
    },
    "Debt": sale.DEBT,
    "Message": sale.MESSAGE,
}
_COUNTED = {**world.LEVEL, "onHand": 21, "available": 21, "updatedAt": world.CHANGED}
_OF_THE_HOUSE = {**_COUNTED, "id": example_id("house_level_id"), "storeId": None}
# What an operation answers, where it is not the thing of its type.
_ANSWERS: dict[str, Any] = {
    "PATCH /v1/stores/{store_id}": changed(world.STORE, preparationMinutes=25),
    "GET /v1/tables/{table_id}": world.SEATED_TABLE,
    "GET /v1/tables": [world.SEATED_TABLE],
    "PATCH /v1/tables/{table_id}": changed(world.SEATED_TABLE, seats=6),
    "GET /v1/table-sessions/{session_id}": sale.CHARGED_SESSION,
    "GET /v1/table-sessions": [sale.CHARGED_SESSION],
    "PATCH /v1/table-sessions/{session_id}": changed(sale.CHARGED_SESSION, covers=3),
    "POST /v1/table-sessions/{session_id}/close": changed(
        sale.CLOSED_SESSION, covers=3, updatedAt=world.LEFT
    ),
    "PATCH /v1/academic-terms/{term_id}": changed(world.TERM, endsOn="2026-12-11"),
    "PATCH /v1/tags/{tag_id}": changed(world.TAG, name="Birthday party", slug="birthday-party"),
    "PATCH /v1/categories/{category_id}": changed(world.CATEGORY, position=2),
    "PATCH /v1/customers/{customer_id}": changed(world.CUSTOMER, notes="Likes it mild now."),
    "PATCH /v1/modifier-groups/{modifier_group_id}": changed(world.EXTRAS, maxChoices=1),
    "GET /v1/products": [world.CHAPMAN, world.JOLLOF],
    "PATCH /v1/products/{product_id}": changed(world.JOLLOF, description="Smoky, and hot."),
    "PATCH /v1/variants/{variant_id}": changed(
        {**world.LARGE, "productId": world.JOLLOF["id"]}, price=7000
    ),
    "PATCH /v1/promotions/{promotion_id}": changed(world.PROMOTION, limitTotal=150),
    "GET /v1/inventory": [sale.SOLD_LEVEL],
    "GET /v1/inventory/moves": [sale.SOLD, world.MOVE],
    "POST /v1/inventory/counts": {"levels": [_COUNTED]},
    "POST /v1/inventory/transfers": {
        "levels": [
            {**_COUNTED, "onHand": 16, "available": 16},
            {**_OF_THE_HOUSE, "onHand": 5, "available": 5, "isLow": True},
        ]
    },
    "GET /v1/orders": [sale.with_receipt()],
    "GET /v1/orders/{order_id}": sale.with_receipt(),
    "PATCH /v1/orders/{order_id}": sale.PAID_ORDER,
    "POST /v1/orders/{order_id}/confirm": sale.CONFIRMED,
    "POST /v1/orders/{order_id}/kitchen-status": sale.COOKED,
    "POST /v1/orders/{order_id}/requery": sale.AUTOMATED,
    "GET /v1/kitchen/stage-messages": sale.stage_messages(),
    "PUT /v1/kitchen/stage-messages": sale.stage_messages(),
}
# What stands beside the data of an answer, as the contract names it.
_BESIDE: dict[str, Json] = {
    "GET /v1/orders": {"summary": sale.SUMMARY},
    "POST /v1/orders/{order_id}/send-to-kitchen": {"meta": {"notification": sale.UNTOLD}},
    "POST /v1/orders/{order_id}/kitchen-status": {"meta": {"notification": sale.NOTIFICATION}},
    "GET /api/developer/events": {"success": True},
}


def thing(title: str | None) -> Any:
    """What stands for a type in the story, or None."""
    return deepcopy(_TYPES.get(title or ""))


def answer(route: Route, data: Any, *, is_page: bool) -> Json:
    """The body of a success, with `data` where the story tells of nothing else."""
    operation = f"{route.method} {route.path}"
    told = deepcopy(_ANSWERS.get(operation, data))
    found: Json = {"message": route.message, "data": told}
    if is_page:
        found["meta"] = {
            "total": len(told), "page": 1, "perPage": 50, "totalPages": 1, "hasMore": False,
        }  # fmt: skip
    if operation.startswith("DELETE") and "deletedAt" in told:
        # It is what the path names.
        told["id"] = example_id(operation.rpartition("{")[2].rstrip("}"))
    return found | deepcopy(_BESIDE.get(operation, {}))
