"""Bounds on attempts, and the consequences of too many: pure decisions."""

from datetime import datetime, timedelta
from functools import lru_cache
from ipaddress import ip_network

import msgspec

from tillhouse.kit.errors import Limited

# Of one account from one network.
FAILURES_MAX = 10
LOCKED_FOR = timedelta(minutes=30)

DELAY_MAX_S = 8.0
_DELAY_FIRST_S = 0.25


class Budget(msgspec.Struct, frozen=True):
    """So many attempts at once, then one in so long."""

    burst: int
    every: timedelta
    # How many more are let in, each later than the one before; 0: none is.
    late: int = 0

    @property
    def most(self) -> timedelta:
        """How far ahead of now the cell may be filled."""
        return self.every * (self.burst + self.late)

    def excess(self, full_at: datetime | None, now: datetime) -> float:
        """How many attempts the next one would be beyond the burst."""
        if full_at is None or full_at <= now:
            return 1.0 - self.burst
        return 1.0 + (full_at - now) / self.every - self.burst

    def delay_s(self, full_at: datetime | None, now: datetime) -> float:
        """How long the next attempt has to wait."""
        excess = self.excess(full_at, now)
        return min(DELAY_MAX_S, _DELAY_FIRST_S * 2**excess) if excess > 0 else 0.0

    def check(self, full_at: datetime | None, now: datetime, message: str) -> None:
        """Refuse the next attempt when there is none left."""
        excess = self.excess(full_at, now)
        if excess > 0:
            raise Limited(excess * self.every.total_seconds(), message)


# Wrong passwords: for one account from anywhere, from one network for any account, and in all.
WRONG_FOR_ACCOUNT = Budget(burst=20, every=timedelta(seconds=90), late=5)
WRONG_FROM_NETWORK = Budget(burst=100, every=timedelta(seconds=18))
WRONG_IN_ALL = Budget(burst=1000, every=timedelta(seconds=0.3), late=5)

# Wrong codes of a second factor, by somebody who has the password: a code has six digits, so there
# are few of them from anywhere, but for networks from which the account logged in before.
WRONG_CODES = Budget(burst=20, every=timedelta(minutes=10))

LOCKED = "Too many wrong passwords from here: wait half an hour, then try again."
TOO_MANY_WRONG = "Too many wrong passwords from your network: wait a little, then try again."
TOO_MANY_CODES = "Too many wrong codes: wait half an hour, then try again."
TOO_MANY_NEW = "Too many registrations from your network: wait a little, then try again."


def registrations_from_network(per_hour: int) -> Budget:
    """Registrations from one network."""
    return Budget(burst=per_hour, every=timedelta(hours=1) / per_hour)


def registrations_in_all(per_hour: int) -> Budget:
    """Registrations from everywhere, where a network may register so many an hour."""
    return Budget(burst=50 * per_hour, every=timedelta(hours=1) / (50 * per_hour), late=5)


def is_locked(failures: int, last_failed_at: datetime, now: datetime) -> bool:
    """Whether so many failures of an account from a network lock the two."""
    return failures >= FAILURES_MAX and now - last_failed_at < LOCKED_FOR


def locked(last_failed_at: datetime, now: datetime, message: str = LOCKED) -> Limited:
    """The refusal while an account is locked for a network."""
    return Limited((last_failed_at + LOCKED_FOR - now).total_seconds(), message)


@lru_cache(maxsize=4096)
def network_of(ip: str) -> str:
    """The neighbourhood that one attacker easily controls: a /24, or a /64 in IPv6."""
    try:
        return str(ip_network(f"{ip}/{64 if ':' in ip else 24}", strict=False))
    except ValueError:
        return ip
