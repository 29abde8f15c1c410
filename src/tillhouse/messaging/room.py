"""Messages to and from customers: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.http.route import Group
from tillhouse.messaging.events import EVENTS
from tillhouse.messaging.hook_routes import HOOKS
from tillhouse.messaging.jobs import kinds
from tillhouse.messaging.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="messaging",
    routes=ROUTES,
    groups=(
        Group("/v1/messaging", "Messaging", "Numbers, conversations and messages.", "messaging"),
        Group(
            "/v1/conversations", "Messaging", "Numbers, conversations and messages.", "messaging"
        ),
    ),
    pages=lambda: HOOKS,
    events=EVENTS,
    scopes=pair("messaging", ("conversations and messages", "Messaging"), "high"),
    kept_tables=("conversations", "messages", "messaging_numbers"),
    jobs=kinds,
)
