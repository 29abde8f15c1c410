"""Payment links: announced; operations come later."""

from tillhouse.access.scopes import Scope
from tillhouse.room import Room

ROOM = Room(
    name="checkout",
    scopes=(
        Scope("payment_links:read", "Read payment links", "Payment links", "low"),
        Scope(
            "payment_links:write",
            "Create and cancel payment links",
            "Payment links",
            "medium",
            grants=("payment_links:read",),
            roles=("cashier",),
        ),
    ),
)
