"""Stays, guests and what they ask for: announced; operations come later."""

from tillhouse.hotel.events import EVENTS
from tillhouse.room import Room

ROOM = Room(name="hotel", events=EVENTS)
