"""Requests and answers of the routes of tags and academic terms."""

from typing import ClassVar
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from tillhouse.kit import clock, text
from tillhouse.kit.clock import DayShown, Timestamp
from tillhouse.kit.text import OneLine, Schema, Value
from tillhouse.kit.values import LABEL_LENGTH_MAX, Name


class TagName(
    OneLine,
    longest=LABEL_LENGTH_MAX,
    counts_blanks=True,
    description="At least one letter or digit, of any script",
    example="Catering",
):
    """The name of a tag; where a tag is looked up, its id or slug will do."""

    @classmethod
    def check(cls, value: str) -> str:
        """Something of it is left in its slug."""
        cleaned = super().check(value)
        if not text.slug(cleaned):
            raise ValueError("must have a letter or a digit")
        return cleaned


class DayGiven(Value):
    """A calendar day, `YYYY-MM-DD`."""

    SCHEMA: ClassVar[Schema] = {"format": "date", "examples": ["2026-01-31"]}

    @classmethod
    def check(cls, value: str) -> str:
        """In the calendar."""
        clock.parse_date(value)
        return value


class NewTerm(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An academic term to be made."""

    name: Name
    starts_on: DayGiven | None = None
    ends_on: DayGiven | None = None


class TermPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a term; absent fields stay, null clears."""

    name: Name | UnsetType = UNSET
    starts_on: DayGiven | UnsetType | None = UNSET
    ends_on: DayGiven | UnsetType | None = UNSET


class Term(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An academic term."""

    id: UUID
    name: str
    starts_on: DayShown | None
    ends_on: DayShown | None
    created_at: Timestamp
    updated_at: Timestamp


class NewTag(msgspec.Struct, forbid_unknown_fields=True):
    """A tag to be made; its slug comes of its name."""

    name: TagName


class TagPatch(msgspec.Struct, forbid_unknown_fields=True):
    """A change of a tag; the slug follows the name."""

    name: TagName | UnsetType = UNSET


class Tag(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A word that orders are sorted by."""

    id: UUID
    name: str
    slug: str
    created_at: Timestamp
    updated_at: Timestamp
