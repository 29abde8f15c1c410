"""Where business is done, and who works there: what this room brings along."""

from tillhouse.room import Room
from tillhouse.stores.routes import ROUTES

ROOM = Room(
    name="stores",
    routes=ROUTES,
    tables=("stores",),
)
