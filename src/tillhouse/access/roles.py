"""Roles: their permissions in the dashboard and their scopes on the public routes."""

from typing import Literal

from tillhouse.access.scopes import BY_NAME, granted

Role = Literal["owner", "admin", "developer", "manager", "cashier", "kitchen"]

MANAGE_DEVELOPER_KEYS = "MANAGE_DEVELOPER_KEYS"
MANAGE_MEMBERS = "MANAGE_MEMBERS"
MANAGE_BUSINESS = "MANAGE_BUSINESS"

PERMISSIONS: dict[str, frozenset[str]] = {
    "owner": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "admin": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "developer": frozenset({MANAGE_DEVELOPER_KEYS}),
    "manager": frozenset(),
    "cashier": frozenset(),
    "kitchen": frozenset(),
}

_EVERY_SCOPE = frozenset(BY_NAME)
_MONEY_OUT = frozenset({"payouts:write", "wallet:withdrawals:create"})
_READS = frozenset(name for name in BY_NAME if name.endswith(":read"))

# The same /v1 routes serve the dashboard: a role is then as good as a key with these scopes.
SCOPES: dict[str, frozenset[str]] = {
    "owner": _EVERY_SCOPE,
    "admin": _EVERY_SCOPE,
    "developer": _READS,
    "manager": _EVERY_SCOPE - _MONEY_OUT,
    "cashier": granted(
        {
            "orders:read",
            "orders:write",
            "products:read",
            "customers:read",
            "customers:write",
            "stores:read",
            "promotions:read",
            "tables:read",
            "tables:write",
            "payment_links:write",
        }
    ),
    "kitchen": frozenset({"orders:read", "orders:write", "products:read", "tables:read"}),
}
