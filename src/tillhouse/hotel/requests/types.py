"""Requests and answers of the routes of service requests."""

from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.hotel.events import RequestCategory, RequestSource, RequestStatus
from tillhouse.hotel.values import HotelText
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import UserId
from tillhouse.kit.page import Paged


class NewServiceRequest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Something that a guest asks for, or that a room needs."""

    category: RequestCategory
    """The kind of work."""
    description: HotelText | None = None
    """The wish, in words for those who see to it."""
    reservation_id: UUID | None = None
    """The stay; its guest and its room are taken."""
    room_id: UUID | None = None
    """The room; the stay that is checked in there is taken, with its guest, if there is one."""
    guest_id: UUID | None = None
    """The guest, where neither stay nor room is known."""
    source: RequestSource = "staff"
    """How the wish was heard."""


class ServiceRequestPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a service request that is not over; absent fields stay, null clears."""

    status: RequestStatus | UnsetType = UNSET
    """From `open` to `in_progress` to `done`, or to `cancelled`; never back."""
    assignee_id: UserId | UnsetType | None = UNSET
    """The member of the business who sees to it."""
    description: HotelText | UnsetType | None = UNSET
    """The wish, in words for those who see to it."""


class ServiceRequest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Something that a guest asked for, or that a room needs."""

    id: UUID
    category: RequestCategory
    """The kind of work."""
    status: RequestStatus
    description: str | None
    """The wish, in words for those who see to it."""
    source: RequestSource
    """How the wish was heard."""
    guest_id: UUID | None
    """The guest; null: no guest's wish, such as the repair of an empty room."""
    guest_name: Annotated[str, Meta(examples=["Chinedu Eze"])] | None
    """That guest's name."""
    reservation_id: UUID | None
    """The stay; null: none was named, and none was checked in there."""
    room_id: UUID | None
    """The room; null: none was named."""
    room_number: Annotated[str, Meta(examples=["101"])] | None
    """The number on that room's door."""
    assignee_id: UserId | None
    """The member of the business who sees to it; null: not assigned yet."""
    assignee_name: Annotated[str, Meta(examples=["Ada Okafor"])] | None
    """That member's name."""
    started_at: Timestamp | None
    """When somebody began with it; null: not begun."""
    ended_at: Timestamp | None
    """When it was done or cancelled; null: not yet."""
    created_at: Timestamp
    updated_at: Timestamp


class ServiceRequestFilter(Paged):
    """Which service requests, and which page of them."""

    status: RequestStatus | None = None
    """Only requests with this status."""
    category: RequestCategory | None = None
    """Only requests of this kind."""
    room_id: UUID | None = None
    """Only requests for this room."""
    reservation_id: UUID | None = None
    """Only requests of this stay."""
    assignee_id: UserId | None = None
    """Only requests that this member sees to."""
