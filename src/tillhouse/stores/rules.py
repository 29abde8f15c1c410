"""Rules of stores: pure decisions."""

from collections.abc import Iterator

import msgspec

from tillhouse.kit.errors import FieldError, Refused
from tillhouse.kit.partial import faults
from tillhouse.kit.phone import e164
from tillhouse.kit.text import clean
from tillhouse.stores.types import NewStore, StorePatch


class HasTables(Refused, message="The store has tables: delete them, or move them, first."):
    """A store goes when nothing stands in it."""


class HasStock(
    Refused,
    message=(
        "The store has stock, on hand or reserved: transfer it to another store, or count it to "
        "zero, and confirm or cancel the scheduled orders that reserve it, first."
    ),
):
    """A store is deleted only when empty: stock in a deleted store can't be moved out."""


class StoreFields(msgspec.Struct, frozen=True, kw_only=True):
    """A store as it is to be stored."""

    name: str
    address: str | None
    phone: str | None
    time_zone: str | None
    day_cutoff: str
    preparation_minutes: int
    is_active: bool


def clean_store(store: StoreFields, country: str) -> StoreFields:
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
    """The faults of a store."""
    return faults(lambda: _phone_errors(asked, country))


def _phone_errors(asked: NewStore | StorePatch, country: str) -> Iterator[FieldError]:
    if asked.phone:
        try:
            e164(asked.phone, country)
        except ValueError as error:
            yield FieldError("phone", str(error))
