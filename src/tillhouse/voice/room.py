"""The key's health check: what this room brings along."""

from tillhouse.access.scopes import Scope
from tillhouse.http.route import Group
from tillhouse.room import Room
from tillhouse.voice.events import EVENTS
from tillhouse.voice.routes import ROUTES

ROOM = Room(
    name="voice",
    routes=ROUTES,
    groups=(Group("/v1/voice", "Voice", "Verify an API key.", "quickstart"),),
    events=EVENTS,
    scopes=(
        Scope("voice:read", "Check the key, read numbers and agents", "Voice", "low"),
        Scope("voice:calls:read", "Read calls", "Voice", "medium"),
        Scope("voice:calls:create", "Place calls", "Voice", "high"),
        Scope("voice:agents:write", "Change agents", "Voice", "medium"),
    ),
)
