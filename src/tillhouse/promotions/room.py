"""Who gets how much off: what this room brings along."""

from tillhouse.promotions.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="promotions",
    routes=ROUTES,
    tables=("promotion_customers", "promotions"),
)
