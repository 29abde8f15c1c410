"""How much there is of each variant: the face of the room."""

from tillhouse.access.scopes import Scope
from tillhouse.db.constraints import not_allowed
from tillhouse.http.route import Group
from tillhouse.room import Room
from tillhouse.stock.events import EVENTS
from tillhouse.stock.routes import ROUTES

ROOM = Room(
    name="stock",
    routes=ROUTES,
    groups=(Group("/v1/inventory", "Inventory", "Levels of stock, and every move.", "catalog"),),
    events=EVENTS,
    scopes=(Scope("inventory:write", "Adjust stock", "Catalog", "medium"),),
    kept_tables=("stock_levels", "stock_moves"),
    refusals=(
        not_allowed(
            "stock_levels_on_hand_bounds",
            "The stock of a variant would be more than can be counted: check the quantity.",
        ),
    ),
)
