"""Callers as values, without any I/O, for rules to judge."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.kit.ids import AppId, BookId, BusinessId, KeyId, UserId
from tillhouse.kit.network import Network
from tillhouse.kit.secrets import Environment


class Book(msgspec.Struct, frozen=True):
    """One environment of a business: the isolation key."""

    id: BookId
    environment: Environment


class Books(msgspec.Struct, frozen=True):
    """Both books of a business."""

    test: BookId
    live: BookId

    def of(self, environment: Environment) -> BookId:
        """The book of an environment."""
        return self.live if environment == "live" else self.test

    def all(self) -> list[BookId]:
        """Both, for statements that cover the whole business."""
        return [self.test, self.live]


class KeyCaller(msgspec.Struct, frozen=True, kw_only=True):
    """An API key, as it stood when this request arrived."""

    key_id: KeyId
    business_id: BusinessId
    book: Book
    app_id: AppId
    name: str
    scopes: frozenset[str]
    allowed_origins: tuple[str, ...]
    allowed_networks: tuple[Network, ...]
    withdrawal_policy: dict[str, Any] | None


class OwnBusiness(msgspec.Struct, frozen=True):
    """The business that a session acts for, as its pages name it and count."""

    id: BusinessId
    name: str
    type: str
    currency: str
    time_zone: str


class UserCaller(msgspec.Struct, frozen=True, kw_only=True):
    """A person of the business, in one session."""

    user_id: UserId
    session_id: UUID
    business_id: BusinessId
    books: Books
    name: str
    email: str
    role: str
    permissions: frozenset[str]
    scopes: frozenset[str]
    password_verified_at: datetime | None
    # Why the subscription of the business doesn't open the portal; None when it does.
    subscription_fault: str | None
    # Whether the role needs a second factor that isn't on: then nothing but that is open.
    needs_factor: bool = False
    # The business as the session was found; None where no session was.
    business: OwnBusiness | None = None


class SystemCaller(msgspec.Struct, frozen=True):
    """The system itself, doing due work."""

    name: str = "Tillhouse"


class Allowance(msgspec.Struct, frozen=True):
    """The verdict of the rate limit on one request."""

    limit: int
    window_s: int
    remaining: int
    full_in_s: float
    is_allowed: bool

    @property
    def retry_after_s(self) -> float:
        """When the next request would pass."""
        return max(0.0, self.full_in_s - self.window_s) + self.window_s / self.limit
