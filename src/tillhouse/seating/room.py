"""Tables, and who sits at them: what this room brings along."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.room import Room
from tillhouse.seating.routes import ROUTES

ROOM = Room(
    name="seating",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/table-sessions",
            "Table sessions",
            "Guests at a table, from sitting down to paying.",
            "places",
        ),
        Group(
            "/v1/tables", "Tables", "The tables of a restaurant, and who sits at them.", "places"
        ),
    ),
    scopes=pair(
        "tables",
        ("tables and table sessions", "Business"),
        "low",
        readers=("cashier", "front_desk"),
        writers=("cashier", "front_desk"),
    ),
    kept_tables=("dining_tables", "table_sessions"),
    refusals=(
        taken(
            "dining_tables_label_key",
            "The store has a table of this label already: choose another.",
        ),
    ),
)
