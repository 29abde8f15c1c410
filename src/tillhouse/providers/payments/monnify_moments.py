"""The moments that Monnify tells, in one of several forms."""

import contextlib
from datetime import UTC, datetime, timedelta, timezone

from tillhouse.kit.clock import parse_timestamp

# Moments without a zone are told in Lagos.
_LAGOS = timezone(timedelta(hours=1))
# Lists tell moments in milliseconds, or as texts.
_MS_MAX = 10**14
_FORMS = (
    "%d/%m/%Y %I:%M:%S %p",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f%z",
)


def moment(text: str | int | None) -> datetime | None:
    """A moment, if there is one in it: a payment is not doubted for its clock."""
    if isinstance(text, int):
        return datetime.fromtimestamp(text / 1000, UTC) if 0 < text < _MS_MAX else None
    for form in _FORMS:
        with contextlib.suppress(ValueError):
            told = datetime.strptime(text or "", form)  # noqa: DTZ007 - it may bear a zone
            return told if told.tzinfo else told.replace(tzinfo=_LAGOS)
    with contextlib.suppress(ValueError):
        return parse_timestamp(text or "")
    return None
