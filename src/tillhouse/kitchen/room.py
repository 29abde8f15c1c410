"""Tickets, and what customers hear of their stages: what this room brings along."""

from tillhouse.http.route import Group
from tillhouse.kitchen.events import EVENTS
from tillhouse.kitchen.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="kitchen",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/kitchen",
            "Kitchen",
            "The board of tickets, and what customers are told at each stage.",
            "kitchen",
        ),
    ),
    events=EVENTS,
    kept_tables=("kitchen_tickets", "stage_messages"),
)
