"""Requests and answers of the routes of room types and rooms."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.hotel.values import Floor, Heads, HotelName, HotelText, NightlyPrice, RoomNumber
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged

RoomStatus = Literal["clean", "dirty", "out_of_service"]


class NewRoomType(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A kind of room that is to be sold."""

    name: HotelName
    """Its name, such as Standard."""
    capacity: Heads
    """How many guests such a room is for, children too."""
    rate: NightlyPrice
    """The price of a night where no rate plan says another."""
    description: HotelText | None = None
    """Words for people."""


class RoomTypePatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a room type; absent fields stay, null clears."""

    name: HotelName | UnsetType = UNSET
    """Its name, such as Standard."""
    capacity: Heads | UnsetType = UNSET
    """How many guests such a room is for, children too."""
    rate: NightlyPrice | UnsetType = UNSET
    """The price of a night where no rate plan says another; what is booked keeps its price."""
    description: HotelText | UnsetType | None = UNSET
    """Words for people."""


class RoomType(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A kind of room."""

    id: UUID
    name: Annotated[str, Meta(examples=["Standard"])]
    capacity: int
    """How many guests such a room is for, children too."""
    rate: Decimal
    """The price of a night where no rate plan says another."""
    description: str | None
    rooms_count: int
    """How many rooms of it there are."""
    created_at: Timestamp
    updated_at: Timestamp


class NewRoom(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A room of the house; it keeps its type."""

    room_type_id: UUID
    """The kind of room that it is."""
    number: RoomNumber
    """The number on its door."""
    floor: Floor | None = None
    """The floor that it is on."""
    status: RoomStatus = "clean"
    """`out_of_service`: it can't be booked."""
    notes: HotelText | None = None
    """Words for those who work there."""


class RoomPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a room; absent fields stay, null clears."""

    number: RoomNumber | UnsetType = UNSET
    """The number on its door."""
    floor: Floor | UnsetType | None = UNSET
    """The floor that it is on."""
    status: RoomStatus | UnsetType = UNSET
    """`out_of_service`: it can't be booked."""
    notes: HotelText | UnsetType | None = UNSET
    """Words for those who work there."""


class RoomStatusChange(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How a room is now; absent fields stay, null clears."""

    status: RoomStatus
    """`out_of_service`: it can't be booked."""
    notes: HotelText | UnsetType | None = UNSET
    """Words for those who work there."""


class HotelRoom(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A room of the house, and who is in it."""

    id: UUID
    room_type_id: UUID
    """The kind of room that it is."""
    room_type_name: Annotated[str, Meta(examples=["Standard"])]
    number: Annotated[str, Meta(examples=["101"])]
    """The number on its door."""
    floor: str | None
    status: RoomStatus
    notes: str | None
    reservation_id: UUID | None
    """The stay that is checked in there; null: none."""
    guest_name: Annotated[str, Meta(examples=["Chinedu Eze"])] | None
    """The guest of that stay."""
    created_at: Timestamp
    updated_at: Timestamp


class RoomFilter(Paged):
    """Which rooms, and which page of them."""

    room_type_id: UUID | None = None
    """Only rooms of this type."""
    status: RoomStatus | None = None
    """Only rooms with this status."""


class RoomTypeFilter(Paged):
    """Which page of the room types."""
