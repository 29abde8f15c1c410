"""The events of stock."""

from tillhouse.kit.events import EventType
from tillhouse.webhooks.events import ChangeData

LOW_STOCK = EventType("inventory.low_stock", "Stock fell to its threshold", "Inventory", ChangeData)
OUT_OF_STOCK = EventType("inventory.out_of_stock", "Stock reached zero", "Inventory", ChangeData)

EVENTS = (
    LOW_STOCK,
    OUT_OF_STOCK,
)
