"""The operations that pages of webhooks call."""

from tillhouse.desk.operations import Operation
from tillhouse.webhooks.room import ROOM as WEBHOOKS

_ENDPOINTS = "/api/developer/webhook-endpoints"
_ENDPOINT = _ENDPOINTS + "/{endpoint_id}"
_SETTINGS = "/api/developer/webhook-settings"
_DELIVERY = "/api/developer/webhook-deliveries/{delivery_id}"

CATALOGUE = Operation(WEBHOOKS, "GET", "/api/developer/webhook-events")
MAKE = Operation(WEBHOOKS, "POST", _ENDPOINTS)
ENDPOINT = Operation(WEBHOOKS, "GET", _ENDPOINT)
CHANGE = Operation(WEBHOOKS, "PATCH", _ENDPOINT)
DELETE = Operation(WEBHOOKS, "DELETE", _ENDPOINT)
DISABLE = Operation(WEBHOOKS, "POST", _ENDPOINT + "/disable")
ENABLE = Operation(WEBHOOKS, "POST", _ENDPOINT + "/enable")
TEST = Operation(WEBHOOKS, "POST", _ENDPOINT + "/test")
RECOVER = Operation(WEBHOOKS, "POST", _ENDPOINT + "/recover")
LIST_DELIVERIES = Operation(WEBHOOKS, "GET", "/api/developer/webhook-deliveries")
DELIVERY = Operation(WEBHOOKS, "GET", _DELIVERY)
RESEND = Operation(WEBHOOKS, "POST", _DELIVERY + "/resend")
SETTINGS = Operation(WEBHOOKS, "GET", _SETTINGS)
ROTATE = Operation(WEBHOOKS, "POST", _SETTINGS + "/{environment}/rotate-secret")
VIEW_SECRET = Operation(WEBHOOKS, "POST", _SETTINGS + "/{environment}/view-secret")
LATEST_EVENTS = Operation(WEBHOOKS, "GET", "/v1/events/stream")
EVENT = Operation(WEBHOOKS, "GET", "/v1/events/{event_id}")
