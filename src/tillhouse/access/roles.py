"""The rights of each role: permissions in the dashboard, scopes on the public routes."""

from typing import get_args

from tillhouse.access.scopes import Role, Scopes

MANAGE_DEVELOPER_KEYS = "MANAGE_DEVELOPER_KEYS"
MANAGE_MEMBERS = "MANAGE_MEMBERS"
MANAGE_BUSINESS = "MANAGE_BUSINESS"

_MANAGING: dict[Role, frozenset[str]] = {
    "owner": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "admin": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "developer": frozenset({MANAGE_DEVELOPER_KEYS}),
}
_ROLES: tuple[Role, ...] = get_args(Role)
# Every role, also one without any.
PERMISSIONS: dict[Role, frozenset[str]] = {
    role: _MANAGING.get(role, frozenset()) for role in _ROLES
}


def roles_with(permission: str) -> list[Role]:
    """The roles that have a permission."""
    return [role for role, permissions in PERMISSIONS.items() if permission in permissions]


def scopes_by_role(scopes: Scopes) -> dict[str, frozenset[str]]:
    """The scopes of each role: on the public routes it is as good as a key with these."""
    return {
        role: scopes.granted(scope.name for scope in scopes if scope.belongs_to(role))
        for role in PERMISSIONS
    }
