"""The shape of most events' data, and the event that tests an endpoint."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BusinessId, EndpointId, StoreId

API_VERSION = "v1"
TEST = "webhook.test"


class ChangeData(msgspec.Struct, rename="camel"):
    """A change of something that is fetched by its id."""

    business_id: BusinessId
    """The business that it happened in."""
    event_type: Annotated[str, Meta(examples=["ORDER_CREATED"])]
    """The type of the event in capitals, such as `ORDER_CREATED`."""
    entity_type: Annotated[str, Meta(examples=["sale"])]
    entity_id: UUID
    store_id: StoreId | None
    """The store that it happened in; null: none."""
    metadata: dict[str, Any]
    occurred_at: Timestamp


class TestData(msgspec.Struct, rename="camel"):
    """A test of an endpoint."""

    endpoint_id: EndpointId
    message: str


# Sent by the test operation alone; it can't be subscribed to.
TEST_EVENT = EventType(TEST, "A test of an endpoint", "Webhooks", TestData)
