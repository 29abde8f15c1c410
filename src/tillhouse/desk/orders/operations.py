"""The operations that pages of orders call."""

from tillhouse.desk.operations import Operation
from tillhouse.orders.room import ROOM as ORDERS
from tillhouse.webhooks.room import ROOM as WEBHOOKS

ORDER = Operation(ORDERS, "GET", "/v1/orders/{order_id}")
CHANGE = Operation(ORDERS, "PATCH", "/v1/orders/{order_id}")
DELETE = Operation(ORDERS, "DELETE", "/v1/orders/{order_id}")
CONFIRM = Operation(ORDERS, "POST", "/v1/orders/{order_id}/confirm")
PAY = Operation(ORDERS, "POST", "/v1/orders/{order_id}/payments")
REFUND = Operation(ORDERS, "POST", "/v1/orders/{order_id}/refunds")
PREVIEW_REFUND = Operation(ORDERS, "POST", "/v1/orders/{order_id}/refunds/preview")
RECEIPT = Operation(ORDERS, "POST", "/v1/orders/{order_id}/receipt")
REQUERY = Operation(ORDERS, "POST", "/v1/orders/{order_id}/requery")
SEND_TO_KITCHEN = Operation(ORDERS, "POST", "/v1/orders/{order_id}/send-to-kitchen")
DELIVERIES = Operation(WEBHOOKS, "GET", "/api/developer/webhook-deliveries")
SET_STAGE = Operation(ORDERS, "POST", "/v1/orders/{order_id}/kitchen-status")
