"""Which counts a caller may read: pure."""

from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.access.roles import MANAGE_DEVELOPER_KEYS
from tillhouse.http.route import Scope

# As the lists of these things are guarded.
GUARDS = {
    "orders": Scope("orders:read", roles=("kitchen",)),
    "kitchen_tickets": Scope("orders:read", roles=("kitchen",)),
    "conversations": Scope("messaging:read"),
    "service_requests": Scope("hotel:read", roles=("housekeeping",)),
    "active_links": Scope("payment_links:read"),
    "products_out_of_stock": Scope("products:read"),
    "disputes_due": Scope("finance:read"),
}
_FAILING = "failing_endpoints"


def readable(caller: KeyCaller | UserCaller | SystemCaller) -> frozenset[str]:
    """The names of the counts that this caller may read."""
    if isinstance(caller, SystemCaller):
        return frozenset((*GUARDS, _FAILING))
    role = caller.role if isinstance(caller, UserCaller) else None
    names = {
        name for name, guard in GUARDS.items() if guard.name in caller.scopes or role in guard.roles
    }
    return frozenset({*names, _FAILING} if _is_of_portal(caller) else names)


def _is_of_portal(caller: KeyCaller | UserCaller) -> bool:
    return (
        isinstance(caller, UserCaller)
        and MANAGE_DEVELOPER_KEYS in caller.permissions
        and caller.subscription_fault is None
    )
