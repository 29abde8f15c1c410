"""The daily bound on calls: its settings as they come in and go out, and its rules. Pure."""

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import DayShown
from tillhouse.kit.errors import FieldError, LimitReached

CALLS_PER_DAY_MAX = 1_000_000
CallsPerDay = Annotated[int, Meta(ge=0, le=CALLS_PER_DAY_MAX)]


class VoiceSettings(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How many calls may be placed in a day, and how many were."""

    calls_per_day: Annotated[int, Meta(examples=[500])]
    """How many calls may be placed for one day, by the clock of the business."""
    calls_per_day_max: Annotated[int, Meta(examples=[10000])]
    """The most that the server lets `calls_per_day` be."""
    day: DayShown
    """This day, by the clock of the business."""
    calls_today: Annotated[int, Meta(examples=[12])]
    """How many calls were placed for this day; those that were cancelled count as well."""


class VoiceSettingsPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of the settings; absent fields stay."""

    calls_per_day: CallsPerDay | UnsetType = UNSET
    """How many calls may be placed for one day; 0: none."""


# Of a business that set none.
CALLS_PER_DAY = 1_000


def bound(own: int | None, most: int) -> int:
    """How many calls may be placed for a day: never more than the server allows."""
    return min(CALLS_PER_DAY if own is None else own, most)


def bound_faults(wanted: int, most: int) -> Iterator[FieldError]:
    """The faults of a bound that a business sets."""
    if wanted > most:
        yield FieldError("calls_per_day", f"must be at most {most}: the server allows no more")


class DayIsFull(LimitReached):
    """As many calls were placed for the day as may be."""

    def __init__(self, calls: int) -> None:
        """Tell the bound, and who can raise it."""
        super().__init__(
            f"{calls} calls were placed for this day, which is the most: schedule the call for "
            "another day (scheduled_for), or raise calls_per_day by PATCH /v1/voice/settings."
        )
