"""Rules of room types and rooms: pure decisions."""

from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.hotel.rooms.types import NewRoomType, RoomTypePatch
from tillhouse.kit.errors import FieldError, LimitReached, Refused, unknown
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults

ROOM_TYPES_MAX = 50
ROOMS_MAX = 2_000
_NAMED_MAX = 3


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


class RoomHasReservations(
    Refused,
    message=(
        "The room has reservations that are booked or checked in: move or cancel them first, "
        "see GET /v1/hotel/reservations?room_id=…"
    ),
):
    """A room isn't taken from its guests."""


class StayInRoom(msgspec.Struct, frozen=True, kw_only=True):
    """A stay that is booked or checked in, in a room that is to be closed."""

    id: UUID
    short_code: str
    guest_name: str
    status: str
    is_room_chosen: bool
    since: date
    until: date

    @property
    def named(self) -> str:
        """The stay, in words for people."""
        return f"{self.guest_name} ({self.short_code}, from {self.since} to {self.until})"


class RoomTypeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A room type as it is to be stored."""

    name: str
    capacity: int
    rate: Decimal
    description: str | None


class RoomFields(msgspec.Struct, frozen=True, kw_only=True):
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


def check_closable(number: str, stays: Sequence[StayInRoom]) -> None:
    """Refuse to close a room with a guest in it, or one that was promised to somebody."""
    inside = [stay.named for stay in stays if stay.status == "checked_in"]
    if inside:
        raise Refused(
            f"Checked in to room {number}: {_some(inside)}. Move the stay first, then close the "
            "room."
        )
    promised = [stay.named for stay in stays if stay.is_room_chosen]
    if promised:
        raise Refused(
            f"Room {number} was chosen by: {_some(promised)}. Move these stays first, then close "
            "the room."
        )


def no_other_room(number: str, stay: StayInRoom) -> Refused:
    """The refusal to close a room whose stay would have none."""
    return Refused(
        f"Room {number} stays open: no other room of its type is free for {stay.named}. Move the "
        "stay to a room of another type, or cancel it, then close the room."
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return ", ".join(names[:_NAMED_MAX]) + more
