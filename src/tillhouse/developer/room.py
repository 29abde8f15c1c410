"""The portal: apps, API keys, the audit log, usage: what this room brings along."""

from tillhouse.developer.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="developer",
    routes=ROUTES,
    tables=("api_keys", "developer_apps"),
)
