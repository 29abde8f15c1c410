"""Requests and answers of the webhook routes."""

from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import AppId, BusinessId, DeliveryId, EndpointId, EventId
from tillhouse.kit.secrets import Environment
from tillhouse.kit.text import Schema, Value
from tillhouse.kit.values import DateOrTimestamp, ListedName, Name
from tillhouse.outgoing.rules import URL_LENGTH_MAX, clean_url

LISTED_MAX = 100

DeliveryStatus = Literal["pending", "delivered", "failed"]


class EventName(ListedName):
    """An event of the catalogue."""

    LIST: ClassVar[str] = "events"
    SCHEMA: ClassVar[Schema] = {"examples": ["order.created"]}
    WRONG: ClassVar[str] = "is no event; GET /api/developer/webhook-events lists them"


class EventSubscription(EventName):
    """An event of the catalogue, or all of them."""

    MORE: ClassVar[tuple[str, ...]] = ("*",)


class EndpointUrl(Value):
    """Where to send: HTTPS, without credentials; the fragment falls away."""

    SCHEMA: ClassVar[Schema] = {
        "format": "uri",
        "pattern": "^[Hh][Tt][Tt][Pp][Ss]://",
        "maxLength": URL_LENGTH_MAX,
        "examples": ["https://shop.example.com/hooks/tillhouse"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Of the right form; where it leads is judged with the settings at hand."""
        return clean_url(value)


Subscriptions = Annotated[list[EventSubscription], Meta(min_length=1, max_length=100)]


class NewEndpoint(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An endpoint to be made."""

    name: Name
    url: EndpointUrl
    environment: Environment
    events: Subscriptions
    """The types of event to be sent; a single star: all, also those that later versions add."""
    developer_app_id: AppId | None = None
    """The app that the endpoint belongs to; left out: the default app."""


class EndpointPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of an endpoint; absent fields stay."""

    name: Name | UnsetType = UNSET
    url: EndpointUrl | UnsetType = UNSET
    events: Subscriptions | UnsetType = UNSET
    """The types of event to be sent; a single star: all, also those that later versions add."""


class Endpoint(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A webhook endpoint."""

    id: EndpointId
    business_id: BusinessId
    developer_app_id: AppId
    name: str
    url: str
    environment: Environment
    events: list[str]
    status: Literal["active", "disabled"]
    last_delivery_status: str | None
    failure_count: int
    last_delivered_at: Timestamp | None
    disabled_at: Timestamp | None
    failing_since: Timestamp | None
    """When the first of the failures in a row was; null: the last attempt succeeded."""
    failures_to_disable: int | None
    """How many more failures in a row disable the endpoint; null: it doesn't fail, or is
    disabled."""
    created_at: Timestamp
    updated_at: Timestamp


class Preview(msgspec.Struct, frozen=True):
    """The start of a payload."""

    preview: str


class Delivery(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The delivery of one event to one endpoint."""

    id: DeliveryId
    business_id: BusinessId
    developer_app_id: AppId
    webhook_endpoint_id: EndpointId
    environment: Environment
    event_id: EventId
    event_type: str
    status: DeliveryStatus
    """Whether the event was delivered, is still to be, or failed for good."""
    url: str
    """The address that the event went to last."""
    attempts: int
    response_status: int | None
    latency_ms: int | None
    error_message: str | None
    payload_preview: Preview
    next_attempt_at: Timestamp | None
    delivered_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class DeliveryWithAttempts(Delivery, frozen=True, rename="camel", kw_only=True):
    """A delivery with every attempt that was made."""

    attempts_log: list[dict[str, Any]]


class Settings(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How the deliveries of one app are signed."""

    developer_app_id: AppId
    environment: Environment
    secret_prefix: str
    rotated_at: Timestamp | None
    rotation_status: Literal["never_rotated", "rotated"]
    created_at: Timestamp


class SigningSecret(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A signing secret, told; a replay tells none."""

    developer_app_id: AppId
    environment: Environment
    secret: str | None
    rotated_at: Timestamp | None


class AppChoice(msgspec.Struct, forbid_unknown_fields=True):
    """The app whose secret is meant; without one, the default app."""

    developer_app_id: AppId | None = None
    """The app whose secret is meant; left out: the default app."""


class AppFilter(msgspec.Struct):
    """Of one app, or of all."""

    developer_app_id: AppId | None = None


class DeliveryFilter(msgspec.Struct):
    """Which deliveries, and which page of them."""

    developer_app_id: AppId | None = None
    endpoint_id: EndpointId | None = None
    status: DeliveryStatus | None = None
    event_type: Annotated[str, Meta(max_length=100)] | None = None
    event_id: EventId | None = None
    entity_id: UUID | None = None
    """Only deliveries of events about this thing, such as an order: those with its `entityId`."""
    since: DateOrTimestamp | None = None
    """Only deliveries made on this day or later, or from this moment on."""
    until: DateOrTimestamp | None = None
    """Only deliveries made up to this day, all of it, or up to this moment."""
    cursor: DeliveryId | None = None
    """Only deliveries older than this one: the id of the last delivery of the page before."""
    limit: Annotated[int, Meta(ge=1, le=LISTED_MAX)] = LISTED_MAX
    """Deliveries per page."""


class Recovery(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Which deliveries to queue again, or which events for the first time; or only a count."""

    since: DateOrTimestamp
    until: DateOrTimestamp | None = None
    status: Literal["failed", "pending", "missing"] = "failed"
    """Which deliveries to queue again; `missing`: events that had no delivery to the endpoint."""
    preview: bool = False
    """Whether to count the deliveries and leave them alone."""


class Recovered(msgspec.Struct, frozen=True, rename="camel"):
    """How many deliveries are or would be queued again, and until when they are sent."""

    count: int
    is_preview: bool
    per_second: int
    last_due_at: Timestamp | None
    next_since: Timestamp | None
    """With `missing`, the `since` of the next request when the window has more events than one
    looks at; null: all of it was looked at."""


class EventShown(msgspec.Struct, frozen=True):
    """An event of the catalogue with the shape of its data."""

    type: str
    label: str
    """The event in a sentence, for people."""
    group: str
    schema: dict[str, Any]
    sample: dict[str, Any]
