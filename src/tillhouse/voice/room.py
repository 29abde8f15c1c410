"""The key's health check: what this room brings along."""

from tillhouse.room import Room
from tillhouse.voice.events import EVENTS
from tillhouse.voice.routes import ROUTES

ROOM = Room(
    name="voice",
    routes=ROUTES,
    events=EVENTS,
)
