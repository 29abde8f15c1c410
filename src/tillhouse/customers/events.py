"""The events of customers."""

from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import ChangeData

CONTACT_CREATED = EventType("contact.created", "A customer was created", "Customers", ChangeData)
CONTACT_UPDATED = EventType("contact.updated", "A customer was changed", "Customers", ChangeData)

EVENTS = (
    CONTACT_CREATED,
    CONTACT_UPDATED,
)
