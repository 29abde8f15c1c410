"""Scopes, which rooms declare, and the rights of each role: permissions on pages, and scopes."""

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import msgspec

Risk = Literal["low", "medium", "high", "critical"]
Role = Literal[
    "owner",
    "admin",
    "developer",
    "manager",
    "cashier",
    "kitchen",
    "front_desk",
    "housekeeping",
]

# The roles that may give a key every scope, but for those that say otherwise.
GRANTERS: tuple[Role, ...] = ("owner", "admin", "developer")
MANAGE_DEVELOPER_KEYS = "MANAGE_DEVELOPER_KEYS"
MANAGE_MEMBERS = "MANAGE_MEMBERS"
MANAGE_BUSINESS = "MANAGE_BUSINESS"

_MANAGING: dict[Role, frozenset[str]] = {
    "owner": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "admin": frozenset({MANAGE_DEVELOPER_KEYS, MANAGE_MEMBERS, MANAGE_BUSINESS}),
    "developer": frozenset({MANAGE_DEVELOPER_KEYS}),
}
ROLES: tuple[Role, ...] = get_args(Role)
# Every role, also one without any.
PERMISSIONS: dict[Role, frozenset[str]] = {role: _MANAGING.get(role, frozenset()) for role in ROLES}


class Scope(msgspec.Struct, frozen=True):
    """One right of an API key."""

    name: str
    label: str
    group: str
    risk: Risk
    grants: tuple[str, ...] = ()
    # Roles that have it beyond the general rule of `belongs_to`.
    roles: tuple[Role, ...] = ()
    # Roles that may give it to a key: a role that moves no money out makes no key that does.
    granters: tuple[Role, ...] = GRANTERS
    # A live key that may move money out must name the addresses it is used from.
    is_finance_write: bool = False
    # A key with it must say how much it may withdraw, and where to.
    needs_withdrawal_policy: bool = False

    def belongs_to(self, role: Role) -> bool:
        """Whether a role has it: by the general rule, or because it names the role."""
        match role:
            case "owner" | "admin":
                return True
            case "manager" if not self.is_finance_write:
                return True
            case "developer" if self.name.endswith(":read"):
                return True
            case _:
                return role in self.roles


class Scopes:
    """Every scope of the catalogue, in its order."""

    def __init__(self, declared: Iterable[Scope]) -> None:
        self._by_name = {scope.name: scope for scope in declared}

    def __iter__(self) -> Iterator[Scope]:
        return iter(self._by_name.values())

    def granted(self, names: Iterable[str]) -> frozenset[str]:
        """The scopes together with the children that they grant."""
        found = set(names)
        for scope in self._known(tuple(found)):
            found.update(scope.grants)
        return frozenset(found)

    def beyond(self, role: str, names: Iterable[str]) -> list[str]:
        """Those among the scopes that a role may give to no key."""
        known = self._known(sorted(self.granted(names)))
        return [scope.name for scope in known if role not in scope.granters]

    def guarded(self) -> dict[str, tuple[Role, ...]]:
        """The scopes that not every role of the portal may grant, each with those that may."""
        return {scope.name: scope.granters for scope in self if scope.granters != GRANTERS}

    def finance_writes(self, names: Iterable[str]) -> list[str]:
        """Those among the scopes that can move money out."""
        return [scope.name for scope in self._known(names) if scope.is_finance_write]

    def withdrawals(self, names: Iterable[str]) -> list[str]:
        """Those among the scopes that need a withdrawal policy."""
        return [scope.name for scope in self._known(names) if scope.needs_withdrawal_policy]

    def _known(self, names: Iterable[str]) -> Iterator[Scope]:
        return (self._by_name[name] for name in names if name in self._by_name)


def pair(
    noun: str,
    labels: tuple[str, str],
    risk: Risk,
    *,
    readers: tuple[Role, ...] = (),
    writers: tuple[Role, ...] = (),
) -> tuple[Scope, Scope]:
    """The read and write scopes of one kind of resource, labelled (what it is, its group)."""
    label, group = labels
    return (
        Scope(f"{noun}:read", f"Read {label}", group, "low", roles=readers),
        Scope(f"{noun}:write", f"Change {label}", group, risk, roles=writers),
    )


def roles_with(permission: str) -> list[Role]:
    """The roles that have a permission."""
    return [role for role, permissions in PERMISSIONS.items() if permission in permissions]


def scopes_by_role(scopes: Scopes) -> dict[str, frozenset[str]]:
    """The scopes of each role: on the public routes it is as good as a key with these."""
    return {
        role: scopes.granted(scope.name for scope in scopes if scope.belongs_to(role))
        for role in PERMISSIONS
    }
