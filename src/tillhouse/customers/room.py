"""People who buy: what this room brings along."""

from tillhouse.customers.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="customers",
    routes=ROUTES,
    tables=("customer_tallies", "customers"),
)
