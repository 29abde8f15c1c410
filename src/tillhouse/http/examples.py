"""An example for every schema: by its name, from its own examples, else from its type."""

import hashlib
from typing import Any

LEFT_OUT = object()
"""A field that an example does without: a request rarely has them all."""

_PUBLIC_KEY = "thpk_test_4fT9kQ2mXc7B"
_SECRET = "thsk_test_4fT9kQ2mXc7B_u7Zq1nVd0sLw8RbYt5HcKe3JmXoGa9PfWi2DyBv6NhTz4M1x"  # noqa: S105

# "field", or "Struct.field" where the same word means another thing; in snake_case, which
# requests are written in, as answers use camelCase for the same names.
NAMED: dict[str, Any] = {
    "access_token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIwMTk4In0.q3J5c2lnbmF0dXJl",
    "actor_name": "Ada Okafor",
    "allowed_ip_ranges": ["203.0.113.0/24"],
    "allowed_origins": ["shop.example.com"],
    "allowed_payout_account_ids": None,
    "business_name": "Ada's Kitchen",
    "business_type": "restaurant",
    "country": "NG",
    "currency": "NGN",
    "email": "ada@example.com",
    "environment": "test",
    "endpoint": "/v1/orders/{id}",
    "error_count": 3,
    "error_message": None,
    "EventShown.type": "order.created",
    "Debt.closed_at": None,
    "Debt.order_short_code": "7KQ2M9XR",
    "Debtor.name": "Bola Ade",
    "last_delivery_status": "delivered",
    "Preview.preview": '{"id":"0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e","type":"order.created"',
    "url": "https://shop.example.com/hooks/tillhouse",
    "event_type": "api_key.created",
    "expires_at": "2027-01-31T22:59:59.999Z",
    "expires_in": 900,
    "grants": [],
    "group": "Orders",
    "ip_address": "203.0.113.7",
    "label": "Read orders",
    "last_used_ip": "203.0.113.7",
    "max_per_day": 250000,
    "max_per_transaction": 50000,
    "metadata": {"environment": "test", "scopes": ["orders:read"]},
    "method": "GET",
    "name": "Main shop",
    "password": "a long phrase is best",
    "permissions": ["MANAGE_DEVELOPER_KEYS"],
    "public_key": _PUBLIC_KEY,
    "refresh_token": "thrt_Vb2kQ8sYx4LmT7cR1wZ9dHfJ6nGpE3aK5uXoBv0iSqM",
    "request_count": 1284,
    "request_id": "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    "revoked_at": None,
    "role": "owner",
    "scopes": ["orders:read", "orders:write"],
    "secret": _SECRET,
    "secret_prefix": _SECRET[:27],
    "status_family": "2xx",
    "time_zone": "Africa/Lagos",
    "title": "API key Website checkout: created",
    "total_latency_ms": 15408,
    "Cancellation.reason": "Customer changed their mind",
    "Order.receipt_url": "https://till.example.com/receipts/0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    "Order.recovery_session_id": "rs_7KQ4M2XB",
    "ItemShown.variant_name": "Large",
    "App.name": "Web shop",
    "ErrorDetail.field": "scopes",
    "ErrorDetail.message": "is required",
    "Key.name": "Website checkout",
    "KeyPatch.expires_at": "2027-01-31",
    "KeyPatch.name": "Website checkout",
    "KeyPatch.withdrawal_policy": LEFT_OUT,
    "KeyWithSecret.name": "Website checkout",
    "Me.name": "Ada Okafor",
    "Membership.name": "Ada's Kitchen",
    "Membership.type": "restaurant",
    "Meta.has_more": True,
    "Meta.page": 1,
    "Meta.per_page": 50,
    "Meta.total": 120,
    "Meta.total_pages": 3,
    "NewAccount.name": "Ada Okafor",
    "NewApp.name": "Web shop",
    "NewOrder.academic_term_id": LEFT_OUT,
    "NewOrder.customer_id": LEFT_OUT,
    "NewOrder.discount_amount": LEFT_OUT,
    "NewOrder.hotel_reservation_id": LEFT_OUT,
    "NewOrder.hotel_room_id": LEFT_OUT,
    "NewOrder.occurred_at": LEFT_OUT,
    "NewOrder.promotion_id": LEFT_OUT,
    "NewOrder.scheduled_for": LEFT_OUT,
    "NewOrder.served_by_user_id": LEFT_OUT,
    "NewOrder.service_charge_amount": LEFT_OUT,
    "NewOrder.store_id": LEFT_OUT,
    "NewOrder.store_name": LEFT_OUT,
    "NewOrder.table_session_id": LEFT_OUT,
    "NewItem.custom_price": LEFT_OUT,
    "NewItem.variant_id": LEFT_OUT,
    "OrderPatch.scheduled_for": LEFT_OUT,
    "OrderPatch.cancellation_reason": LEFT_OUT,
    "OrderPatch.customer_id": LEFT_OUT,
    "OrderPatch.academic_term_id": LEFT_OUT,
    "OrderPatch.total_amount": LEFT_OUT,
    "OrderPatch.status": LEFT_OUT,
    "NewKey.developer_app_id": LEFT_OUT,
    "NewKey.expires_at": "2027-01-31",
    "NewKey.name": "Website checkout",
    "NewKey.withdrawal_policy": LEFT_OUT,
    "ScopeShown.name": "orders:read",
    "ScopeShown.risk": "low",
    "Subscription.status": "trial",
    "Subscription.trial_ends_at": "2026-02-14T09:30:00.000Z",
    "Verified.verified_until": "2026-01-31T09:45:00.000Z",
    "NewMessage.template": LEFT_OUT,
    "NewMessage.text": "Your order is ready.",
    "NewNumber.access_token": "EAAGm0PX4ZCpsBAKZCz3fVtQ2",
    "NewNumber.app_secret": "5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a",
    "NewNumber.phone_number": "+2348030000000",
    "NewNumber.provider_number_id": "106540352242922",
    "NewNumber.verify_token": "k3w9p-verify",
    "NewStageMessage.template": LEFT_OUT,
    "NumberShown.hook_path": "/hooks/whatsapp/0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    "NumberShown.phone_number": "+2348030000000",
    "NumberShown.provider_number_id": "106540352242922",
    "NumberShown.provider": "whatsapp",
    "error": None,
    "template": None,
    "Assignee.name": "Ada Okafor",
    "Correspondent.name": "Bola Ahmed",
    "Message.direction": "outbound",
    "Message.provider": "whatsapp",
    "Message.provider_message_id": "wamid.HBgNMjM0ODAzMDAwMDAwMRUCABEYEjg",
    "TicketItem.modifiers": ["Extra pepper"],
    "TicketItem.quantity": 2,
    "TicketItem.variant_name": "Large",
    "TicketShown.customer_name": "Bola Ahmed",
    "TicketShown.notes": "No onions, please",
    "TicketShown.seconds_in_stage": 240,
    "TicketShown.table_label": "T4",
    "WithdrawalPolicy.currency": "NGN",
    "address": "12 Marina Road, Lagos",
    "notes": "Likes it hot.",
    "Customer.name": "Chinedu Eze",
    "CustomerPatch.name": "Chinedu Eze",
    "NewCustomer.name": "Chinedu Eze",
    "phone_number": "+2348030000000",
    "whatsapp_number": "+2348030000000",
    "Store.phone": "+2348030000001",
    "Store.day_cutoff": "04:00",
    "NewStore.day_cutoff": "04:00",
    "Staff.name": "Ada Okafor",
    "area": "Terrace",
    "table_label": "T12",
    "Table.label": "T12",
    "NewTable.label": "T12",
    "NewTable.store_id": LEFT_OUT,
    "TablePatch.label": "T12",
    "TablePatch.store_id": LEFT_OUT,
    "Term.name": "First term 2026/27",
    "NewTerm.name": "First term 2026/27",
    "NewTerm.starts_on": "2026-09-14",
    "NewTerm.ends_on": "2026-12-18",
    "Term.starts_on": "2026-09-14",
    "Term.ends_on": "2026-12-18",
    "TermPatch.name": "First term 2026/27",
    "TermPatch.starts_on": "2026-09-14",
    "TermPatch.ends_on": "2026-12-18",
    "Tag.name": "Catering",
    "Tag.slug": "catering",
    "NewTag.name": "Catering",
    "TagPatch.name": "Catering",
    "Session.closed_at": None,
    "description": "Smoky, with fried plantain.",
    "image_url": "https://cdn.example.com/jollof.jpg",
    "sku": "JOLLOF-L",
    "unit": "plate",
    "Category.name": "Main dishes",
    "CategoryPatch.name": "Main dishes",
    "NewCategory.name": "Main dishes",
    "Component.name": "Jollof rice Large",
    "GivenModifierOption.id": LEFT_OUT,
    "GivenModifierOption.name": "Plantain",
    "Modifiers.name": "Extras",
    "ModifierGroup.name": "Extras",
    "ModifierGroupPatch.name": "Extras",
    "ModifierOption.name": "Plantain",
    "NewModifierGroup.name": "Extras",
    "NewModifierOption.name": "Plantain",
    "NewAdjustment.store_id": LEFT_OUT,
    "NewAdjustment.kind": "purchase",
    "NewCount.store_id": LEFT_OUT,
    "NewTransfer.from_store_id": LEFT_OUT,
    "MoveActor.name": "Website checkout",
    "StockMove.product_name": "Jollof rice",
    "StockMove.variant_name": "Large",
    "StockLevel.product_name": "Jollof rice",
    "StockLevel.variant_name": "Large",
    "StockLevel.sku": "JOLLOF",
    "StockLevel.available": 18,
    "StockLevel.on_hand": 20,
    "StockLevel.reserved": 2,
    "StockLevel.low_stock_threshold": 20,
    "StockMove.on_hand_change": 24,
    "StockMove.reserved_change": 0,
    "StockMove.kind": "purchase",
    "StockMove.reason": "Delivery of Monday",
    "StockMove.order_id": None,
    "NewPromotion.name": "Happy hour",
    "PromotionPatch.name": "Happy hour",
    "Promotion.name": "Happy hour",
    "NewPromotion.from_time": "16:00",
    "NewPromotion.to_time": "18:00",
    "PromotionPatch.from_time": "16:00",
    "PromotionPatch.to_time": "18:00",
    "Promotion.from_time": "16:00",
    "Promotion.to_time": "18:00",
    "Promotion.value": 10,
    "Promotion.product_ids": [],
    "Promotion.category_ids": [],
    "Promotion.days": [1, 2, 3],
    "Promotion.ends_at": "2027-01-31T22:59:59.999Z",
    "NewPromotion.starts_at": "2027-01-01",
    "PromotionPatch.scope": LEFT_OUT,
    "PromotionPatch.product_ids": LEFT_OUT,
    "PromotionPatch.category_ids": LEFT_OUT,
    "PromotionPatch.starts_at": "2027-01-01",
    "Promotion.used": 3,
    "Promotion.limit_total": 100,
    "Promotion.limit_per_customer": 1,
    "NewPromotion.limit_total": 100,
    "PromotionPatch.limit_total": 100,
    "NewProduct.category_id": LEFT_OUT,
    "NewProduct.components": LEFT_OUT,
    "NewProduct.low_stock_threshold": LEFT_OUT,
    "NewProduct.modifier_group_ids": LEFT_OUT,
    "NewProduct.name": "Jollof rice",
    "NewProduct.prices": LEFT_OUT,
    "NewProduct.sku": "JOLLOF",
    "NewProduct.stock_policy": LEFT_OUT,
    "NewProduct.tracks_stock": LEFT_OUT,
    "NewProduct.type": "variable",
    "NewProduct.variants": [{"name": "Small"}, {"name": "Large", "price": 2000}],
    "NewVariant.name": "Large",
    "NewVariant.prices": LEFT_OUT,
    "Product.name": "Jollof rice",
    "Product.sku": "JOLLOF",
    "ProductPatch.category_id": LEFT_OUT,
    "ProductPatch.components": LEFT_OUT,
    "ProductPatch.modifier_group_ids": LEFT_OUT,
    "ProductPatch.name": "Jollof rice",
    "ProductPatch.prices": LEFT_OUT,
    "ProductPatch.sku": "JOLLOF",
    "Variant.name": "Large",
    "VariantPatch.name": "Large",
    "VariantPatch.prices": LEFT_OUT,
    "VariantShown.name": "Large",
}

_BY_FORMAT = {"date-time": "2026-01-31T09:30:00.000Z", "date": "2026-01-31"}
_BY_TYPE: dict[str, Any] = {"integer": 1, "number": 1500.5, "boolean": True, "null": None}


def example_of(schema: dict[str, Any], components: dict[str, Any], name: str = "text") -> Any:
    """A value that fits the schema, as real as its name allows."""
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components, name)
    if schema.get("examples"):
        return schema["examples"][0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], components, name)
    return _by_type(schema, components, name)


def _by_type(schema: dict[str, Any], components: dict[str, Any], name: str) -> Any:
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, components)
    if kind == "array":
        return [example_of(schema.get("items", {}), components, name)]
    if kind in _BY_TYPE:
        return schema.get("minimum", _BY_TYPE[kind]) if kind == "integer" else _BY_TYPE[kind]
    if schema.get("format") == "uuid":
        return example_id(name)
    return _BY_FORMAT.get(schema.get("format", ""), name)


def _object(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, inner in schema.get("properties", {}).items():
        plain = _snake(name)
        named = NAMED.get(f"{schema.get('title')}.{plain}", NAMED.get(plain))
        if named is None and not (plain in NAMED and _may_be_null(inner)):
            named = example_of(inner, components, plain if plain != "id" else schema["title"])
        if named is not LEFT_OUT:
            found[name] = named
    return found


def example_id(name: str) -> str:
    """A UUID of its own for each name, the same in every build."""
    digits = hashlib.sha256(name.encode()).hexdigest()
    return f"0198c2f0-7b1e-7{digits[:3]}-9{digits[3:6]}-{digits[6:18]}"


def _may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
