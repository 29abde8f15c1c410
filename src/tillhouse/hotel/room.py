"""Stays, guests and what they ask for: announced; operations come later."""

from tillhouse.access.scopes import pair
from tillhouse.hotel.events import EVENTS
from tillhouse.room import Room

ROOM = Room(
    name="hotel",
    events=EVENTS,
    scopes=pair("hotel", ("rooms, guests and reservations", "Hotel"), "medium"),
)
