"""Rules of passwords and sessions: pure decisions."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from tillhouse.kit import passwords
from tillhouse.kit.errors import FieldError

# A client whose refresh was answered but lost may ask for the same answer again, briefly.
REFRESH_GRACE = timedelta(seconds=30)


def next_generation(used: int, current: int, refreshed_ago: timedelta) -> int | None:
    """The generation that a refresh token is exchanged for; None when it was stolen.

    The token before the current one is exchanged for the current one, also in another's hands,
    as long as its first answer may have been lost. Any other spent token ends the session.
    """
    if used == current:
        return current + 1
    if used == current - 1 and refreshed_ago <= REFRESH_GRACE:
        return current
    return None


def password_faults(field: str, password: str, own: Iterable[str]) -> Iterator[FieldError]:
    """Refuse a password that is one of the own addresses or names."""
    if wrong := passwords.own_fault(password, own):
        yield FieldError(field, wrong)
