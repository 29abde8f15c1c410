"""Tickets, and what customers hear of their stages: what this room brings along."""

from tillhouse.kitchen.events import EVENTS
from tillhouse.kitchen.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="kitchen",
    routes=ROUTES,
    events=EVENTS,
    tables=("kitchen_tickets", "stage_messages"),
)
