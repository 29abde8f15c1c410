"""Requests and answers of the route of availability."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.hotel.values import DayShown
from tillhouse.kit.values import Day


class AvailabilityQuery(msgspec.Struct, rename={"since": "from", "until": "to"}):
    """Which nights, and of which rooms."""

    since: Day | None = None
    """The day of arrival; left out: today."""
    until: Day | None = None
    """The day of departure, at most 366 nights later; left out: 14 nights later."""
    room_type_id: UUID | None = None
    """Only rooms of this type."""


class FreeNight(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """One night of the rooms of a type."""

    date: DayShown
    """The day on which it begins."""
    taken: int
    """How many rooms are booked, or have somebody in them."""
    free: int
    """How many rooms can be booked."""


class TypeAvailability(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A kind of room, and how many of them are free each night."""

    room_type_id: UUID
    name: Annotated[str, Meta(examples=["Standard"])]
    capacity: int
    """How many guests such a room is for, children too."""
    rate: Decimal
    """The price of a night where no rate plan says another."""
    rooms_count: int
    """How many rooms of it there are."""
    out_of_service: int
    """How many of them can't be booked now."""
    free_throughout: int
    """How many rooms can be booked for all of the nights, also where bookings change rooms."""
    nights: list[FreeNight]
    """Each night, in order."""


class Availability(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The rooms that are free, by type and night."""

    check_in_date: DayShown
    """The first night begins on this day."""
    check_out_date: DayShown
    """The day of departure: the last night ends on it."""
    room_types: list[TypeAvailability]
    """The kinds of room, by name."""
