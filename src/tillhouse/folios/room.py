"""Folios of stays, check-out and the night audit: the face of the room."""

from tillhouse.folios.bills.actions import pages
from tillhouse.folios.events import EVENTS
from tillhouse.folios.jobs import chores, kinds
from tillhouse.folios.proof import FOLIO_SOURCE, RETURN_SOURCE
from tillhouse.folios.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="folios",
    routes=ROUTES,
    events=EVENTS,
    pages=pages,
    kept_tables=(
        "folio_nights",
        "folio_payments",
        "folio_returns",
        "folio_uses",
        "hotel_audits",
        "hotel_settings",
    ),
    chores=chores,
    jobs=kinds,
    sources=(FOLIO_SOURCE, RETURN_SOURCE),
)
