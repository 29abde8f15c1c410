"""The events of stays and of what guests ask for."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.events import EventType


class ReservationData(msgspec.Struct, rename="camel"):
    """A hotel reservation."""

    id: UUID
    status: Literal["booked", "checked_in", "checked_out", "cancelled"]
    guest_id: UUID
    room_id: UUID | None
    check_in_date: Annotated[str, Meta(examples=["2026-02-01"])]
    check_out_date: Annotated[str, Meta(examples=["2026-02-03"])]


class ServiceRequestData(msgspec.Struct, rename="camel"):
    """The request of a guest."""

    id: UUID
    category: Annotated[str, Meta(examples=["housekeeping"])]
    status: Literal["open", "in_progress", "done"]
    guest_id: UUID | None
    reservation_id: UUID | None
    room_id: UUID | None
    source: Annotated[str, Meta(examples=["front_desk"])]


HOTEL_RESERVATION_CREATED = EventType(
    "hotel.reservation.created", "A stay was booked", "Hotel", ReservationData
)
HOTEL_RESERVATION_CHECKED_IN = EventType(
    "hotel.reservation.checked_in", "A guest checked in", "Hotel", ReservationData
)
HOTEL_RESERVATION_CHECKED_OUT = EventType(
    "hotel.reservation.checked_out", "A guest checked out", "Hotel", ReservationData
)
HOTEL_RESERVATION_CANCELLED = EventType(
    "hotel.reservation.cancelled", "A stay was cancelled", "Hotel", ReservationData
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
