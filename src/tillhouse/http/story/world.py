"""The shop that the examples of the API tell of: Ada's Kitchen, a restaurant in Lagos.

What is told of one thing fits what is told of all others: ids, times, and what comes of it. The
sale that happens in it is told in `sale`; a test lives through both with the real API.
"""

import hashlib
from datetime import datetime
from typing import Any

Json = dict[str, Any]

OPENED = "2026-01-05T08:00:00.000Z"
DELIVERED = "2026-01-31T07:15:00.000Z"
SEATED = "2026-01-31T11:42:00.000Z"
ORDERED = "2026-01-31T11:50:00.000Z"
READY = "2026-01-31T12:08:00.000Z"
PAID = "2026-01-31T12:40:00.000Z"
LEFT = "2026-01-31T12:46:00.000Z"
CHANGED = "2026-02-02T09:30:00.000Z"

# When things came to be that were not there when the shop opened; their ids tell it, too.
_MADE = {
    "level_id": DELIVERED, "move_id": DELIVERED, "session_id": SEATED, "order_id": ORDERED,
    "item_id": ORDERED, "drink_item_id": ORDERED, "ticket_id": ORDERED, "debt_id": ORDERED,
    "sold_id": ORDERED, "conversation_id": ORDERED, "message_id": READY, "question_id": ORDERED,
    "receipt_id": PAID, "scheduled_order_id": PAID, "deposit_id": PAID,
}  # fmt: skip
# Other names of the same thing.
_SAME = {
    "App": "developer_app_id",
    "Key": "key_id",
    "KeyWithSecret": "key_id",
    "developer_api_key_id": "key_id",
    "Endpoint": "endpoint_id",
    "webhook_endpoint_id": "endpoint_id",
    "Delivery": "delivery_id",
    "DeliveryWithAttempts": "delivery_id",
    "NumberShown": "number_id",
    "Me": "user_id",
    "staff_id": "user_id",
    "assignee_id": "user_id",
    "actor_user_id": "user_id",
    "served_by_user_id": "user_id",
    "Membership": "business_id",
    "product_id": "jollof_id",
    "variant_id": "large_id",
    "modifier_group_id": "extras_id",
}


def example_id(name: str) -> str:
    """A UUID of its own for each thing, the same in every build, of the time when it came to be."""
    name = _SAME.get(name, name)
    at = int(datetime.fromisoformat(_MADE.get(name, OPENED)).timestamp() * 1000)
    digits = hashlib.sha256(name.encode()).hexdigest()
    return f"{at >> 16:08x}-{at & 0xFFFF:04x}-7{digits[:3]}-9{digits[3:6]}-{digits[6:18]}"


def changed(thing: Json, **fields: Any) -> Json:
    """The same thing later."""
    return {**thing, "updatedAt": CHANGED, **fields}


_SINCE_OPENING: Json = {"createdAt": OPENED, "updatedAt": OPENED}

STORE: Json = {
    "id": example_id("store_id"),
    "name": "Marina",
    "address": "12 Marina Road, Lagos",
    "phone": "+2348030000001",
    "timeZone": "Africa/Lagos",
    "dayCutoff": "04:00",
    "preparationMinutes": 20,
    "isActive": True,
    **_SINCE_OPENING,
}
NEW_STORE: Json = {
    "name": "Marina",
    "address": "12 Marina Road, Lagos",
    "phone": "+234 803 000 0001",
    "time_zone": "Africa/Lagos",
    "day_cutoff": "04:00",
}
ADA: Json = {"id": example_id("user_id"), "name": "Ada Okafor"}
STAFF: Json = {**ADA, "email": "ada@example.com", "role": "owner"}
TABLE: Json = {
    "id": example_id("table_id"),
    "storeId": STORE["id"],
    "label": "T12",
    "area": "Terrace",
    "seats": 4,
    "isActive": True,
    "openSession": None,
    **_SINCE_OPENING,
}
NEW_TABLE: Json = {"label": "T12", "store_id": STORE["id"], "area": "Terrace", "seats": 4}
SESSION: Json = {
    "id": example_id("session_id"),
    "tableId": TABLE["id"],
    "tableLabel": "T12",
    "storeId": STORE["id"],
    "status": "open",
    "covers": 2,
    "ordersCount": 0,
    "totalAmount": 0,
    "unpaidAmount": 0,
    "currency": "NGN",
    "openedAt": SEATED,
    "closedAt": None,
    "updatedAt": SEATED,
}
SEATED_TABLE: Json = {
    **TABLE,
    "openSession": {"id": SESSION["id"], "covers": 2, "openedAt": SEATED},
}
TERM: Json = {
    "id": example_id("term_id"),
    "name": "First term 2026/27",
    "startsOn": "2026-09-14",
    "endsOn": "2026-12-18",
    **_SINCE_OPENING,
}
NEW_TERM: Json = {
    "name": "First term 2026/27", "starts_on": "2026-09-14", "ends_on": "2026-12-18",
}  # fmt: skip
TAG: Json = {
    "id": example_id("tag_id"), "name": "Birthday", "slug": "birthday", **_SINCE_OPENING,
}  # fmt: skip
CATEGORY: Json = {
    "id": example_id("category_id"), "name": "Main dishes", "position": 1, **_SINCE_OPENING,
}  # fmt: skip
CUSTOMER: Json = {
    "id": example_id("customer_id"),
    "name": "Chinedu Eze",
    "email": "chinedu@example.com",
    "phoneNumber": "+2348030000000",
    "whatsappNumber": "+2348030000000",
    "notes": "Likes it hot.",
    **_SINCE_OPENING,
}
NEW_CUSTOMER: Json = {
    "name": "Chinedu Eze",
    "email": "chinedu@example.com",
    "phone_number": "+234 803 000 0000",
    "whatsapp_number": "+234 803 000 0000",
    "notes": "Likes it hot.",
}
PLANTAIN: Json = {
    "id": example_id("option_id"), "name": "Plantain", "priceDelta": 300, "isActive": True,
}  # fmt: skip
_EXTRAS: Json = {
    "id": example_id("extras_id"),
    "name": "Extras",
    "minChoices": 0,
    "maxChoices": 2,
    "options": [
        PLANTAIN,
        {"id": example_id("pepper_id"), "name": "Extra pepper", "priceDelta": 0, "isActive": True},
    ],
}
EXTRAS: Json = {**_EXTRAS, **_SINCE_OPENING}
NEW_EXTRAS: Json = {
    "name": "Extras",
    "max_choices": 2,
    "options": [{"name": "Plantain", "price_delta": 300}, {"name": "Extra pepper"}],
}
_VARIANT: Json = {
    "id": example_id("small_id"),
    "name": "Small",
    "sku": "JOLLOF-S",
    "price": None,
    "imageUrl": None,
    "isActive": True,
    "isImplicit": False,
    "tracksStock": False,
    "stockPolicy": None,
    "lowStockThreshold": None,
    "position": 0,
    "prices": [],
}
LARGE: Json = {
    **_VARIANT,
    "id": example_id("large_id"),
    "name": "Large",
    "sku": "JOLLOF-L",
    "price": 2000,
    "tracksStock": True,
    "lowStockThreshold": 6,
    "position": 1,
}
JOLLOF: Json = {
    "id": example_id("jollof_id"),
    "name": "Jollof rice",
    "type": "variable",
    "description": "Smoky, from the wood fire.",
    "categoryId": CATEGORY["id"],
    "unit": "plate",
    "sku": None,
    "basePrice": 1500,
    "currency": "NGN",
    "taxRate": 7.5,
    "imageUrl": None,
    "isActive": True,
    "isExtraOnly": False,
    "variants": [_VARIANT, LARGE],
    "modifierGroups": [_EXTRAS],
    "components": [],
    **_SINCE_OPENING,
}
NEW_JOLLOF: Json = {
    "name": "Jollof rice",
    "description": "Smoky, from the wood fire.",
    "category_id": CATEGORY["id"],
    "unit": "plate",
    "base_price": 1500,
    "tax_rate": 7.5,
    "variants": [
        {"name": "Small", "sku": "JOLLOF-S"},
        {
            "name": "Large",
            "sku": "JOLLOF-L",
            "price": 2000,
            "tracks_stock": True,
            "low_stock_threshold": 6,
        },
    ],
    "modifier_group_ids": [EXTRAS["id"]],
}
CHAPMAN: Json = {
    **JOLLOF,
    "id": example_id("chapman_id"),
    "name": "Chapman",
    "type": "simple",
    "description": None,
    "categoryId": None,
    "unit": None,
    "sku": "CHAPMAN",
    "basePrice": 800,
    "variants": [
        {
            **_VARIANT,
            "id": example_id("glass_id"),
            "name": "",
            "sku": "CHAPMAN",
            "isImplicit": True,
        }
    ],
    "modifierGroups": [],
}
# The drink, as the test that lives through the story makes it.
NEW_CHAPMAN: Json = {"name": "Chapman", "sku": "CHAPMAN", "base_price": 800, "tax_rate": 7.5}
SHARED: Json = {
    **_VARIANT,
    "id": example_id("shared_id"),
    "name": "To share",
    "sku": "JOLLOF-XL",
    "price": 6500,
    "position": 2,
    "productId": JOLLOF["id"],
    "updatedAt": CHANGED,
}
NEW_SHARED: Json = {"name": "To share", "sku": "JOLLOF-XL", "price": 6500}
PROMOTION: Json = {
    "id": example_id("promotion_id"),
    "name": "Happy hour",
    "type": "percent",
    "scope": "order",
    "value": 10,
    "productIds": [],
    "categoryIds": [],
    "minimumSubtotal": 3000,
    "maximumDiscount": 2000,
    "startsAt": None,
    "endsAt": "2036-12-31T22:59:59.999Z",
    "days": [1, 2, 3],
    "fromTime": "16:00",
    "toTime": "18:00",
    "limitTotal": 100,
    "limitPerCustomer": None,
    "used": 0,
    "isActive": True,
    **_SINCE_OPENING,
}
NEW_PROMOTION: Json = {
    "name": "Happy hour",
    "type": "percent",
    "value": 10,
    "minimum_subtotal": 3000,
    "maximum_discount": 2000,
    "ends_at": "2036-12-31",
    "days": [1, 2, 3],
    "from_time": "16:00",
    "to_time": "18:00",
    "limit_total": 100,
}
# Who sells: the key of the till.
TILL: Json = {"id": example_id("key_id"), "name": "Till at Marina"}
LEVEL: Json = {
    "id": example_id("level_id"),
    "variantId": LARGE["id"],
    "productId": JOLLOF["id"],
    "productName": "Jollof rice",
    "variantName": "Large",
    "sku": "JOLLOF-L",
    "storeId": STORE["id"],
    "onHand": 24,
    "reserved": 0,
    "available": 24,
    "lowStockThreshold": 6,
    "isLow": False,
    "updatedAt": DELIVERED,
}
NEW_ADJUSTMENT: Json = {
    "variant_id": LARGE["id"],
    "store_id": STORE["id"],
    "kind": "purchase",
    "quantity": 24,
    "reason": "Delivery of Saturday",
}
MOVE: Json = {
    "id": example_id("move_id"),
    "variantId": LARGE["id"],
    "productId": JOLLOF["id"],
    "productName": "Jollof rice",
    "variantName": "Large",
    "storeId": STORE["id"],
    "kind": "purchase",
    "onHandChange": 24,
    "reservedChange": 0,
    "orderId": None,
    "reason": "Delivery of Saturday",
    "actor": {"type": "key", **TILL},
    "createdAt": DELIVERED,
}
