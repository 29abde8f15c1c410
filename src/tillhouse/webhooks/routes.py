"""The webhook routes of the portal: /api/developer/webhook-*."""

from typing import Literal

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import EventStream, Portal, Reply, Route, Scope
from tillhouse.kit.ids import EndpointId
from tillhouse.webhooks import samples, stream
from tillhouse.webhooks.actions import deliveries, endpoints, secrets
from tillhouse.webhooks.stream import StreamFilter
from tillhouse.webhooks.types import (
    AppChoice,
    EventShown,
    Recovered,
    Recovery,
    SigningSecret,
)

Environment = Literal["test", "live"]


async def list_events(call: Call) -> list[EventShown]:
    """Every event that an endpoint can subscribe to."""
    return [samples.shown(event) for event in call.services.declared.events]


async def recover_endpoint(call: Call, endpoint_id: EndpointId, body: Recovery) -> Reply[Recovered]:
    """Queue the failed deliveries of a time window again; a preview says that it only counts."""
    found = await deliveries.recover(call, endpoint_id, body)
    return Reply(found, message="Deliveries counted" if found.is_preview else None)


async def rotate_secret(
    call: Call, environment: Environment, body: AppChoice
) -> Reply[SigningSecret]:
    """Replace a signing secret; the answer kept for a replay lacks it."""
    secret = await secrets.rotate(call, environment, body)
    return Reply(secret, stored=msgspec.structs.replace(secret, secret=None))


async def follow_events(call: Call, query: StreamFilter) -> EventStream:
    """Server-sent events as they come: `id`, `event` (the type) and `data` (the payload)."""
    return EventStream(await stream.follow(call, query))


_ENDPOINTS = "/api/developer/webhook-endpoints"
_ONE = _ENDPOINTS + "/{endpoint_id}"
_SETTINGS = "/api/developer/webhook-settings"
_DELIVERIES = "/api/developer/webhook-deliveries"
_PORTAL = Portal()
_STEP_UP = Portal(step_up=True)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/api/developer/webhook-events", list_events, _PORTAL,
          "List every event that an endpoint can subscribe to", "Webhook events"),
    Route("GET", _ENDPOINTS, endpoints.list_all, _PORTAL,
          "List webhook endpoints", "Webhook endpoints"),
    Route("POST", _ENDPOINTS, endpoints.create, _PORTAL,
          "Create a webhook endpoint", "Webhook endpoint created",
          status=201, idempotent=True, faults=endpoints.new_faults),
    Route("GET", _ONE, endpoints.show, _PORTAL,
          "Read one webhook endpoint", "Webhook endpoint"),
    Route("PATCH", _ONE, endpoints.change, _PORTAL,
          "Update name, address or subscriptions of an endpoint", "Webhook endpoint updated",
          faults=endpoints.form_faults),
    Route("DELETE", _ONE, endpoints.delete, _PORTAL,
          "Delete an endpoint; its deliveries stay in the log", "Webhook endpoint deleted"),
    Route("POST", _ONE + "/disable", endpoints.disable, _PORTAL,
          "Disable an endpoint without deleting it", "Webhook endpoint disabled",
          idempotent=True),
    Route("POST", _ONE + "/enable", endpoints.enable, _PORTAL,
          "Enable an endpoint and reset its failure count", "Webhook endpoint enabled",
          idempotent=True),
    Route("POST", _ONE + "/test", endpoints.send_test, _PORTAL,
          "Queue a signed webhook.test event to an active endpoint", "Test event queued",
          status=202, idempotent=True),
    Route("POST", _ONE + "/recover", recover_endpoint, _PORTAL,
          "Queue failed deliveries of a time window again, or events that had none",
          "Deliveries queued again",
          status=202, idempotent=True, faults=deliveries.recover_faults),
    Route("GET", _SETTINGS, secrets.list_all, _PORTAL,
          "List the signing settings of the apps", "Webhook settings"),
    Route("POST", _SETTINGS + "/{environment}/rotate-secret", rotate_secret, _STEP_UP,
          "Replace the signing secret at once", "Signing secret rotated",
          idempotent=True),
    Route("POST", _SETTINGS + "/{environment}/view-secret", secrets.view, _STEP_UP,
          "View the signing secret", "Signing secret"),
    Route("GET", _DELIVERIES, deliveries.list_latest, _PORTAL,
          "List deliveries, the newest first", "Webhook deliveries"),
    Route("GET", _DELIVERIES + "/{delivery_id}", deliveries.show, _PORTAL,
          "Read one delivery with its attempts", "Webhook delivery"),
    Route("POST", _DELIVERIES + "/{delivery_id}/resend", deliveries.resend, _PORTAL,
          "Queue the stored event of a delivery again", "Delivery queued again",
          status=202, idempotent=True),
    Route("GET", "/v1/events/stream", stream.list_latest, Scope("events:read"),
          "Follow the events of the book, or list the latest 100, the newest first", "Events",
          stream=follow_events),
    Route("GET", "/v1/events/{event_id}", stream.show, Scope("events:read"),
          "Read one event, as webhooks carry it", "Event"),
)  # fmt: skip
