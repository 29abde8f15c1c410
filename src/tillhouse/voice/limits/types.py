"""The settings of calls, as they come in and go out."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import DayShown

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
