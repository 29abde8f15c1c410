"""The rights of each role by area, read off the guards of the operations themselves."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.access.callers import Books, UserCaller
from tillhouse.access.scopes import PERMISSIONS, Role
from tillhouse.desk.rooms import ROOMS
from tillhouse.http.caller import READS, check_person
from tillhouse.http.route import Guard, Route, Scope, Session
from tillhouse.kit.errors import Forbidden
from tillhouse.kit.ids import BookId, BusinessId, UserId

Right = Literal["all", "part", "read", "none"]

# By the beginnings of paths; an operation is of the area with the longest one.
AREAS: Mapping[str, tuple[str, ...]] = {
    "orders": ("/v1/orders",),
    "kitchen": ("/v1/kitchen",),
    "links": ("/v1/payment-links",),
    "customers": ("/v1/customers",),
    "tables": ("/v1/tables", "/v1/table-sessions"),
    "goods": ("/v1/products", "/v1/variants", "/v1/categories", "/v1/modifier-groups",
              "/v1/promotions", "/v1/inventory"),
    "stores": ("/v1/stores", "/v1/staff", "/v1/tags", "/v1/academic-terms"),
    "inbox": ("/v1/messaging", "/v1/conversations", "/v1/messages"),
    "calls": ("/v1/voice",),
    "stays": ("/v1/hotel",),
    "rooms": ("/v1/hotel/rooms", "/v1/hotel/room-types", "/v1/hotel/rate-plans",
              "/v1/hotel/settings"),
    "requests": ("/v1/hotel/service-requests",),
    "finance": ("/v1/finance", "/v1/ledger", "/v1/debts", "/v1/disputes"),
    "wallet": ("/v1/wallet",),
    "payout_accounts": ("/v1/payout-accounts", "/v1/wallet/payouts"),
    "providers": ("/v1/payment-providers",),
    "portal": ("/api/developer", "/v1/events"),
    "people": ("/v1/members",),
    "business": ("/v1/business",),
}  # fmt: skip
_NOBODY = UUID(int=0)


class AreaRights(msgspec.Struct, frozen=True):
    """The rights of each role in one area."""

    name: str
    by_role: dict[Role, Right]


def area_of(path: str) -> str | None:
    """The area of an operation."""
    found = [(begin, name) for name, begins in AREAS.items() for begin in begins
             if path.startswith(begin)]  # fmt: skip
    return max(found, key=lambda one: len(one[0]))[1] if found else None


def rights(scopes: Mapping[str, frozenset[str]]) -> list[AreaRights]:
    """The areas with what each role may do there, as its operations let it."""
    of_roles: dict[Role, Mapping[str, Right]] = {
        role: _of_role(role, permissions, scopes[role]) for role, permissions in PERMISSIONS.items()
    }
    return [
        AreaRights(name, {role: found[name] for role, found in of_roles.items()}) for name in AREAS
    ]


@lru_cache(maxsize=32)
def _of_role(
    role: Role, permissions: frozenset[str], scopes: frozenset[str]
) -> Mapping[str, Right]:
    person = UserCaller(
        user_id=UserId(_NOBODY),
        session_id=_NOBODY,
        business_id=BusinessId(_NOBODY),
        books=Books(BookId(_NOBODY), BookId(_NOBODY)),
        name=role,
        email=role,
        role=role,
        permissions=permissions,
        scopes=scopes,
        password_verified_at=None,
        subscription_fault=None,
    )
    routes: dict[str, list[Route]] = {name: [] for name in AREAS}
    for room in ROOMS:
        for route in room.routes:
            area = area_of(route.path)
            if area is not None and _is_of_roles(route.guard):
                routes[area].append(route)
    return {name: _right(person, found) for name, found in routes.items()}


def _is_of_roles(guard: Guard) -> bool:
    """Whether a role decides: not of keys alone, and not open to every member."""
    match guard:
        case Scope():
            return not guard.keys_only
        case Session():
            return guard.permission is not None
        case _:
            return True


def _right(person: UserCaller, routes: Sequence[Route]) -> Right:
    allowed = [route for route in routes if _may(person, route)]
    if len(allowed) == len(routes):
        return "all"
    if any(route.method not in READS for route in allowed):
        return "part"
    return "read" if allowed else "none"


def _may(person: UserCaller, route: Route) -> bool:
    try:
        check_person(person, route.guard)
    except Forbidden:
        return False
    return True
