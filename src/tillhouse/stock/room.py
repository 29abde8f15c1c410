"""How much there is of each variant: what this room brings along."""

from tillhouse.room import Room
from tillhouse.stock.events import EVENTS
from tillhouse.stock.routes import ROUTES

ROOM = Room(
    name="stock",
    routes=ROUTES,
    events=EVENTS,
    tables=("stock_levels", "stock_moves"),
)
