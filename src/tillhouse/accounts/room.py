"""People and their businesses: what this room brings along."""

from tillhouse.accounts.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="accounts",
    routes=ROUTES,
    tables=("books", "businesses", "members", "subscriptions", "users"),
)
