"""Rules of the daily bound on calls: pure decisions."""

from collections.abc import Iterator

from tillhouse.kit.errors import FieldError, LimitReached

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
