"""The desk: what this room brings along."""

from tillhouse.desk.pages import pages
from tillhouse.room import Room

ROOM = Room(name="desk", pages=pages)
