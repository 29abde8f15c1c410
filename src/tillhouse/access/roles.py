"""The rights of each role: permissions in the dashboard, scopes on the public routes."""

from tillhouse.access.scopes import Role, Scope, Scopes

MANAGE_DEVELOPER_KEYS = "MANAGE_DEVELOPER_KEYS"
MANAGE_MEMBERS = "MANAGE_MEMBERS"
MANAGE_BUSINESS = "MANAGE_BUSINESS"

PERMISSIONS: dict[Role, frozenset[str]] = {
    "owner": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "admin": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "developer": frozenset({MANAGE_DEVELOPER_KEYS}),
    "manager": frozenset(),
    "cashier": frozenset(),
    "kitchen": frozenset(),
    "front_desk": frozenset(),
    "housekeeping": frozenset(),
}


def roles_with(permission: str) -> list[Role]:
    """The roles that have a permission."""
    return [role for role, permissions in PERMISSIONS.items() if permission in permissions]


def has_scope(role: Role, scope: Scope) -> bool:
    """Whether a role has a scope: by the general rule, or because the scope names the role."""
    match role:
        case "owner" | "admin":
            return True
        case "manager" if not scope.is_finance_write:
            return True
        case "developer" if scope.name.endswith(":read"):
            return True
        case _:
            return role in scope.roles


def scopes_by_role(scopes: Scopes) -> dict[str, frozenset[str]]:
    """The scopes of each role: on the public routes it is as good as a key with these."""
    return {
        role: scopes.granted(scope.name for scope in scopes if has_scope(role, scope))
        for role in PERMISSIONS
    }
