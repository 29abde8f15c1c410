"""How much there is of each variant: what this room brings along."""

from tillhouse.room import Room
from tillhouse.stock.routes import ROUTES

ROOM = Room(
    name="stock",
    routes=ROUTES,
    tables=("stock_levels", "stock_moves"),
)
