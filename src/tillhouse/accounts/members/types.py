"""Requests and answers of the routes of members."""

from typing import Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, UnsetType

from tillhouse.access.scopes import Role
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.values import Email, FactorCode, GivenPassword, Name


class NewInvitation(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A person to be asked to join."""

    email: Email
    role: Role
    """The role that the person will have."""


class MemberPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Another role of a member."""

    role: Role | UnsetType = UNSET
    """The role from now on; left out, it stays."""
    revoke_keys: bool = False
    """Revoke the API keys that the member made, when the role is lowered."""


class MemberRemoval(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The removal of a member, with what goes along."""

    revoke_keys: bool = False
    """Revoke the API keys that the member made."""


class AcceptedInvitation(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An invitation that is taken, by somebody new or by somebody who has an account."""

    token: str
    """The token of the invitation."""
    password: GivenPassword
    """The password of the account of this address; of a new one, the password to log in with."""
    name: Name | None = None
    """The name of a person who has no account yet."""
    code: FactorCode | None = None
    """The code of the account's second factor, where one is on."""


class GivenInvitation(msgspec.Struct, forbid_unknown_fields=True):
    """An invitation, to be looked at before it is taken."""

    token: str
    """The token of the invitation."""


class InvitationPreview(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An invitation as the person who holds its token may read it."""

    business_name: str
    role: str
    """The role that the person will have."""
    email: str
    has_account: bool
    """Whether the address has an account, whose password is asked for."""


class MemberShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A person of the business, or one who was invited."""

    id: UUID
    """The id of the person; of an invitation, its own."""
    name: str | None
    """The name of the person; null as long as the person is invited."""
    email: str
    role: str
    """The role of the person in this business."""
    status: Literal["active", "invited"]
    """Whether the person has joined."""
    joined_at: Timestamp | None
    """When the person joined; null as long as the person is invited."""
    last_seen_at: Timestamp | None
    """When a session of the person acted for this business last, to a quarter of an hour."""
    expires_at: Timestamp | None
    """When the invitation ends; null for a member."""


class MadeKey(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An API key that a member made, or gave its present secret."""

    id: UUID
    name: str
    environment: Literal["test", "live"]
    """The book that the key acts in."""
    scopes: list[str]
    """The scopes of the key."""
    is_revoked: bool
    """Whether this request revoked it."""


class MemberFound(MemberShown, frozen=True, rename="camel", kw_only=True):
    """One person of the business, or one who was invited, with what they made."""

    keys: list[MadeKey]
    """The active API keys that the person made; none of somebody who is invited."""


class InvitationShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An invitation, with its token at the one moment that it is told; a replay tells none."""

    id: UUID
    email: str
    role: str
    """The role that the person will have."""
    expires_at: Timestamp
    """When the invitation ends."""
    token: str | None
    """The token that POST /api/auth/accept-invitation takes, once."""


class MemberChanged(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A member after a change, and what ended or is left."""

    id: UUID
    role: str | None
    """The role of the person now; null: the person is no member any more."""
    ended_sessions: int
    """How many sessions of the person ended in this business."""
    keys: list[MadeKey]
    """The active API keys that the person made; none when the role wasn't lowered."""


class MemberSessionsEnded(msgspec.Struct, frozen=True, rename="camel"):
    """The sessions of a member that are over."""

    ended_sessions: int
    """How many sessions of the person ended."""
