"""Requests and answers of the account routes."""

from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import BusinessId, UserId
from tillhouse.kit.values import (
    CountryCode,
    CurrencyCode,
    Email,
    FactorCode,
    GivenPassword,
    Name,
    NewPassword,
    ZoneName,
)

BusinessType = Literal["retail", "restaurant", "hotel", "school", "services"]


class NewAccount(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A person who opens a business."""

    name: Name
    email: Email
    password: NewPassword
    """The password to log in with."""
    business_name: Name
    business_type: BusinessType = "retail"
    currency: CurrencyCode | None = None
    """The currency of all amounts, as ISO 4217; left out: USD."""
    time_zone: ZoneName | None = None
    country: CountryCode | None = None


class Credentials(msgspec.Struct, forbid_unknown_fields=True):
    """The credentials of a person."""

    email: Email
    password: GivenPassword
    code: FactorCode | None = None
    """The code of the second factor, or a recovery code; null where none is on."""


class RefreshToken(msgspec.Struct, forbid_unknown_fields=True):
    """The token that keeps a session going."""

    refresh_token: str


class PasswordProof(msgspec.Struct, forbid_unknown_fields=True):
    """The password, given again."""

    password: GivenPassword
    """The password, given again."""


class PasswordChange(msgspec.Struct, forbid_unknown_fields=True):
    """The password as it is and as it is to be."""

    current_password: GivenPassword
    """The password that holds until now."""
    new_password: NewPassword
    """The password to log in with from now on."""


class BusinessChoice(msgspec.Struct, forbid_unknown_fields=True):
    """The business to go on with."""

    business_id: BusinessId
    """The business to go on with."""


class Tokens(msgspec.Struct, frozen=True, rename="camel"):
    """The tokens of a session."""

    access_token: str
    refresh_token: str
    expires_in: int
    business_id: BusinessId
    user_id: UserId
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - the word of RFC 6750


class AccessToken(msgspec.Struct, frozen=True, rename="camel"):
    """A new access token in the same session."""

    access_token: str
    expires_in: int
    business_id: BusinessId
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - the word of RFC 6750


class Verified(msgspec.Struct, frozen=True, rename="camel"):
    """How long the step-up lasts."""

    verified_until: Timestamp


class Ended(msgspec.Struct, frozen=True, rename="camel"):
    """A session that is over."""

    session_id: UUID


class OthersEnded(msgspec.Struct, frozen=True, rename="camel"):
    """The sessions that are over, besides the one that goes on."""

    ended_sessions: int
    """How many sessions ended."""


class PasswordChanged(msgspec.Struct, frozen=True, rename="camel"):
    """A password that was replaced, and the sessions that ended with it."""

    changed_at: Timestamp
    """When the new password began to hold."""
    ended_sessions: int
    """How many other sessions ended with it."""


class SessionShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A session that stands."""

    id: UUID
    business_id: BusinessId
    """The business that the session acts for."""
    ip_address: str
    """The address from which the person logged in."""
    device: str | None
    """The browser, of a session in the desk; null of one by tokens."""
    created_at: Timestamp
    """When the person logged in."""
    refreshed_at: Timestamp
    """When tokens of the session were given out last."""
    expires_at: Timestamp
    """When the session ends unless it is refreshed before."""
    is_current: bool
    """Whether this request was made in it."""


class Subscription(msgspec.Struct, frozen=True, rename="camel"):
    """The subscription of the business."""

    status: Literal["trial", "active", "past_due", "cancelled"]
    trial_ends_at: Timestamp | None
    api_access: bool


class Membership(msgspec.Struct, frozen=True, rename="camel"):
    """A business that the person belongs to."""

    id: UUID
    name: str
    type: BusinessType
    """The line of business."""
    currency: str
    time_zone: str
    country: str
    role: str
    """The role of the person in this business."""
    subscription: Subscription


class Me(msgspec.Struct, frozen=True, rename="camel"):
    """The person who is logged in, and the business."""

    user_id: UserId
    name: str
    email: str
    business_id: BusinessId
    """The business that the session acts for."""
    role: str
    permissions: list[str]
    businesses: list[Membership]
    needs_second_factor: bool
    """Whether the role needs a second factor that isn't on: until it is, nothing else is open."""
