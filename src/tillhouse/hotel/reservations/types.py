"""Requests and answers of the routes of reservations."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.hotel.guests.types import NewGuest
from tillhouse.hotel.rates.types import Tax
from tillhouse.hotel.values import (
    GROUP_MAX,
    Children,
    DayShown,
    DepositAmount,
    Heads,
    HotelText,
)
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged
from tillhouse.kit.values import Day, Search

ReservationStatus = Literal["booked", "checked_in", "checked_out", "cancelled", "no_show"]
BookingSource = Literal[
    "front_desk", "phone", "website", "whatsapp", "walk_in", "agency", "voice", "other"
]


class NewReservation(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A room that is to be kept for somebody."""

    room_type_id: UUID | None = None
    """The kind of room; it may be left out where `room_id` is given."""
    room_id: UUID | None = None
    """The very room; left out: the free one of the type that leaves the smallest gap."""
    rate_plan_id: UUID | None = None
    """The plan that says the prices; left out: the rate of the room type, without taxes."""
    guest_id: UUID | None = None
    """The guest; either this or `guest`."""
    guest: NewGuest | None = None
    """Somebody new, or found by phone number or e-mail address; either this or `guest_id`."""
    check_in_date: Day
    """The first night begins on this day."""
    check_out_date: Day
    """The day of departure: the last night ends on it."""
    adults: Heads = 1
    children: Children = 0
    deposit_amount: DepositAmount | None = None
    """The amount that is asked for before the stay; left out: none."""
    source: BookingSource = "front_desk"
    """Where the booking came from."""
    notes: HotelText | None = None
    """Words for those who work there."""
    check_in: bool = False
    """Whether the guest is here and moves in at once: `check_in_date` is then today."""
    allow_dirty: bool = False
    """Whether somebody may move into a room that isn't cleaned."""


class NewGroup(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Rooms that are to be booked together: all of them or none."""

    reservations: Annotated[list[NewReservation], Meta(min_length=1, max_length=GROUP_MAX)]
    """The rooms, each with its guest and days; at most 20."""


class ReservationPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a stay that isn't over; absent fields stay, null clears."""

    check_in_date: Day | UnsetType = UNSET
    """The first night begins on this day; only before the guest moves in."""
    check_out_date: Day | UnsetType = UNSET
    """The day of departure, today or later; nights that were booked keep their prices."""
    adults: Heads | UnsetType = UNSET
    children: Children | UnsetType = UNSET
    guest_id: UUID | UnsetType = UNSET
    """Another guest; only before the guest moves in, and while the stay has no money and no
    orders."""
    rate_plan_id: UUID | UnsetType | None = UNSET
    """Another plan: each night that wasn't charged yet gets its price, and its taxes; null: the
    rate of the room type, without taxes."""
    deposit_amount: DepositAmount | UnsetType | None = UNSET
    """The amount that is asked for before the stay; only before the guest moves in."""
    notes: HotelText | UnsetType | None = UNSET
    """Words for those who work there."""


class Move(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Another room for a stay."""

    room_id: UUID
    """The room to move to; it may be of another type: the stay keeps its price."""
    reason: HotelText | None = None
    """The reason, in words for people."""
    allow_dirty: bool = False
    """Whether somebody may move into a room that isn't cleaned."""


class CheckIn(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How a guest moves in."""

    allow_dirty: bool = False
    """Whether somebody may move into a room that isn't cleaned."""


class Cancel(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Why a reservation is cancelled."""

    reason: HotelText | None = None
    """The reason, in words for people."""


class Night(msgspec.Struct, frozen=True, rename="camel"):
    """One night of a stay, at the price that was booked."""

    date: DayShown
    """The day on which it begins."""
    price: Decimal
    """Its price, without the taxes that come on top."""


class Reservation(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A stay: booked, under way or over."""

    id: UUID
    short_code: Annotated[str, Meta(examples=["H7K2M4QD"])]
    """A code that people can read out."""
    status: ReservationStatus
    group_id: UUID | None
    """The same for all rooms that were booked together; null: it was booked alone."""
    guest_id: UUID
    guest_name: Annotated[str, Meta(examples=["Chinedu Eze"])]
    """The guest's name when the room was booked."""
    customer_id: UUID
    """The customer that the guest is."""
    room_type_id: UUID
    room_type_name: Annotated[str, Meta(examples=["Standard"])]
    room_id: UUID
    """The room that the stay has."""
    room_number: Annotated[str, Meta(examples=["101"])]
    """The number on the room's door."""
    is_room_chosen: bool
    """Whether the very room was asked for, or given by a move: no booking changes it."""
    rate_plan_id: UUID | None
    """The plan that said the prices; null: the rate of the room type."""
    adults: int
    children: int
    check_in_date: DayShown
    """The first night begins on this day."""
    check_out_date: DayShown
    """The day of departure: the last night ends on it."""
    nights: list[Night]
    """Each night at the price that was booked."""
    taxes: list[Tax]
    """The taxes on each night."""
    total_amount: Decimal
    """The cost of all nights, with the taxes."""
    deposit_amount: Decimal
    """The amount that is asked for before the stay."""
    currency: str
    source: BookingSource
    """Where the booking came from."""
    notes: str | None
    confirmed_at: Timestamp | None
    """When the guest said that they will come, on these days; null: not yet."""
    checked_in_at: Timestamp | None
    """When the guest moved in; null: not yet."""
    checked_out_at: Timestamp | None
    """When the guest left; null: not yet."""
    cancelled_at: Timestamp | None
    """When it was cancelled; null: it wasn't."""
    no_show_at: Timestamp | None
    """When it was marked `no_show`; null: it wasn't."""
    cancel_reason: str | None
    """Why it was cancelled."""
    created_at: Timestamp
    updated_at: Timestamp


class ReservationGroup(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Rooms that were booked together."""

    group_id: UUID
    """The same for all rooms that were booked together."""
    reservations: list[Reservation]
    """The rooms, in the order of the request."""


class ReservationFilter(Paged, rename={"since": "from", "until": "to"}):
    """Which reservations, and which page of them."""

    status: Annotated[list[ReservationStatus], Meta(min_length=1)] | None = None
    """Only reservations with one of these statuses, split by commas."""
    since: Day | None = None
    """Only stays that begin on this day or later."""
    until: Day | None = None
    """Only stays that begin on this day or before."""
    departs_from: Day | None = None
    """Only stays that end on this day or later."""
    departs_to: Day | None = None
    """Only stays that end on this day or before."""
    room_id: UUID | None = None
    """Only stays in this room."""
    guest_id: UUID | None = None
    """Only this guest's stays."""
    group_id: UUID | None = None
    """Only the rooms that were booked together under this id."""
    search: Search | None = None
    """Only the reservation with this code, or those of whose guest's name a word begins so. The
    newest 1,000 of them are found."""
