"""Rules of changes of stays: other days, heads, guests, prices or rooms. Pure decisions."""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.hotel.guests.rules import UNKNOWN_GUEST
from tillhouse.hotel.rates.rules import Prices
from tillhouse.hotel.reservations.rules import OPEN, UNKNOWN_PLAN, length_errors, not_clean
from tillhouse.hotel.reservations.types import Night, Reservation, ReservationPatch
from tillhouse.kit.clock import parse_date
from tillhouse.kit.errors import FieldError, Refused, unknown
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults

UNKNOWN_ROOM = unknown("room_id", "room")
_MOVED_IN = "can't change once the guest has moved in"


class ChangeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a change of a stay is judged by, as the book knows it."""

    today: date
    capacity: int
    is_taken: bool
    # The prices of new nights as it stands, and those of the plan that the change names.
    prices: Prices
    asked_prices: Prices | None
    guest_name: str | None
    # The nights that are orders.
    charged: list[str]
    # Whether there is money or an order of the stay.
    has_folio: bool


class RoomOfMove(msgspec.Struct, frozen=True, kw_only=True):
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
    before: Reservation, patch: ReservationPatch, facts: ChangeFacts
) -> list[FieldError]:
    """Everything that is wrong with a change, beside its form."""
    return faults(
        lambda: day_errors(before, wanted_days(before, patch), facts.today),
        lambda: head_errors(before, patch, facts.capacity),
        lambda: _guest_errors(before, patch, facts),
        lambda: _plan_errors(before, patch, facts),
        lambda: _deposit_errors(before, patch),
    )


def has_other_plan(before: Reservation, patch: ReservationPatch) -> bool:
    """Whether a change names another plan than the one that said the prices."""
    return patch.rate_plan_id is not UNSET and patch.rate_plan_id != before.rate_plan_id


def has_other_guest(before: Reservation, patch: ReservationPatch) -> bool:
    """Whether a change names another guest."""
    return patch.guest_id is not UNSET and patch.guest_id != before.guest_id


def _guest_errors(
    before: Reservation, patch: ReservationPatch, facts: ChangeFacts
) -> Iterator[FieldError]:
    if not has_other_guest(before, patch):
        return
    if before.status == "checked_in":
        yield FieldError("guest_id", _MOVED_IN)
    elif facts.guest_name is None:
        yield UNKNOWN_GUEST


def _plan_errors(
    before: Reservation, patch: ReservationPatch, facts: ChangeFacts
) -> Iterator[FieldError]:
    if not has_other_plan(before, patch):
        return
    if facts.asked_prices is None:
        yield UNKNOWN_PLAN
    elif facts.charged and facts.asked_prices.taxes != before.taxes:
        yield FieldError(
            "rate_plan_id",
            "has other taxes than the nights that were charged already: check the guest out, and "
            "book the other nights anew",
        )


def _deposit_errors(before: Reservation, patch: ReservationPatch) -> Iterator[FieldError]:
    if patch.deposit_amount is UNSET:
        return
    amount = patch.deposit_amount or Decimal(0)
    if before.status == "checked_in" and amount != before.deposit_amount:
        yield FieldError("deposit_amount", _MOVED_IN)
    elif wrong := check_scale(amount, before.currency):
        yield FieldError("deposit_amount", wrong)


def check_guest_free(before: Reservation, patch: ReservationPatch, facts: ChangeFacts) -> None:
    """Refuse another guest while the stay has money or orders, which are the first one's."""
    if has_other_guest(before, patch) and facts.has_folio:
        raise Refused(
            f"The stay has money or orders of {before.guest_name}: hand the money back and cancel "
            f"the orders first, see GET /v1/hotel/reservations/{before.id}/folio, or book anew "
            "for the other guest."
        )


def new_prices(before: Reservation, patch: ReservationPatch, facts: ChangeFacts) -> Prices:
    """The prices of the nights that don't keep theirs, and the taxes on all."""
    if has_other_plan(before, patch) and facts.asked_prices is not None:
        return facts.asked_prices
    return facts.prices


def kept_nights(before: Reservation, patch: ReservationPatch, facts: ChangeFacts) -> list[Night]:
    """The nights that keep their price: with another plan those that were charged."""
    if not has_other_plan(before, patch):
        return before.nights
    return [night for night in before.nights if night.date in facts.charged]


def told_changes(before: Reservation, after: Reservation) -> dict[str, dict[str, object]]:
    """Another guest, plan or deposit, as the audit log tells of it."""
    return {
        name: {"from": getattr(before, name), "to": getattr(after, name)}
        for name in ("guest_id", "rate_plan_id", "deposit_amount")
        if getattr(before, name) != getattr(after, name)
    }


def day_errors(before: Reservation, days: tuple[date, date], today: date) -> Iterator[FieldError]:
    """The faults of other days; those that stay as they are have none."""
    old = days_of(before)
    if days == old:
        return
    if days[0] != old[0] and before.status == "checked_in":
        yield FieldError("check_in_date", _MOVED_IN)
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


def check_move(before: Reservation, to: RoomOfMove, *, allows_dirty: bool) -> None:
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
