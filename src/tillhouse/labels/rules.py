"""Rules of tags and terms: pure decisions."""

import re
from collections.abc import Iterator
from datetime import date
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.kit.clock import parse_date
from tillhouse.kit.errors import FieldError
from tillhouse.kit.partial import faults
from tillhouse.kit.text import clean, slug
from tillhouse.labels.types import NewTerm, TermPatch

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class TermFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A term as it is to be stored."""

    name: str
    starts_on: str | None
    ends_on: str | None


class TagsAsked(msgspec.Struct, frozen=True):
    """Tags as a request gives them: the ids, and by slug the names to find or make."""

    ids: dict[int, UUID]
    slugs: dict[int, str]
    names: dict[str, str]


def term_faults(asked: NewTerm | TermPatch, old: TermFacts | None = None) -> list[FieldError]:
    """The faults of a term, as it would be."""
    return faults(lambda: _order_errors(asked, old))


def _order_errors(asked: NewTerm | TermPatch, old: TermFacts | None) -> Iterator[FieldError]:
    def after(name: str) -> date | None:
        day = getattr(asked, name)
        day = getattr(old, name) if day is UNSET else day
        return parse_date(day) if day else None

    starts_on, ends_on = after("starts_on"), after("ends_on")
    if starts_on and ends_on and ends_on < starts_on:
        # The one that was sent is the one to mend.
        field = "ends_on" if asked.ends_on is not UNSET else "starts_on"
        words = "before starts_on" if field == "ends_on" else "after ends_on"
        yield FieldError(field, f"must not be {words}")


def stored(term: TermFacts) -> tuple[str, date | None, date | None]:
    """A term as its columns hold it."""
    starts_on, ends_on = term.starts_on, term.ends_on
    return (
        term.name,
        parse_date(starts_on) if starts_on else None,
        parse_date(ends_on) if ends_on else None,
    )


def tags_asked(tags: list[str]) -> TagsAsked:
    """Tell ids from names."""
    ids: dict[int, UUID] = {}
    slugs: dict[int, str] = {}
    names: dict[str, str] = {}
    for index, tag in enumerate(tags):
        cleaned = clean(tag)
        if _UUID.fullmatch(cleaned):
            ids[index] = UUID(cleaned)
        elif found := slug(cleaned):
            slugs[index] = found
            names.setdefault(found, cleaned)
    return TagsAsked(ids, slugs, names)


def unknown_tags(asked: TagsAsked, found: dict[int, UUID], count: int) -> list[FieldError]:
    """The faults of tags for which no id was found."""
    wrong: list[FieldError] = []
    for index in range(count):
        if index not in found:
            words = (
                "is no tag of this business and environment"
                if index in asked.ids
                else "needs a letter or a digit"
            )
            wrong.append(FieldError(f"tags[{index}]", words))
    return wrong
