"""Rules of service requests: whom they are for, and their next states. Pure decisions."""

from collections.abc import Iterator
from uuid import UUID

import msgspec

from tillhouse.hotel.events import RequestStatus
from tillhouse.hotel.guests.rules import UNKNOWN_GUEST
from tillhouse.hotel.requests.types import NewServiceRequest
from tillhouse.hotel.reservations.rules import OPEN
from tillhouse.kit.errors import FieldError, Refused, unknown
from tillhouse.kit.ids import UserId
from tillhouse.kit.partial import faults

_NEXT: dict[RequestStatus, tuple[RequestStatus, ...]] = {
    "open": ("in_progress", "done", "cancelled"),
    "in_progress": ("done", "cancelled"),
    "done": (),
    "cancelled": (),
}
UNKNOWN_ASSIGNEE = FieldError("assignee_id", "is no member of this business: see GET /v1/staff")


class NamedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a service request names, as the book knows it."""

    # The stay that is named, or the one that is checked in in the room.
    stay_id: UUID | None
    stay_status: str | None
    stay_guest_id: UUID | None
    stay_room_id: UUID | None
    has_room: bool
    has_guest: bool


class RequestSubject(msgspec.Struct, frozen=True):
    """The guest, the stay and the room of a service request."""

    guest_id: UUID | None
    reservation_id: UUID | None
    room_id: UUID | None


class RequestFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a service request that may change."""

    status: RequestStatus
    assignee_id: UserId | None
    description: str | None


def new_faults(new: NewServiceRequest, facts: NamedFacts) -> list[FieldError]:
    """Everything that is wrong with a new service request, beside its form."""
    return faults(
        lambda: _subject_errors(new),
        lambda: _stay_errors(new, facts),
        lambda: _room_errors(new, facts),
        lambda: _guest_errors(new, facts),
    )


def _subject_errors(new: NewServiceRequest) -> Iterator[FieldError]:
    if new.reservation_id is None and new.room_id is None and new.guest_id is None:
        yield FieldError("reservation_id", "or room_id or guest_id is needed: one of the three")


def _stay_errors(new: NewServiceRequest, facts: NamedFacts) -> Iterator[FieldError]:
    if new.reservation_id is not None and facts.stay_id is None:
        yield unknown("reservation_id", "reservation")


def _room_errors(new: NewServiceRequest, facts: NamedFacts) -> Iterator[FieldError]:
    if new.room_id is None:
        return
    if not facts.has_room:
        yield unknown("room_id", "room")
    elif facts.stay_room_id not in (None, new.room_id):
        yield FieldError("room_id", "is not the room of this reservation: leave room_id out")


def _guest_errors(new: NewServiceRequest, facts: NamedFacts) -> Iterator[FieldError]:
    if new.guest_id is None:
        return
    if not facts.has_guest:
        yield UNKNOWN_GUEST
    elif facts.stay_guest_id not in (None, new.guest_id):
        yield FieldError("guest_id", "is not the guest of this stay: leave guest_id out")


def subject_of(new: NewServiceRequest, facts: NamedFacts) -> RequestSubject:
    """The guest, the stay and the room, of which the request names at least one."""
    if facts.stay_id is None:
        return RequestSubject(new.guest_id, None, new.room_id)
    if facts.stay_status not in OPEN:
        raise Refused(
            f"The reservation is {facts.stay_status}: leave reservation_id out, and name the "
            "guest or the room."
        )
    return RequestSubject(facts.stay_guest_id, facts.stay_id, facts.stay_room_id)


def check_change(old: RequestFacts, new: RequestFacts) -> None:
    """Refuse to go back, or to change a request that is over."""
    if not _NEXT[old.status]:
        raise Refused(f"The service request is {old.status}: nothing changes it, make another.")
    if new.status not in (old.status, *_NEXT[old.status]):
        raise Refused(
            f"The service request is {old.status}: it can become "
            f"{' or '.join(_NEXT[old.status])} only."
        )
