"""The wallet, and what is paid out of it: announced; operations come later."""

from tillhouse.payouts.events import EVENTS
from tillhouse.room import Room

ROOM = Room(name="payouts", events=EVENTS)
