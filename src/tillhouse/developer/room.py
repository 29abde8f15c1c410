"""The portal: apps, API keys, the audit log, usage: the face of the room."""

from tillhouse.db.constraints import wrong_field
from tillhouse.developer.beyond import note_keys_beyond
from tillhouse.developer.routes import ROUTES
from tillhouse.developer.sweeping import SWEEPS
from tillhouse.http.route import Group
from tillhouse.room import Room

ROOM = Room(
    name="developer",
    routes=ROUTES,
    groups=(
        Group(
            "/api/developer",
            "Developer portal",
            "Apps, API keys, the audit log and usage.",
            "authentication",
        ),
    ),
    kept_tables=("api_keys", "developer_apps"),
    at_start=(note_keys_beyond,),
    chores=lambda _services: SWEEPS,
    refusals=(wrong_field("api_keys_have_a_scope", "scopes", "needs at least one scope"),),
)
