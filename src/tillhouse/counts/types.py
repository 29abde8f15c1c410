"""Counts of open work, and which of them a caller may read: pure."""

import msgspec
from msgspec import UNSET, UnsetType

from tillhouse.access.callers import KeyCaller, SystemCaller, UserCaller
from tillhouse.access.scopes import MANAGE_DEVELOPER_KEYS
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


class OrderCounts(msgspec.Struct, frozen=True):
    """Orders that are open."""

    pending: int
    """Orders whose status is `pending`."""
    scheduled: int
    """Orders whose status is `scheduled`."""
    unpaid: int
    """Pending and completed orders whose `paymentStatus` is `pending` or `partial`."""


class TicketCounts(msgspec.Struct, frozen=True):
    """Tickets on the kitchen's board."""

    queued: int
    """Tickets that the kitchen hasn't begun."""
    preparing: int
    """Tickets that the kitchen is at."""
    ready: int
    """Tickets that wait to be served."""


class ConversationCounts(msgspec.Struct, frozen=True):
    """Conversations that want somebody."""

    waiting: int
    """Conversations that wait for a member to be given to."""
    unread: int
    """Open conversations with messages that no member has read."""


class RequestCounts(msgspec.Struct, frozen=True, rename="camel"):
    """Service requests of guests."""

    open: int
    """Requests that are not begun yet."""
    in_progress: int
    """Requests that somebody is at."""


class Counts(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The counts that the caller may read; the others are absent."""

    orders: OrderCounts | UnsetType = UNSET
    """Orders that are open; for all who read orders."""
    kitchen_tickets: TicketCounts | UnsetType = UNSET
    """Tickets on the kitchen's board; for all who read the board."""
    conversations: ConversationCounts | UnsetType = UNSET
    """Conversations that want somebody; with `messaging:read`."""
    service_requests: RequestCounts | UnsetType = UNSET
    """Service requests that aren't done; for all who read them."""
    active_links: int | UnsetType = UNSET
    """Payment links that can be paid; with `payment_links:read`."""
    products_out_of_stock: int | UnsetType = UNSET
    """Active products with a variant of which no place has any left; with `products:read`."""
    disputes_due: int | UnsetType = UNSET
    """Disputes that want evidence; with `finance:read`."""
    failing_endpoints: int | UnsetType = UNSET
    """Active webhook endpoints whose last three attempts failed; for members of the portal."""


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
