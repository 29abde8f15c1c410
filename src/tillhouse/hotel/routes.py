"""The routes of /v1/hotel."""

from tillhouse.hotel.availability import actions as availability
from tillhouse.hotel.guests import actions as guests
from tillhouse.hotel.quotes import actions as quotes
from tillhouse.hotel.rates import actions as rates
from tillhouse.hotel.requests import actions as requests
from tillhouse.hotel.reservations import actions as reservations
from tillhouse.hotel.reservations import booking, changing
from tillhouse.hotel.rooms import actions as rooms
from tillhouse.http.route import Route, Scope

_HOTEL = "/v1/hotel"
_TYPES, _TYPE = f"{_HOTEL}/room-types", f"{_HOTEL}/room-types/{{room_type_id}}"
_ROOMS, _ROOM = f"{_HOTEL}/rooms", f"{_HOTEL}/rooms/{{room_id}}"
_PLANS, _PLAN = f"{_HOTEL}/rate-plans", f"{_HOTEL}/rate-plans/{{rate_plan_id}}"
_GUESTS, _GUEST = f"{_HOTEL}/guests", f"{_HOTEL}/guests/{{guest_id}}"
_STAYS, _STAY = f"{_HOTEL}/reservations", f"{_HOTEL}/reservations/{{reservation_id}}"
_REQUESTS = f"{_HOTEL}/service-requests"
_REQUEST = f"{_REQUESTS}/{{service_request_id}}"
_READ, _WRITE = Scope("hotel:read"), Scope("hotel:write")
# The desk sees to guests and their stays; rooms, their types and prices are given to it.
_DESK = Scope("hotel:write", roles=("front_desk",))
# Housekeeping sees rooms and service requests, and says how far they are; no money, no documents.
_SEE = Scope("hotel:read", roles=("housekeeping",))
_TEND = Scope("hotel:write", roles=("front_desk", "housekeeping"))

ROUTES: tuple[Route, ...] = (
    Route("GET", _TYPES, rooms.list_types, _READ, "List room types", "Room types"),
    Route("POST", _TYPES, rooms.create_type, _WRITE,
          "Create a room type", "Room type created",
          status=201, idempotent=True, faults=rooms.type_faults),
    Route("GET", _TYPE, rooms.show_type, _READ, "Read one room type", "Room type"),
    Route("PATCH", _TYPE, rooms.change_type, _WRITE,
          "Update a room type", "Room type updated", faults=rooms.type_patch_faults),
    Route("DELETE", _TYPE, rooms.delete_type, _WRITE,
          "Delete a room type that has no rooms", "Room type deleted"),
    Route("GET", _ROOMS, rooms.list_rooms, _SEE,
          "List rooms, each with who is in it", "Rooms"),
    Route("POST", _ROOMS, rooms.create_room, _WRITE,
          "Create a room", "Room created",
          status=201, idempotent=True, faults=rooms.room_faults),
    Route("GET", _ROOM, rooms.show_room, _SEE, "Read one room", "Room"),
    Route("PATCH", _ROOM, rooms.change_room, _WRITE,
          "Update a room: cleaned, dirty, out of service", "Room updated"),
    Route("POST", _ROOM + "/status", rooms.set_status, _TEND,
          "Say that a room is clean, dirty or out of service", "Room status set",
          idempotent=True),
    Route("DELETE", _ROOM, rooms.delete_room, _WRITE,
          "Delete a room that has no bookings", "Room deleted"),
    Route("GET", _PLANS, rates.list_page, _READ, "List rate plans", "Rate plans"),
    Route("POST", _PLANS, rates.create, _WRITE,
          "Create a rate plan", "Rate plan created",
          status=201, idempotent=True, faults=rates.new_faults),
    Route("GET", _PLAN, rates.show, _READ, "Read one rate plan", "Rate plan"),
    Route("PATCH", _PLAN, rates.change, _WRITE,
          "Update a rate plan", "Rate plan updated", faults=rates.patch_faults),
    Route("DELETE", _PLAN, rates.delete, _WRITE, "Delete a rate plan", "Rate plan deleted"),
    Route("GET", _GUESTS, guests.list_page, _READ,
          "List guests, the newest first", "Guests"),
    Route("POST", _GUESTS, guests.create, _DESK,
          "Create a guest", "Guest created",
          status=201, idempotent=True, faults=guests.new_faults),
    Route("GET", _GUEST, guests.show, _READ, "Read one guest", "Guest"),
    Route("PATCH", _GUEST, guests.change, _DESK, "Update a guest", "Guest updated"),
    Route("DELETE", _GUEST, guests.delete, _DESK,
          "Delete a guest whom nobody expects", "Guest deleted"),
    Route("GET", f"{_HOTEL}/availability", availability.show, _READ,
          "See which rooms are free, night by night", "Availability"),
    Route("GET", f"{_HOTEL}/quotes", quotes.list_page, _READ,
          "List what a stay would cost, by room type and rate plan", "Quotes"),
    Route("GET", _STAYS, reservations.list_page, _READ,
          "List reservations, the newest first", "Reservations"),
    Route("POST", _STAYS, booking.create, _DESK,
          "Book a room, for later or for somebody who is here", "Reservation created",
          status=201, idempotent=True, faults=booking.new_faults),
    Route("GET", _STAY, reservations.show, _READ, "Read one reservation", "Reservation"),
    Route("PATCH", _STAY, changing.change, _DESK,
          "Extend, shorten or else change a stay that isn't over", "Reservation updated",
          faults=changing.patch_faults),
    Route("POST", _STAY + "/move", changing.move, _DESK,
          "Give a stay another room", "Stay moved", idempotent=True,
          faults=changing.move_faults),
    Route("POST", f"{_HOTEL}/reservation-groups", booking.create_group, _DESK,
          "Book several rooms, all of them or none", "Reservations created",
          status=201, idempotent=True, faults=booking.group_faults),
    Route("POST", _STAY + "/check-in", reservations.check_in, _DESK,
          "Check a guest in", "Guest checked in", idempotent=True),
    Route("POST", _STAY + "/no-show", reservations.no_show, _DESK,
          "Note that a guest did not come", "Guest did not come", idempotent=True),
    Route("POST", _STAY + "/reinstate", reservations.reinstate, _DESK,
          "Take back that a guest did not come", "Reservation reinstated", idempotent=True),
    Route("GET", _REQUESTS, requests.list_page, _SEE,
          "List service requests, the newest first", "Service requests"),
    Route("POST", _REQUESTS, requests.create, _TEND,
          "Note what a guest asks for", "Service request created",
          status=201, idempotent=True, faults=requests.new_faults),
    Route("GET", _REQUEST, requests.show, _SEE, "Read one service request", "Service request"),
    Route("PATCH", _REQUEST, requests.change, _TEND,
          "Update a service request: begun, done, cancelled, given to a member",
          "Service request updated", faults=requests.patch_faults),
)  # fmt: skip
