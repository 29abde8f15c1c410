"""People who buy: what this room brings along."""

from tillhouse.customers.events import EVENTS
from tillhouse.customers.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="customers",
    routes=ROUTES,
    events=EVENTS,
    tables=("customer_tallies", "customers"),
)
