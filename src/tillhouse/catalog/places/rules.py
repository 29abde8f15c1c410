"""What places may be: pure decisions."""

import re
from collections.abc import Iterator
from datetime import date
from typing import TypeVar
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.catalog.places.types import NewStore, NewTerm, Session, StorePatch, TermPatch
from tillhouse.kit.clock import parse_date
from tillhouse.kit.errors import Conflict, FieldError, Refused
from tillhouse.kit.partly import faults
from tillhouse.kit.phone import e164
from tillhouse.kit.text import clean, slug

T = TypeVar("T", bound=msgspec.Struct)

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class OutOfUse(Refused, message="The table is out of use: choose another, or set is_active."):
    """Nobody is seated there."""


class SessionClosed(Refused, message="The session is closed: open a new one for the table."):
    """What is over doesn't change."""


class StillSeated(Refused, message="The table has an open session: close it first."):
    """A table can't go from under its guests."""


class HasTables(Refused, message="The store has tables: delete them, or move them, first."):
    """A store goes when nothing stands in it."""


class HasStock(
    Refused,
    message=(
        "The store has stock, on hand or reserved: transfer it to another store, or count it to "
        "zero, and confirm or cancel the scheduled orders that reserve it, first."
    ),
):
    """A store goes when nothing lies in it: from a store that is gone nobody can take it."""


class StoreFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a store is to be."""

    name: str
    address: str | None
    phone: str | None
    time_zone: str | None
    day_cutoff: str
    preparation_minutes: int
    is_active: bool


class TableFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a table is to be."""

    store_id: UUID | None
    label: str
    area: str | None
    seats: int | None
    is_active: bool


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What of a session may change."""

    covers: int | None


class TermFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a term is to be."""

    name: str
    starts_on: str | None
    ends_on: str | None


class TagsAsked(msgspec.Struct, frozen=True):
    """Tags as a request gives them: which are ids, and by slug what else is to be there."""

    ids: dict[int, UUID]
    slugs: dict[int, str]
    names: dict[str, str]


def facts(type_: type[T], source: msgspec.Struct) -> T:
    """The facts that stand in something larger, under the same names."""
    return type_(**{name: getattr(source, name) for name in type_.__struct_fields__})


def merged(old: T, patch: msgspec.Struct) -> T:
    """The facts as after a change: what the patch names, and all else as it was."""
    named = {name: getattr(patch, name) for name in patch.__struct_fields__}
    return msgspec.structs.replace(old, **{n: v for n, v in named.items() if v is not UNSET})


def clean_store(store: StoreFacts, country: str) -> StoreFacts:
    """The facts in the one spelling that is kept."""
    return msgspec.structs.replace(
        store,
        address=clean(store.address or "") or None,
        phone=e164(store.phone, country) if store.phone else None,
    )


def minutes(time_of_day: str) -> int:
    """How long after midnight a time of the day is."""
    hours, _, rest = time_of_day.partition(":")
    return int(hours) * 60 + int(rest)


def store_faults(asked: NewStore | StorePatch, country: str) -> list[FieldError]:
    """What is wrong with a store."""
    return faults(lambda: _phone_errors(asked, country))


def _phone_errors(asked: NewStore | StorePatch, country: str) -> Iterator[FieldError]:
    if asked.phone:
        try:
            e164(asked.phone, country)
        except ValueError as error:
            yield FieldError("phone", str(error))


def term_faults(asked: NewTerm | TermPatch, old: TermFacts | None = None) -> list[FieldError]:
    """What is wrong with a term, as it would be."""
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


def days(term: TermFacts) -> tuple[date | None, date | None]:
    """The first and the last day."""
    starts_on, ends_on = term.starts_on, term.ends_on
    return (parse_date(starts_on) if starts_on else None, parse_date(ends_on) if ends_on else None)


def already_open(session_id: UUID) -> Conflict:
    """The refusal of a second open session at a table."""
    return Conflict(
        f"The table has the open session {session_id} already: charge to it, or close it first."
    )


def still_owed(unpaid: int, session: Session) -> Refused:
    """The refusal to let guests go who have not paid."""
    orders = "1 order is" if unpaid == 1 else f"{unpaid} orders are"
    return Refused(
        f"{orders} not paid in full, {session.unpaid_amount:f} {session.currency} in all: have "
        'that paid, completed or cancelled first, or close the session with {"force": true}.'
    )


def unknown(field: str, what: str) -> FieldError:
    """What is wrong with an id that names nothing of this book."""
    return FieldError(field, f"is no {what} of this business and environment")


def tags_asked(tags: list[str]) -> TagsAsked:
    """Tell ids from names."""
    ids: dict[int, UUID] = {}
    slugs: dict[int, str] = {}
    names: dict[str, str] = {}
    for place, tag in enumerate(tags):
        cleaned = clean(tag)
        if _UUID.fullmatch(cleaned):
            ids[place] = UUID(cleaned)
        elif found := slug(cleaned):
            slugs[place] = found
            names.setdefault(found, cleaned)
    return TagsAsked(ids, slugs, names)


def unknown_tags(asked: TagsAsked, found: dict[int, UUID], count: int) -> list[FieldError]:
    """What is wrong with tags for which no id was found."""
    wrong: list[FieldError] = []
    for place in range(count):
        if place not in found:
            words = (
                "is no tag of this business and environment"
                if place in asked.ids
                else "needs a letter or a digit"
            )
            wrong.append(FieldError(f"tags[{place}]", words))
    return wrong
