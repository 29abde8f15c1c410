"""An example for every schema: by its name, from its own examples, else from its type."""

from typing import Any

from tillhouse.http.story.parts import thing
from tillhouse.http.story.world import example_id

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
    "title": "API key Till at Marina: created",
    "total_latency_ms": 15408,
    "App.name": "Tills",
    "ErrorDetail.field": "scopes",
    "ErrorDetail.message": "is required",
    "Key.name": "Till at Marina",
    "KeyPatch.expires_at": "2027-01-31",
    "KeyPatch.name": "Till at Marina",
    "KeyPatch.withdrawal_policy": LEFT_OUT,
    "KeyWithSecret.name": "Till at Marina",
    "Me.name": "Ada Okafor",
    "Membership.name": "Ada's Kitchen",
    "Membership.type": "restaurant",
    "NewAccount.name": "Ada Okafor",
    "NewApp.name": "Tills",
    "NewKey.developer_app_id": LEFT_OUT,
    "NewKey.expires_at": "2027-01-31",
    "NewKey.name": "Till at Marina",
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
    "NumberShown.hook_path": "/hooks/whatsapp/0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e",
    "NumberShown.phone_number": "+2348030000000",
    "NumberShown.provider_number_id": "106540352242922",
    "NumberShown.provider": "whatsapp",
    "error": None,
    "template": None,
    "Assignee.name": "Ada Okafor",
    "Correspondent.name": "Chinedu Eze",
    "WithdrawalPolicy.currency": "NGN",
    "address": "12 Marina Road, Lagos",
    "notes": "Likes it hot.",
    "phone_number": "+2348030000000",
    "whatsapp_number": "+2348030000000",
    "area": "Terrace",
    "table_label": "T12",
    "description": "Smoky, with fried plantain.",
    "image_url": "https://cdn.example.com/jollof.jpg",
    "sku": "JOLLOF-L",
    "unit": "plate",
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
    told = thing(schema.get("title"))
    if told is not None:
        return told
    found: dict[str, Any] = {}
    for name, inner in schema.get("properties", {}).items():
        plain = _snake(name)
        named = NAMED.get(f"{schema.get('title')}.{plain}", NAMED.get(plain))
        if named is None and not (plain in NAMED and _may_be_null(inner)):
            named = example_of(inner, components, plain if plain != "id" else schema["title"])
        if named is not LEFT_OUT:
            found[name] = named
    return found


def _may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
