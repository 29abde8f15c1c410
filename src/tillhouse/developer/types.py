"""Requests and answers of the portal's routes."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.access.scopes import Risk
from tillhouse.kit.clock import DayShown, Timestamp
from tillhouse.kit.ids import AppId, BusinessId, KeyId
from tillhouse.kit.money import Amount
from tillhouse.kit.text import Schema
from tillhouse.kit.values import (
    CidrRange,
    CurrencyCode,
    DateOrTimestamp,
    ListedName,
    Name,
    OriginHost,
)

Environment = Literal["test", "live"]

SCOPES_MAX = 100
LIST_MAX = 100
DAYS_MAX = 90


class ScopeName(ListedName):
    """A scope of the catalogue."""

    LIST: ClassVar[str] = "scopes"
    SCHEMA: ClassVar[Schema] = {"examples": ["voice:read"]}
    WRONG: ClassVar[str] = "is no scope; GET /api/developer/scopes lists them"


ScopeNames = Annotated[list[ScopeName], Meta(min_length=1, max_length=SCOPES_MAX)]
Origins = Annotated[list[OriginHost], Meta(max_length=LIST_MAX)]
Ranges = Annotated[list[CidrRange], Meta(max_length=LIST_MAX)]


class NewApp(msgspec.Struct, forbid_unknown_fields=True):
    """An app to be made."""

    name: Name
    environment: Environment


class App(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A developer app."""

    id: UUID
    business_id: BusinessId
    name: str
    environment: Environment
    status: Literal["active"]
    is_default: bool
    created_at: Timestamp
    updated_at: Timestamp


class NewWithdrawalPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """How much a key may withdraw, and where to."""

    max_per_transaction: Amount
    max_per_day: Amount
    currency: CurrencyCode
    allowed_payout_account_ids: Annotated[list[UUID], Meta(max_length=LIST_MAX)] | None = None
    """Accounts that may be paid out to; absent: every active one of the book; empty: none."""


class WithdrawalPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """How much a key may withdraw, and where to, as shown."""

    max_per_transaction: Decimal
    max_per_day: Decimal
    currency: str
    allowed_payout_account_ids: list[UUID] | None


class NewKey(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A key to be made."""

    name: Name
    environment: Environment
    scopes: ScopeNames
    developer_app_id: AppId | None = None
    """The app that the key belongs to; left out: the default app."""
    allowed_origins: Origins | None = None
    allowed_ip_ranges: Ranges | None = None
    expires_at: DateOrTimestamp | None = None
    """When the key stops being good; a date means its end; null: never."""
    withdrawal_policy: NewWithdrawalPolicy | None = None


class KeyPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a key; absent fields stay."""

    name: Name | UnsetType = UNSET
    scopes: ScopeNames | UnsetType = UNSET
    allowed_origins: Origins | UnsetType = UNSET
    allowed_ip_ranges: Ranges | UnsetType = UNSET
    expires_at: DateOrTimestamp | UnsetType | None = UNSET
    withdrawal_policy: NewWithdrawalPolicy | UnsetType | None = UNSET


class Key(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An API key without its secret."""

    id: UUID
    business_id: BusinessId
    developer_app_id: AppId
    name: str
    environment: Environment
    public_key: str
    secret_prefix: str
    scopes: list[str]
    allowed_origins: list[str]
    allowed_ip_ranges: list[str]
    withdrawal_policy: WithdrawalPolicy | None
    status: Literal["active", "revoked", "expired"]
    last_used_at: Timestamp | None
    last_used_ip: str | None
    expires_at: Timestamp | None
    revoked_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class KeyWithSecret(Key, frozen=True, rename="camel", kw_only=True):
    """An API key at the one moment that its secret is told; a replay tells none."""

    secret: str | None


class Secret(msgspec.Struct, frozen=True):
    """The secret of a key, viewed."""

    id: UUID
    secret: str
    """The secret of the API key, to be kept safe."""


class ScopeShown(msgspec.Struct, frozen=True, rename="camel"):
    """A scope of the catalogue."""

    name: str
    """The name, as keys list it."""
    label: str
    """The permission of the scope, described for people."""
    group: str
    risk: Risk
    grants: list[str]


class EventFilter(msgspec.Struct):
    """Which audit events, and which page of them."""

    api_key_id: KeyId | None = None
    event_type: Annotated[str, Meta(max_length=100)] | None = None
    entity_id: UUID | None = None
    """Only events about this thing: those whose `metadata` name its id, or that are about this key
    or were done by it."""
    start_date: DateOrTimestamp | None = None
    end_date: DateOrTimestamp | None = None
    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    per_page: Annotated[int, Meta(ge=1, le=100)] = 50


class AuditEvent(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An entry of the audit log."""

    id: UUID
    business_id: BusinessId
    developer_api_key_id: UUID | None
    actor_user_id: UUID | None
    actor_name: str
    event_type: str
    """The kind of event, such as `api_key.created`."""
    title: str
    ip_address: str
    metadata: dict[str, Any]
    created_at: Timestamp


class Succeeded(msgspec.Struct):
    """The facts that the audit log tells beside its events."""

    success: Literal[True]


class UsageFilter(msgspec.Struct):
    """How far back, and of which app."""

    days: Annotated[int, Meta(ge=1, le=DAYS_MAX)] = 30
    developer_app_id: AppId | None = None


class UsageRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The requests of one day on one route with one class of status."""

    date: DayShown
    environment: Environment
    """The book that the requests were for."""
    method: str
    endpoint: str
    status_family: str
    request_count: int
    error_count: int
    total_latency_ms: int


class BookStorage(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How much one environment holds of a kind of things, and how much it may hold."""

    environment: Environment
    kind: Annotated[str, Meta(examples=["messages"])]
    """The things that are counted: `answers` (kept), `attachments`, `messages` or `orders`."""
    stored_rows: int
    """How many there are, as far as they were counted: a minute late, attachments at once."""
    stored_bytes: int
    """The bytes of their rows."""
    rows_max: int | None
    """How many there may be; null: any number."""
    bytes_max: int | None
    """The bytes that they may take; null: any number."""


class WithStorage(msgspec.Struct, frozen=True):
    """A member of the envelope beside the usage."""

    storage: list[BookStorage]
    """The counts of both environments, of each kind that can be limited."""
