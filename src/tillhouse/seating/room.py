"""Tables, and who sits at them: what this room brings along."""

from tillhouse.room import Room
from tillhouse.seating.routes import ROUTES

ROOM = Room(
    name="seating",
    routes=ROUTES,
    tables=("dining_tables", "table_sessions"),
)
