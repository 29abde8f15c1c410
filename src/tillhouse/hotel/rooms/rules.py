"""Rules of room types and rooms: pure decisions."""

from collections.abc import Iterator
from decimal import Decimal

import msgspec
from msgspec import UNSET

from tillhouse.hotel.rooms.types import NewRoomType, RoomTypePatch
from tillhouse.kit.errors import FieldError, LimitReached, Refused, unknown
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults

ROOM_TYPES_MAX = 50
ROOMS_MAX = 2_000


class TooManyTypes(
    LimitReached, message=f"A book has at most {ROOM_TYPES_MAX} room types: delete one first."
):
    """Availability shows all of them at once."""


class TooManyRooms(
    LimitReached, message=f"A book has at most {ROOMS_MAX} rooms: delete one first."
):
    """A booking looks at each of its type."""


class HasRooms(
    Refused, message="The room type has rooms: delete those first, see GET /v1/hotel/rooms."
):
    """A type isn't taken from its rooms."""


class HasReservations(
    Refused,
    message=(
        "The room has reservations that are booked or checked in: move or cancel them first, "
        "see GET /v1/hotel/reservations?room_id=…"
    ),
):
    """A room isn't taken from its guests."""


class IsOccupied(
    Refused, message="Somebody is checked in there: move the stay first, then change the status."
):
    """A room goes out of service when it is empty."""


class RoomTypeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A room type as it is to be stored."""

    name: str
    capacity: int
    rate: Decimal
    description: str | None


class RoomFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a room that may change."""

    number: str
    floor: str | None
    status: str
    notes: str | None


def room_type_faults(asked: NewRoomType | RoomTypePatch, currency: str) -> list[FieldError]:
    """The faults of a room type, beside its form."""

    def rate() -> Iterator[FieldError]:
        if asked.rate is not UNSET and (wrong := check_scale(asked.rate, currency)):
            yield FieldError("rate", wrong)

    return faults(rate)


UNKNOWN_TYPE = unknown("room_type_id", "room type")
