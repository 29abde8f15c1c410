"""Academic terms and tags: what this room brings along."""

from tillhouse.labels.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="labels",
    routes=ROUTES,
    tables=("academic_terms", "tags"),
)
