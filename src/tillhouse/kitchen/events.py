"""The events of kitchen tickets."""

from typing import Any

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import StoreId
from tillhouse.kitchen.types import Stage, Ticket
from tillhouse.webhooks.events import ChangeData

KITCHEN_TICKET_CREATED = EventType(
    "kitchen_ticket.created", "An order went to the kitchen", "Kitchen", ChangeData
)
KITCHEN_TICKET_STATUS_UPDATED = EventType(
    "kitchen_ticket.status_updated", "A ticket changed stage", "Kitchen", ChangeData
)

EVENTS = (
    KITCHEN_TICKET_CREATED,
    KITCHEN_TICKET_STATUS_UPDATED,
)

Event = tuple[EventType, ChangeData]


def ticket_created(call: Call, ticket: Ticket, store_id: StoreId | None) -> Event:
    """kitchen_ticket.created."""
    metadata = {"status": ticket.status, "orderId": ticket.order_id, "station": ticket.station}
    return _event(call, KITCHEN_TICKET_CREATED, ticket, store_id, metadata)


def ticket_moved(call: Call, ticket: Ticket, store_id: StoreId | None, previous: Stage) -> Event:
    """kitchen_ticket.status_updated."""
    metadata = {
        "previousStatus": previous,
        "status": ticket.status,
        "orderId": ticket.order_id,
        "station": ticket.station,
    }
    return _event(call, KITCHEN_TICKET_STATUS_UPDATED, ticket, store_id, metadata)


def _event(
    call: Call, event: EventType, ticket: Ticket, store_id: StoreId | None, metadata: dict[str, Any]
) -> Event:
    data = ChangeData(
        business_id=call.business_id,
        event_type=event.code,
        entity_type="kitchen_ticket",
        entity_id=ticket.id,
        store_id=store_id,
        metadata=metadata,
        occurred_at=iso(call.now),
    )
    return event, data
