"""Tables, and who sits at them: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.room import Room
from tillhouse.seating.routes import ROUTES

ROOM = Room(
    name="seating",
    routes=ROUTES,
    scopes=pair(
        "tables",
        ("tables and table sessions", "Business"),
        "low",
        readers=("cashier", "kitchen"),
        writers=("cashier",),
    ),
    tables=("dining_tables", "table_sessions"),
    refusals=(
        taken(
            "dining_tables_label_key",
            "The store has a table of this label already: choose another.",
        ),
    ),
)
