"""Webhooks to the shop's own server: its endpoint, the signing secret, the deliveries."""

from story.story import NOBODY, Story


def hooks(s: Story) -> None:
    """The shop's server wants to hear of sales."""
    s.chapter("2026-01-31T06:30:00Z")
    s.sends("GET /api/developer/webhook-events")
    wanted = ["order.created", "order.updated", "payment.received"]
    hook = {"name": "Shop", "url": s.hooks_url, "environment": "test", "events": wanted}
    hook["developer_app_id"] = s.known["app_id"]
    s.known["endpoint_id"] = s.sends("POST /api/developer/webhook-endpoints", hook)["id"]
    wrong = {**hook, "url": "http://shop.example.com", "events": ["order.eaten"]}
    s.sends("POST /api/developer/webhook-endpoints", wrong, status=422)
    s.sends("GET /api/developer/webhook-endpoints")
    s.sends("GET /api/developer/webhook-endpoints", query={"developer_app_id": NOBODY})
    s.sends("GET /api/developer/webhook-endpoints/{endpoint_id}")
    s.sends(
        "PATCH /api/developer/webhook-endpoints/{endpoint_id}",
        {"events": [*wanted, "messaging.message.received"]},
    )
    s.sends("GET /api/developer/webhook-settings")
    s.sends("GET /api/developer/webhook-settings", query={"developer_app_id": s.known["app_id"]})
    book = {"environment": "test", "body": {"developer_app_id": s.known["app_id"]}}
    s.sends("POST /api/developer/webhook-settings/{environment}/view-secret", **book)
    s.sends("POST /api/developer/webhook-settings/{environment}/rotate-secret", **book)
    s.sends(
        "POST /api/developer/webhook-settings/{environment}/rotate-secret",
        environment="production",
        body={},
        status=404,
    )


def deliveries(s: Story) -> None:
    """Send the queue; look at a delivery, and send it once more."""
    s.chapter("2026-01-31T19:00:00Z")
    queued = s.sends("POST /api/developer/webhook-endpoints/{endpoint_id}/test")
    s.known["delivery_id"] = queued["id"]
    one = {"endpoint_id": s.known["endpoint_id"]}
    listed = "GET /api/developer/webhook-deliveries"
    s.sends(listed, query={"status": "pending", **one, "event_type": "order.created"})
    heard = s.sends("GET /v1/events/stream", query={"events": "order.created,payment.received"})
    s.sends(
        "GET /v1/events/stream",
        headers={"accept": "text/event-stream"},
        query={"events": "payment.received", "since": heard[-1]["id"]},
    )
    s.sends("GET /v1/events/{event_id}", event_id=heard[-1]["id"])
    s.sends("GET /v1/events/{event_id}", event_id=NOBODY, status=404)
    _worked_off(s)
    s.sends("GET /api/developer/webhook-deliveries/{delivery_id}")
    s.sends("GET /api/developer/webhook-endpoints/{endpoint_id}")
    s.sends(listed, query={"event_id": queued["eventId"], "developer_app_id": s.known["app_id"]})
    s.sends(listed, query={"entity_id": s.known["order_id"], "limit": 2})
    recent = {"since": "2024-01-01", "until": "2124-01-01", "limit": 1}
    recent["event_id"] = queued["eventId"]
    page = s.sends(listed, query=recent)
    s.sends(listed, query={**recent, "cursor": page[-1]["id"]})
    s.sends("POST /api/developer/webhook-deliveries/{delivery_id}/resend")
    s.sends(
        "POST /api/developer/webhook-deliveries/{delivery_id}/resend",
        delivery_id=NOBODY,
        status=404,
    )
    s.sends(
        "POST /api/developer/webhook-endpoints/{endpoint_id}/recover",
        {"since": "2024-01-01", "status": "pending", "preview": True},
    )
    s.sends(
        "POST /api/developer/webhook-endpoints/{endpoint_id}/recover",
        {"since": "2024-01-01", "until": "2023-01-01"},
        status=422,
    )
    s.sends("POST /api/developer/webhook-endpoints/{endpoint_id}/disable")
    s.sends("POST /api/developer/webhook-endpoints/{endpoint_id}/test", status=409)
    s.sends("POST /api/developer/webhook-endpoints/{endpoint_id}/enable")
    s.sends("DELETE /api/developer/webhook-endpoints/{endpoint_id}")
    s.sends("GET /api/developer/webhook-endpoints/{endpoint_id}", status=404)


def waits_for_deliveries(s: Story) -> None:
    """Wait until a worker has sent everything: what it had left to do would differ each time."""
    path = "GET /api/developer/webhook-deliveries"
    s.waits(path, lambda data: not data, query={"status": "pending"})


def _worked_off(s: Story) -> None:
    """A worker sends everything that waits."""
    with s.working():
        waits_for_deliveries(s)
        s.waits(
            "GET /v1/conversations/{conversation_id}/messages",
            lambda data: all(m["deliveryStatus"] != "sent" for m in data),
        )
