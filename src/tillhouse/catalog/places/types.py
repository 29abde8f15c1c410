"""What the routes of stores, tables, sessions, terms, tags and staff take and answer."""

import re
from decimal import Decimal
from typing import Annotated, ClassVar, Literal, cast
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.access.roles import Role
from tillhouse.kit import clock, text
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.values import Name, Schema, Value, ZoneName

LABEL_LENGTH_MAX = 60

Address = Annotated[str, Meta(max_length=500)]
Minutes = Annotated[int, Meta(ge=0, le=1440)]
Heads = Annotated[int, Meta(ge=1, le=1000)]
Day = Annotated[str, Meta(extra_json_schema={"format": "date"}, examples=["2026-01-31"])]
SessionStatus = Literal["open", "closed"]


class Label(Value):
    """A short name, such as a table's: 1 to 60 characters on one line."""

    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": LABEL_LENGTH_MAX,
        "pattern": r"^\s*[^\s](?:[^\t\n\r]*[^\s])?\s*$",
        "examples": ["T12"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Trimmed, on one line."""
        cleaned = text.clean(value)
        # As the pattern says it: blanks at the ends count as well.
        if not cleaned or len(value) > LABEL_LENGTH_MAX:
            raise ValueError(f"must have 1 to {LABEL_LENGTH_MAX} characters")
        if "\n" in cleaned or "\r" in cleaned or "\t" in cleaned:
            raise ValueError("must be on one line")
        return cleaned


class TagName(Label):
    """What a tag is called; where one is looked for, its id or slug does as well."""

    SCHEMA: ClassVar[Schema] = {
        **Label.SCHEMA,
        "description": "At least one letter or digit, of any script",
        "examples": ["Catering"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Something of it is left in its slug."""
        cleaned = super().check(value)
        if not text.slug(cleaned):
            raise ValueError("must have a letter or a digit")
        return cleaned


class TimeOfDay(Value):
    """A time of the day, `HH:MM`."""

    SCHEMA: ClassVar[Schema] = {
        "pattern": "^(?:[01][0-9]|2[0-3]):[0-5][0-9]$",
        "examples": ["04:00"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Between 00:00 and 23:59."""
        if re.fullmatch("(?:[01][0-9]|2[0-3]):[0-5][0-9]", value, re.ASCII) is None:
            raise ValueError("must be a time of the day such as 04:00")
        return value


class DayGiven(Value):
    """A calendar day, `YYYY-MM-DD`."""

    SCHEMA: ClassVar[Schema] = {"format": "date", "examples": ["2026-01-31"]}

    @classmethod
    def check(cls, value: str) -> str:
        """In the calendar."""
        clock.parse_date(value)
        return value


class Paged(msgspec.Struct):
    """Which page of a list."""

    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    limit: Annotated[int, Meta(ge=1, le=100)] = 50


class Deleted(msgspec.Struct, frozen=True, rename="camel"):
    """What is no longer in its list."""

    id: UUID
    deleted_at: Timestamp


class NewStore(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A store to be opened; without a time zone it has the business's."""

    name: Name
    address: Address | None = None
    phone: PhoneText | None = None
    time_zone: ZoneName | None = None
    day_cutoff: TimeOfDay = cast("TimeOfDay", "00:00")
    preparation_minutes: Minutes = 20
    is_active: bool = True


class StorePatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is to change of a store; what is absent stays, null clears."""

    name: Name | UnsetType = UNSET
    address: Address | UnsetType | None = UNSET
    phone: PhoneText | UnsetType | None = UNSET
    time_zone: ZoneName | UnsetType | None = UNSET
    day_cutoff: TimeOfDay | UnsetType = UNSET
    preparation_minutes: Minutes | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET


class Store(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A store."""

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


class NewTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A table to be set up."""

    label: Label
    store_id: UUID | None = None
    area: Label | None = None
    seats: Heads | None = None
    is_active: bool = True


class TablePatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is to change of a table; what is absent stays, null clears."""

    label: Label | UnsetType = UNSET
    store_id: UUID | UnsetType | None = UNSET
    area: Label | UnsetType | None = UNSET
    seats: Heads | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET


class OpenSession(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Who sits at a table."""

    id: UUID
    covers: int | None
    opened_at: Timestamp


class Table(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A table, and its open session if there is one."""

    id: UUID
    store_id: UUID | None
    label: str
    area: str | None
    seats: int | None
    is_active: bool
    open_session: OpenSession | None
    created_at: Timestamp
    updated_at: Timestamp


class TableFilter(Paged):
    """Which tables, and which page of them."""

    store_id: UUID | None = None


class NewSession(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Guests who sit down."""

    table_id: UUID
    covers: Heads | None = None


class SessionPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is to change of an open session."""

    covers: Heads | UnsetType | None = UNSET


class Closing(msgspec.Struct, forbid_unknown_fields=True):
    """How a session is closed; by force also while orders of it are unpaid."""

    force: bool = False


class Session(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A table session with what was ordered in it; `unpaidAmount` is what keeps it open."""

    id: UUID
    table_id: UUID
    table_label: str
    store_id: UUID | None
    status: SessionStatus
    covers: int | None
    orders_count: int
    total_amount: Decimal
    unpaid_amount: Decimal
    currency: str
    opened_at: Timestamp
    closed_at: Timestamp | None
    updated_at: Timestamp


class SessionFilter(Paged):
    """Which sessions, and which page of them."""

    status: SessionStatus | None = None
    table_id: UUID | None = None


class NewTerm(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An academic term to be made."""

    name: Name
    starts_on: DayGiven | None = None
    ends_on: DayGiven | None = None


class TermPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What is to change of a term; what is absent stays, null clears."""

    name: Name | UnsetType = UNSET
    starts_on: DayGiven | UnsetType | None = UNSET
    ends_on: DayGiven | UnsetType | None = UNSET


class Term(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An academic term."""

    id: UUID
    name: str
    starts_on: Day | None
    ends_on: Day | None
    created_at: Timestamp
    updated_at: Timestamp


class NewTag(msgspec.Struct, forbid_unknown_fields=True):
    """A tag to be made; its slug comes of its name."""

    name: TagName


class TagPatch(msgspec.Struct, forbid_unknown_fields=True):
    """What is to change of a tag; the slug follows the name."""

    name: TagName | UnsetType = UNSET


class Tag(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A tag."""

    id: UUID
    name: str
    slug: str
    created_at: Timestamp
    updated_at: Timestamp
