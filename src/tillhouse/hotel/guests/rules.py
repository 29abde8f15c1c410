"""Rules of guests: pure decisions."""

from uuid import UUID

import msgspec

from tillhouse.customers.types import WantedCustomer
from tillhouse.hotel.guests.types import NewGuest
from tillhouse.kit.errors import Conflict, Refused, unknown


class GuestHasReservations(
    Refused,
    message=(
        "The guest has reservations that are booked or checked in: end or cancel them first, "
        "see GET /v1/hotel/reservations?guest_id=…"
    ),
):
    """A guest who is expected isn't deleted."""


class GuestFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a guest that are not the customer's."""

    name: str
    document_type: str | None
    document_number: str | None
    nationality: str | None
    notes: str | None


def wanted_customer(new: NewGuest, at: str = "") -> WantedCustomer:
    """The customer to be found or made."""
    return WantedCustomer(name=new.name, email=new.email, phone_number=new.phone_number, at=at)


def is_guest_already(guest_id: UUID) -> Conflict:
    """The refusal to make a guest of a customer who is one."""
    return Conflict(f"This customer is the guest {guest_id} already: book for that guest.")


UNKNOWN_GUEST = unknown("guest_id", "guest")
