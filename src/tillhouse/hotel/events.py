"""The events of stays and of service requests."""

from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.hotel.reservations.types import Reservation
from tillhouse.kit.events import EventType

RequestCategory = Literal["housekeeping", "maintenance", "food", "transport", "laundry", "other"]
RequestStatus = Literal["open", "in_progress", "done", "cancelled"]
RequestSource = Literal["guest", "staff", "voice", "message"]


class ServiceRequestData(msgspec.Struct, rename="camel"):
    """The request of a guest."""

    id: UUID
    category: RequestCategory
    status: RequestStatus
    guest_id: UUID | None
    reservation_id: UUID | None
    room_id: UUID | None
    source: RequestSource
    """How the wish was heard."""


HOTEL_RESERVATION_CREATED = EventType(
    "hotel.reservation.created", "A stay was booked", "Hotel", Reservation
)
HOTEL_RESERVATION_CHECKED_IN = EventType(
    "hotel.reservation.checked_in", "A guest checked in", "Hotel", Reservation
)
HOTEL_RESERVATION_CHECKED_OUT = EventType(
    "hotel.reservation.checked_out", "A guest checked out", "Hotel", Reservation
)
HOTEL_RESERVATION_CANCELLED = EventType(
    "hotel.reservation.cancelled", "A stay was cancelled", "Hotel", Reservation
)
HOTEL_SERVICE_REQUEST_CREATED = EventType(
    "hotel.service_request.created", "A guest asked for something", "Hotel", ServiceRequestData
)

EVENTS = (
    HOTEL_RESERVATION_CREATED,
    HOTEL_RESERVATION_CHECKED_IN,
    HOTEL_RESERVATION_CHECKED_OUT,
    HOTEL_RESERVATION_CANCELLED,
    HOTEL_SERVICE_REQUEST_CREATED,
)
