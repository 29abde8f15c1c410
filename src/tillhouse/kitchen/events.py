"""The events of kitchen tickets."""

from tillhouse.kit.events import EventType
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
