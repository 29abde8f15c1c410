"""Who gets how much off: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.promotions.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="promotions",
    routes=ROUTES,
    scopes=pair("promotions", ("promotions", "Catalog"), "medium", readers=("cashier",)),
    tables=("promotion_customers", "promotions"),
)
