"""Rooms, guests and their stays, and what guests ask for: what this room brings along."""

from tillhouse.access.process import Services
from tillhouse.access.scopes import pair
from tillhouse.db.constraints import not_allowed, taken
from tillhouse.hotel.events import EVENTS
from tillhouse.hotel.reservations.store.tallies import update_tallies
from tillhouse.hotel.routes import ROUTES
from tillhouse.http.route import Group
from tillhouse.jobs.folding import folding_worker
from tillhouse.jobs.worker import Worker
from tillhouse.room import Room


async def _folding(services: Services) -> Worker:
    """The worker that folds the tallies of stays in one process."""
    return folding_worker("tallies of stays", services.pool, update_tallies)


ROOM = Room(
    name="hotel",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/hotel",
            "Hotel",
            "Rooms and their prices, guests, stays, and what guests ask for.",
            "hotel",
        ),
    ),
    events=EVENTS,
    scopes=pair(
        "hotel", ("rooms, guests and reservations", "Hotel"), "medium", readers=("front_desk",)
    ),
    kept_tables=(
        "hotel_guests",
        "hotel_rate_plans",
        "hotel_reservations",
        "hotel_room_types",
        "hotel_rooms",
        "hotel_service_requests",
        "hotel_stay_tallies",
    ),
    swept_tables={"hotel_stay_tally_changes": "tallies of stays"},
    refusals=(
        taken("hotel_room_types_name_key", "Another room type has this name: choose another."),
        taken("hotel_rooms_number_key", "Another room has this number: choose another."),
        taken(
            "hotel_rate_plans_name_key",
            "Another rate plan of the room type has this name: choose another.",
        ),
        not_allowed(
            "hotel_reservations_room_taken",
            "The room is not free on all of these days: choose another room or other days, see "
            "GET /v1/hotel/availability.",
        ),
        not_allowed(
            "hotel_reservations_in_room",
            "Somebody else is checked in there: check them out first, or move one of the two.",
        ),
        taken(
            "customers_not_expected",
            "The customer is the guest of a stay that is booked or checked in: cancel those stays "
            "first, or check them out, see GET /v1/hotel/reservations?guest_id=…",
        ),
        not_allowed(
            "hotel_reservations_of_known_guest",
            "The guest was deleted: book for another guest, or send guest.",
        ),
    ),
    redrawn=("hotel_reservations_code_key",),
    workers=(_folding,),
)
