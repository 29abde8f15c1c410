"""Rules of reservations: which stays may be booked, and when guests move in. Pure decisions."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.hotel.guests.rules import UNKNOWN_GUEST
from tillhouse.hotel.rates.rules import Prices, night_cost, nights_between
from tillhouse.hotel.rates.types import Tax
from tillhouse.hotel.reservations.types import NewReservation, Night, Reservation
from tillhouse.hotel.rooms.rules import UNKNOWN_TYPE
from tillhouse.hotel.values import AHEAD_DAYS_MAX, NIGHTS_MAX
from tillhouse.kit.clock import parse_date
from tillhouse.kit.errors import FieldError, Refused, unknown
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults
from tillhouse.kit.values import DayClock

GUEST_AT = "guest."
OPEN = ("booked", "checked_in")
UNKNOWN_PLAN = FieldError(
    "rate_plan_id",
    "is no rate plan of this room type: see GET /v1/hotel/rate-plans?room_type_id=…",
)
_NOON = timedelta(hours=12)


class TypeWent(
    Refused,
    message="A room type was deleted meanwhile: see GET /v1/hotel/room-types. None was booked.",
):
    """Several rooms are booked together or not at all."""


class BookingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a booking names, as the book knows it."""

    today: date
    currency: str
    room_type_id: UUID | None
    capacity: int | None
    room_number: str | None
    room_status: str | None
    room_fits_type: bool
    prices: Prices | None
    has_plan: bool
    guest_name: str | None


class PricedStay(msgspec.Struct, frozen=True, kw_only=True):
    """The days of a stay, and their cost."""

    check_in: date
    check_out: date
    nights: list[Night]
    taxes: list[Tax]
    total: Decimal


def booking_faults(new: NewReservation, facts: BookingFacts) -> list[FieldError]:
    """Everything that is wrong with a booking, beside its form."""
    return faults(
        lambda: _day_errors(new, facts.today),
        lambda: _type_errors(new, facts),
        lambda: _room_errors(new, facts),
        lambda: _plan_errors(new, facts),
        lambda: _guest_errors(new, facts),
        lambda: _head_errors(new, facts),
        lambda: _deposit_errors(new, facts),
    )


def at_room(index: int, fault: FieldError) -> FieldError:
    """The same fault, of one of several rooms."""
    return FieldError(f"reservations[{index}].{fault.field}", fault.message)


def _day_errors(new: NewReservation, today: date) -> Iterator[FieldError]:
    yield from stay_errors(new.check_in_date.day, new.check_out_date.day, today)
    if new.check_in and new.check_in_date.day != today:
        yield FieldError(
            "check_in", f"is only for stays that begin today: set check_in_date to {today}"
        )


def stay_errors(check_in: date, check_out: date, today: date) -> Iterator[FieldError]:
    """The faults of the days of a stay."""
    if check_in < today:
        yield FieldError("check_in_date", f"is in the past: the first day is {today}, today")
    yield from length_errors(check_in, check_out, today)


def length_errors(check_in: date, check_out: date, today: date) -> Iterator[FieldError]:
    """The faults of the days of a stay that may have begun."""
    last = today + timedelta(days=AHEAD_DAYS_MAX)
    if check_out <= check_in:
        yield FieldError("check_out_date", "must be after check_in_date")
    elif (check_out - check_in).days > NIGHTS_MAX:
        yield FieldError(
            "check_out_date", f"makes a stay of more than {NIGHTS_MAX} nights: book two"
        )
    elif check_out > last:
        yield FieldError("check_out_date", f"is too far ahead: the last day is {last}")


def _type_errors(new: NewReservation, facts: BookingFacts) -> Iterator[FieldError]:
    if new.room_type_id is None and new.room_id is None:
        yield FieldError("room_type_id", "is required where no room_id is given")
    elif new.room_type_id is not None and facts.capacity is None:
        yield UNKNOWN_TYPE


def _room_errors(new: NewReservation, facts: BookingFacts) -> Iterator[FieldError]:
    if new.room_id is None:
        return
    if facts.room_number is None:
        yield unknown("room_id", "room")
    elif not facts.room_fits_type:
        yield FieldError("room_id", f"is room {facts.room_number}, which is of another type")
    elif facts.room_status == "out_of_service":
        yield FieldError(
            "room_id",
            f"is room {facts.room_number}, which is out of service: choose another, or leave "
            "room_id out",
        )


def _plan_errors(new: NewReservation, facts: BookingFacts) -> Iterator[FieldError]:
    if new.rate_plan_id is not None and not facts.has_plan:
        yield UNKNOWN_PLAN


def _guest_errors(new: NewReservation, facts: BookingFacts) -> Iterator[FieldError]:
    if (new.guest_id is None) == (new.guest is None):
        yield FieldError("guest_id", "or guest is needed: one of the two")
    elif new.guest_id is not None and facts.guest_name is None:
        yield UNKNOWN_GUEST


def _head_errors(new: NewReservation, facts: BookingFacts) -> Iterator[FieldError]:
    if facts.capacity is not None and new.adults + new.children > facts.capacity:
        yield FieldError(
            "adults", f"and children must be at most {facts.capacity}: book several rooms"
        )


def _deposit_errors(new: NewReservation, facts: BookingFacts) -> Iterator[FieldError]:
    if new.deposit_amount is not None and (
        wrong := check_scale(new.deposit_amount, facts.currency)
    ):
        yield FieldError("deposit_amount", wrong)


def priced(
    check_in: date,
    check_out: date,
    prices: Prices,
    currency: str,
    booked: Sequence[Night] = (),
) -> PricedStay:
    """The nights of a stay with their cost; those that were booked keep their price."""
    kept = {night.date: night.price for night in booked}
    nights = [
        Night(day.isoformat(), kept.get(day.isoformat(), prices.of(day)))
        for day in nights_between(check_in, check_out)
    ]
    return PricedStay(
        check_in=check_in,
        check_out=check_out,
        nights=nights,
        taxes=prices.taxes,
        total=total_of(nights, prices.taxes, currency),
    )


def total_of(nights: Sequence[Night], taxes: Sequence[Tax], currency: str) -> Decimal:
    """The cost of the nights, with the taxes."""
    costs = (night_cost(night.price, taxes, currency).total for night in nights)
    return sum(costs, Decimal(0))


def order_of_guests(asked: Sequence[NewReservation]) -> list[int]:
    """The bookings of a group in an order that doesn't depend on how they were sent.

    Of two groups that name the same guests one then waits for the other, and never both.
    """

    def contact(index: int) -> tuple[str, str, str]:
        guest = asked[index].guest
        if guest is None:
            return "", "", ""
        return str(guest.phone_number or ""), str(guest.email or ""), str(guest.name)

    return sorted(range(len(asked)), key=contact)


def none_free(new: NewReservation, facts: BookingFacts) -> Refused:
    """The refusal of a booking that finds no room, or none to move into at once."""
    days = f"from {new.check_in_date} to {new.check_out_date}"
    ask = "see GET /v1/hotel/availability"
    number = facts.room_number
    if new.check_in:
        return _none_ready(new, facts, days)
    if number is not None:
        return Refused(
            f"Room {number} is not free {days}: choose another room or other days, {ask}."
        )
    return Refused(
        f"No room of this type is free {days}: choose another type or other days, {ask}."
    )


def _none_ready(new: NewReservation, facts: BookingFacts, days: str) -> Refused:
    dirty = "" if new.allow_dirty else ", have one cleaned, or send allow_dirty"
    if facts.room_number is None:
        return Refused(
            f"No room of this type is free {days} and ready to move into: see "
            f"GET /v1/hotel/rooms?room_type_id={facts.room_type_id}. Choose another type{dirty}."
        )
    if facts.room_status == "dirty" and not new.allow_dirty:
        return not_clean(facts.room_number)
    return Refused(
        f"Room {facts.room_number} is not free {days}, or somebody is still in it: choose another "
        "room, or check them out first, see GET /v1/hotel/rooms."
    )


def not_clean(room_number: str) -> Refused:
    """The refusal to let somebody move into a room that isn't cleaned."""
    return Refused(
        f"Room {room_number} is not clean: have it cleaned, choose another, or send allow_dirty."
    )


class ArrivalDays(msgspec.Struct, frozen=True):
    """The day that it is at the hotel, and the day on which the night now under way began."""

    today: date
    night: date


def arrival_days(time_zone: str, now: datetime) -> ArrivalDays:
    """The days by which somebody may move in now: a night lasts until noon."""
    return ArrivalDays(
        today=DayClock.at_midnight(time_zone).today(now),
        night=DayClock(time_zone, _NOON).today(now),
    )


def check_arrival(reservation: Reservation, days: ArrivalDays) -> None:
    """Refuse to let somebody move in too early or too late, or whose stay is over."""
    if reservation.status not in ("booked", "no_show"):
        raise Refused(
            f"The reservation is {reservation.status}: only one that is booked, or a no_show, "
            "can be checked in."
        )
    if days.today < parse_date(reservation.check_in_date):
        raise Refused(
            f"The stay begins on {reservation.check_in_date}: change check_in_date first, if the "
            "guest is here early."
        )
    if days.night >= parse_date(reservation.check_out_date):
        first = "change check_out_date first, or " if reservation.status == "booked" else ""
        raise Refused(f"The stay ended on {reservation.check_out_date}: {first}book anew.")


def check_ready(reservation: Reservation, room_status: str, *, allows_dirty: bool) -> None:
    """Refuse to let somebody move into a room that isn't ready."""
    if room_status == "out_of_service":
        raise Refused(
            f"Room {reservation.room_number} is out of service: move the reservation first."
        )
    if room_status == "dirty" and not allows_dirty:
        raise Refused(
            f"Room {reservation.room_number} is not clean: have it cleaned, move the reservation, "
            "or send allow_dirty."
        )


def check_not_over(reservation: Reservation, days: ArrivalDays) -> None:
    """Refuse to expect a guest again whose last night is over."""
    if days.night >= parse_date(reservation.check_out_date):
        raise Refused(f"The stay ended on {reservation.check_out_date}: book anew.")


def none_free_again(reservation: Reservation) -> Refused:
    """The refusal to expect a guest again for whom no room is left."""
    return Refused(
        f"No room of this type is free any more from {reservation.check_in_date} to "
        f"{reservation.check_out_date}: book anew for the nights that are left, or another type, "
        "see GET /v1/hotel/availability."
    )


def check_status(reservation: Reservation, wanted: str, verb: str) -> None:
    """Refuse a change for which a reservation has the wrong status."""
    if reservation.status != wanted:
        raise Refused(
            f"The reservation is {reservation.status}: only one that is {wanted} can be {verb}."
        )


def check_begun(reservation: Reservation, today: date) -> None:
    """Refuse to call somebody a no-show who was not expected yet."""
    if today < parse_date(reservation.check_in_date):
        raise Refused(
            f"The stay begins on {reservation.check_in_date}: nobody is late before. Cancel the "
            "reservation if it isn't wanted any more."
        )
