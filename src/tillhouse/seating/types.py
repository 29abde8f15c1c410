"""Requests and answers of the routes of tables and table sessions."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import StoreId, TableId
from tillhouse.kit.page import Paged
from tillhouse.kit.values import Label

Heads = Annotated[int, Meta(ge=1, le=1000)]


SessionStatus = Literal["open", "closed"]


class NewTable(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A table to be set up."""

    label: Label
    store_id: StoreId | None = None
    area: Label | None = None
    seats: Heads | None = None
    is_active: bool = True


class TablePatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a table; absent fields stay, null clears."""

    label: Label | UnsetType = UNSET
    store_id: StoreId | UnsetType | None = UNSET
    area: Label | UnsetType | None = UNSET
    seats: Heads | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET


class OpenSession(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The open session of a table."""

    id: UUID
    covers: int | None
    opened_at: Timestamp


class Table(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A table, and its open session if there is one."""

    id: UUID
    store_id: StoreId | None
    label: str
    area: str | None
    seats: int | None
    is_active: bool
    open_session: OpenSession | None
    created_at: Timestamp
    updated_at: Timestamp


class TableFilter(Paged):
    """Which tables, and which page of them."""

    store_id: StoreId | None = None


class NewSession(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Guests who sit down."""

    table_id: TableId
    covers: Heads | None = None


class SessionPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of an open session."""

    covers: Heads | UnsetType | None = UNSET


class Closing(msgspec.Struct, forbid_unknown_fields=True):
    """How a session is closed; by force also while orders of it are unpaid."""

    force: bool = False


class Session(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A table session with what was ordered in it; `unpaidAmount` is what keeps it open."""

    id: UUID
    table_id: TableId
    table_label: str
    """The label of the table."""
    store_id: StoreId | None
    status: SessionStatus
    covers: int | None
    orders_count: int
    total_amount: Decimal
    """The sum of the orders of the session, except cancelled and refunded ones."""
    unpaid_amount: Decimal
    currency: str
    opened_at: Timestamp
    closed_at: Timestamp | None
    updated_at: Timestamp


class SessionFilter(Paged):
    """Which sessions, and which page of them."""

    status: SessionStatus | None = None
    table_id: TableId | None = None
