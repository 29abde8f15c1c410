"""Rooms, guests, their stays, and service requests: the face of the room."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import not_allowed, taken
from tillhouse.hotel.events import EVENTS
from tillhouse.hotel.reservations.store.tallies import STAY_TALLIES
from tillhouse.hotel.routes import ROUTES
from tillhouse.http.route import Group
from tillhouse.room import Room

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
    swept_tables={"hotel_stay_tally_changes": "tallies"},
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
        not_allowed(
            "hotel_rooms_empty",
            "The room has reservations that are booked or checked in: move or cancel them first, "
            "see GET /v1/hotel/reservations?room_id=…",
        ),
        not_allowed(
            "hotel_reservations_in_service",
            "The room is out of service: choose another one, see GET /v1/hotel/availability.",
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
    foldings=(STAY_TALLIES,),
)
