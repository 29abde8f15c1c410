"""Requests and answers of the routes of the second factor."""

from typing import Annotated

import msgspec
from msgspec import Meta

from tillhouse.access.scopes import Role
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.values import FactorCode


class FirstCode(msgspec.Struct, forbid_unknown_fields=True):
    """The code that shows that the application has the secret."""

    code: FactorCode
    """The code of six digits that the application shows."""


class FactorRoles(msgspec.Struct, forbid_unknown_fields=True):
    """The roles that need a second factor from now on."""

    roles: Annotated[list[Role], Meta(max_length=20)]
    """All roles whose members need one; the list is replaced as a whole."""


class RoleFactor(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A role, and how it stands with second factors."""

    role: str
    """The role in this business."""
    is_required: bool
    """Whether its members need a second factor."""
    members: int
    """How many people have the role."""
    members_without: int
    """How many of them have no second factor that is on."""


class FactorRequirement(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The roles of the business, and which of them need a second factor."""

    roles: list[RoleFactor]
    """Every role."""


class FactorShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How the second factor of the person stands."""

    is_on: bool
    """Whether logging in asks for a code."""
    is_begun: bool
    """Whether a secret waits for its first code."""
    confirmed_at: Timestamp | None
    """When it was turned on; null while it is not."""
    recovery_codes_left: int
    """How many recovery codes were not used yet."""
    is_required: bool
    """Whether a role of the person needs it: then it can't be turned off."""


class FactorBegun(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A secret for an application, at the one moment that it is told."""

    secret: str
    """The secret as it is typed into an application (base32)."""
    uri: str
    """The same as an address (otpauth), for a picture that an application reads."""


class RecoveryCodes(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Codes for the day on which the application is lost, at the one moment that they are told."""

    recovery_codes: list[str]
    """Each logs in once in place of the application's code. The codes before are over."""


class FactorOff(msgspec.Struct, frozen=True, rename="camel"):
    """A second factor after it was turned off."""

    is_on: bool
    """Whether logging in asks for a code: it doesn't any more."""
