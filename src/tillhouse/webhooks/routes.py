"""The webhook routes of the portal: /api/developer/webhook-*."""

from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.http.route import Portal, Reply, Route, Scope, Stream
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError
from tillhouse.webhooks import samples, stream
from tillhouse.webhooks.actions import deliveries, endpoints, secrets
from tillhouse.webhooks.catalogue import TEST
from tillhouse.webhooks.stream import SentEvent, StreamFilter
from tillhouse.webhooks.types import (
    AppChoice,
    AppFilter,
    Delivery,
    DeliveryFilter,
    DeliveryWithAttempts,
    Endpoint,
    EndpointPatch,
    EventShown,
    NewEndpoint,
    Recovered,
    Recovery,
    Settings,
    SigningSecret,
)

Environment = Literal["test", "live"]


async def list_events(call: Call) -> Reply[list[EventShown]]:
    """List every event that an endpoint can subscribe to."""
    return Reply("Webhook events", list(samples.shown()))


async def list_endpoints(call: Call, query: AppFilter) -> Reply[list[Endpoint]]:
    """List webhook endpoints."""
    return Reply("Webhook endpoints", await endpoints.list_all(call, query.developer_app_id))


async def create_endpoint(call: Call, body: NewEndpoint) -> Reply[Endpoint]:
    """Create a webhook endpoint."""
    return Reply("Webhook endpoint created", await endpoints.create(call, body))


async def new_endpoint_faults(call: Call, body: NewEndpoint) -> list[FieldError]:
    """The faults of the endpoint."""
    return await endpoints.new_faults(call, body)


async def show_endpoint(call: Call, endpoint_id: UUID) -> Reply[Endpoint]:
    """Read one webhook endpoint."""
    return Reply("Webhook endpoint", await endpoints.show(call, endpoint_id))


async def change_endpoint(call: Call, endpoint_id: UUID, body: EndpointPatch) -> Reply[Endpoint]:
    """Update name, address or subscriptions of an endpoint."""
    return Reply("Webhook endpoint updated", await endpoints.change(call, endpoint_id, body))


async def endpoint_faults(call: Call, endpoint_id: UUID, body: EndpointPatch) -> list[FieldError]:
    """The faults of a change of an endpoint."""
    return await endpoints.url_faults(call, body)


async def delete_endpoint(call: Call, endpoint_id: UUID) -> Reply[Deleted]:
    """Delete an endpoint; its deliveries stay in the log."""
    return Reply("Webhook endpoint deleted", await endpoints.delete(call, endpoint_id))


async def disable_endpoint(call: Call, endpoint_id: UUID) -> Reply[Endpoint]:
    """Disable an endpoint without deleting it."""
    return Reply("Webhook endpoint disabled", await endpoints.disable(call, endpoint_id))


async def enable_endpoint(call: Call, endpoint_id: UUID) -> Reply[Endpoint]:
    """Enable an endpoint and reset its failure count."""
    return Reply("Webhook endpoint enabled", await endpoints.enable(call, endpoint_id))


async def test_endpoint(call: Call, endpoint_id: UUID) -> Reply[DeliveryWithAttempts]:
    """Queue a signed webhook.test event to an active endpoint."""
    return Reply("Test event queued", await endpoints.test(call, endpoint_id, TEST))


async def recover_endpoint(call: Call, endpoint_id: UUID, body: Recovery) -> Reply[Recovered]:
    """Queue the failed deliveries of a time window again, at a bounded rate."""
    found = await deliveries.recover(call, endpoint_id, body)
    return Reply("Deliveries counted" if found.is_preview else "Deliveries queued again", found)


async def recover_faults(call: Call, endpoint_id: UUID, body: Recovery) -> list[FieldError]:
    """The faults of the time window."""
    return await deliveries.recover_faults(call, body)


async def list_settings(call: Call, query: AppFilter) -> Reply[list[Settings]]:
    """List the signing settings of the apps."""
    return Reply("Webhook settings", await secrets.list_all(call, query.developer_app_id))


async def rotate_secret(
    call: Call, environment: Environment, body: AppChoice
) -> Reply[SigningSecret]:
    """Replace the signing secret at once."""
    secret = await secrets.rotate(call, environment, body.developer_app_id)
    hidden = msgspec.structs.replace(secret, secret=None)
    return Reply("Signing secret rotated", secret, stored=hidden)


async def view_secret(
    call: Call, environment: Environment, body: AppChoice
) -> Reply[SigningSecret]:
    """View the signing secret."""
    secret = await secrets.view(call, environment, body.developer_app_id)
    return Reply("Signing secret", secret)


async def list_deliveries(call: Call, query: DeliveryFilter) -> Reply[list[Delivery]]:
    """List the latest 100 deliveries, the newest first."""
    return Reply("Webhook deliveries", await deliveries.list_latest(call, query))


async def show_delivery(call: Call, delivery_id: UUID) -> Reply[DeliveryWithAttempts]:
    """Read one delivery with its attempts."""
    return Reply("Webhook delivery", await deliveries.show(call, delivery_id))


async def resend_delivery(call: Call, delivery_id: UUID) -> Reply[DeliveryWithAttempts]:
    """Queue the stored event of a delivery again."""
    return Reply("Delivery queued again", await deliveries.resend(call, delivery_id))


async def list_latest_events(call: Call, query: StreamFilter) -> Reply[list[SentEvent]]:
    """Follow the events of the book, or list the latest 100, the newest first."""
    return Reply("Events", await stream.list_latest(call, query))


async def follow_events(call: Call, query: StreamFilter) -> Stream:
    """Server-sent events as they come: `id`, `event` (the type) and `data` (the payload)."""
    return Stream(stream.follow(call, query))


_ENDPOINTS = "/api/developer/webhook-endpoints"
_ONE = _ENDPOINTS + "/{endpoint_id}"
_SETTINGS = "/api/developer/webhook-settings"
_DELIVERIES = "/api/developer/webhook-deliveries"
_PORTAL = Portal()
_STEP_UP = Portal(step_up=True)

ROUTES = (
    Route("GET", "/api/developer/webhook-events", list_events, _PORTAL),
    Route("GET", _ENDPOINTS, list_endpoints, _PORTAL),
    Route(
        "POST",
        _ENDPOINTS,
        create_endpoint,
        _PORTAL,
        status=201,
        idempotent=True,
        faults=new_endpoint_faults,
    ),
    Route("GET", _ONE, show_endpoint, _PORTAL),
    Route("PATCH", _ONE, change_endpoint, _PORTAL, faults=endpoint_faults),
    Route("DELETE", _ONE, delete_endpoint, _PORTAL),
    Route("POST", _ONE + "/disable", disable_endpoint, _PORTAL, idempotent=True),
    Route("POST", _ONE + "/enable", enable_endpoint, _PORTAL, idempotent=True),
    Route("POST", _ONE + "/test", test_endpoint, _PORTAL, status=202, idempotent=True),
    Route(
        "POST",
        _ONE + "/recover",
        recover_endpoint,
        _PORTAL,
        status=202,
        idempotent=True,
        faults=recover_faults,
    ),
    Route("GET", _SETTINGS, list_settings, _PORTAL),
    Route(
        "POST", _SETTINGS + "/{environment}/rotate-secret", rotate_secret, _STEP_UP, idempotent=True
    ),
    Route("POST", _SETTINGS + "/{environment}/view-secret", view_secret, _STEP_UP),
    Route("GET", _DELIVERIES, list_deliveries, _PORTAL),
    Route("GET", _DELIVERIES + "/{delivery_id}", show_delivery, _PORTAL),
    Route(
        "POST",
        _DELIVERIES + "/{delivery_id}/resend",
        resend_delivery,
        _PORTAL,
        status=202,
        idempotent=True,
    ),
    Route(
        "GET",
        "/v1/events/stream",
        list_latest_events,
        Scope("events:read"),
        stream=follow_events,
    ),
)
