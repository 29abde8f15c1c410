"""Rules of changes of stays: other days, other heads, another room. Pure decisions."""

from collections.abc import Iterator
from datetime import date
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.hotel.reservations.rules import OPEN, length_errors, not_clean
from tillhouse.hotel.reservations.types import Reservation, ReservationPatch
from tillhouse.kit.clock import parse_date
from tillhouse.kit.errors import FieldError, Refused, unknown
from tillhouse.kit.partial import faults

UNKNOWN_ROOM = unknown("room_id", "room")


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """The room that a stay is to move to."""

    id: UUID
    number: str
    status: str
    room_type_id: UUID
    capacity: int
    is_occupied: bool
    is_taken: bool


def check_open(before: Reservation) -> None:
    """Refuse to change a stay that is over."""
    if before.status not in OPEN:
        raise Refused(
            f"The reservation is {before.status}: only one that is booked or checked_in can be "
            "changed. Book anew."
        )


def days_of(stay: Reservation) -> tuple[date, date]:
    """The days of a stay."""
    return parse_date(stay.check_in_date), parse_date(stay.check_out_date)


def wanted_days(before: Reservation, patch: ReservationPatch) -> tuple[date, date]:
    """The days of the stay after the change."""
    old = days_of(before)
    return (
        old[0] if patch.check_in_date is UNSET else patch.check_in_date.day,
        old[1] if patch.check_out_date is UNSET else patch.check_out_date.day,
    )


def patch_faults(
    before: Reservation, patch: ReservationPatch, capacity: int, today: date
) -> list[FieldError]:
    """Everything that is wrong with a change, beside its form."""
    return faults(
        lambda: day_errors(before, wanted_days(before, patch), today),
        lambda: head_errors(before, patch, capacity),
    )


def day_errors(before: Reservation, days: tuple[date, date], today: date) -> Iterator[FieldError]:
    """The faults of other days; those that stay as they are have none."""
    old = days_of(before)
    if days == old:
        return
    if days[0] != old[0] and before.status == "checked_in":
        yield FieldError("check_in_date", "can't change once the guest has moved in")
    elif days[0] != old[0] and days[0] < today:
        yield FieldError("check_in_date", f"is in the past: the first day is {today}, today")
    if days[1] != old[1] and days[1] < today:
        yield FieldError("check_out_date", f"is in the past: the first day is {today}, today")
    else:
        yield from length_errors(*days, today)


def head_errors(
    before: Reservation, patch: ReservationPatch, capacity: int
) -> Iterator[FieldError]:
    """The fault of more guests than the room is for."""
    adults = before.adults if patch.adults is UNSET else patch.adults
    children = before.children if patch.children is UNSET else patch.children
    if adults + children > max(capacity, before.adults + before.children):
        yield FieldError(
            "adults",
            f"and children must be at most {capacity}: move the reservation to a larger room "
            "first, or book another",
        )


def check_room_free(before: Reservation, days: tuple[date, date], *, is_taken: bool) -> None:
    """Refuse days on which somebody else has the room."""
    if is_taken:
        raise Refused(
            f"Room {before.room_number} is not free from {days[0]} to {days[1]}: move the "
            "reservation to another room first, or choose other days, see "
            "GET /v1/hotel/availability."
        )


def check_move(before: Reservation, to: Target, *, allows_dirty: bool) -> None:
    """Refuse a room that the guest can't have, or can't move into now."""
    if to.id == before.room_id:
        raise Refused(f"The stay has room {to.number} already: choose another.")
    if to.status == "out_of_service":
        raise Refused(f"Room {to.number} is out of service: choose another.")
    if before.adults + before.children > to.capacity:
        raise Refused(f"Room {to.number} is for {to.capacity} at most: choose a larger one.")
    if to.is_taken or (before.status == "checked_in" and to.is_occupied):
        raise Refused(
            f"Room {to.number} is not free from {before.check_in_date} to "
            f"{before.check_out_date}: choose another, or move its guest first, see "
            f"GET /v1/hotel/reservations?room_id={to.id}."
        )
    if before.status == "checked_in" and to.status == "dirty" and not allows_dirty:
        raise not_clean(to.number)
