"""The portal: apps, API keys, the audit log, usage: what this room brings along."""

from tillhouse.db.constraints import wrong_field
from tillhouse.developer.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="developer",
    routes=ROUTES,
    tables=("api_keys", "developer_apps"),
    refusals=(wrong_field("api_keys_have_a_scope", "scopes", "needs at least one scope"),),
)
