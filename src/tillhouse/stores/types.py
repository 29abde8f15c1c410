"""Requests and answers of the routes of stores and staff."""

from typing import Annotated, cast
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.access.scopes import Role
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.text import Coded
from tillhouse.kit.values import Name, ZoneName

Address = Annotated[str, Meta(max_length=500)]


Minutes = Annotated[int, Meta(ge=0, le=1440)]


class OpeningTime(
    Coded,
    pattern="^(?:[01][0-9]|2[0-3]):[0-5][0-9]$",
    wrong="must be a time of the day such as 04:00",
    example="04:00",
):
    """A time of the day, `HH:MM`."""


class NewStore(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A store to be opened; without a time zone it has the business's."""

    name: Name
    address: Address | None = None
    phone: PhoneText | None = None
    time_zone: ZoneName | None = None
    """The time zone, as an IANA name; null: the business's."""
    day_cutoff: OpeningTime = cast("OpeningTime", "00:00")
    preparation_minutes: Minutes = 20
    is_active: bool = True


class StorePatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a store; absent fields stay, null clears."""

    name: Name | UnsetType = UNSET
    address: Address | UnsetType | None = UNSET
    phone: PhoneText | UnsetType | None = UNSET
    time_zone: ZoneName | UnsetType | None = UNSET
    """The time zone, as an IANA name; null: the business's."""
    day_cutoff: OpeningTime | UnsetType = UNSET
    preparation_minutes: Minutes | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET


class Store(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A place of business."""

    id: UUID
    name: str
    address: str | None
    phone: str | None
    time_zone: str | None
    day_cutoff: str
    preparation_minutes: int
    is_active: bool
    created_at: Timestamp
    updated_at: Timestamp


class Staff(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A person who works for the business."""

    id: UUID
    name: str
    email: str
    role: Role
