"""Requests and answers of the routes that close periods."""

import msgspec

from tillhouse.kit.clock import DayShown
from tillhouse.kit.values import Day


class NewClosing(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The day up to which the books are to be closed."""

    closed_until: Day | None
    """The last day that is closed, by the days of the business; null opens everything again. An
    earlier day than before reopens what lies between: the owner alone may do that."""


class PeriodClosing(msgspec.Struct, frozen=True, rename="camel"):
    """The day up to which the books are closed."""

    closed_until: DayShown | None
    """The last day that is closed; null: none is."""
