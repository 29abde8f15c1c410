"""The event of money of a stay that goes back through its provider."""

from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import ChangeData

PAYMENT_REFUNDED = EventType(
    "payment.refunded", "A payment of a stay went back, or could not", "Payments", ChangeData
)

EVENTS = (PAYMENT_REFUNDED,)
