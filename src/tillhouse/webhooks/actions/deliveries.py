"""Deliveries: read the log, send one again, recover a window."""

from datetime import datetime, timedelta

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_time_zone
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Refused, check, existing
from tillhouse.kit.ids import BookKey, DeliveryId, EndpointId
from tillhouse.kit.partial import faults
from tillhouse.webhooks import rules
from tillhouse.webhooks.actions.endpoints import lock as lock_endpoint
from tillhouse.webhooks.store import deliveries as store
from tillhouse.webhooks.store import recovery
from tillhouse.webhooks.store.deliveries import DeliveryWindow
from tillhouse.webhooks.types import (
    Delivery,
    DeliveryFilter,
    DeliveryWithAttempts,
    Recovered,
    Recovery,
)

_MILLISECOND = timedelta(milliseconds=1)


class EventExpired(
    Refused,
    message=(
        "The event of this delivery is no longer kept, so it can't be sent again: "
        "read the present state of what it told of through the API."
    ),
):
    """The event is gone; the delivery's own record may outlive it by a week."""


async def list_latest(call: Call, wanted: DeliveryFilter) -> list[Delivery]:
    """One page of the log, the newest first; the narrowest filter is the way in."""
    books, how = call.user.books.all(), (wanted, await _window(call, wanted))
    if wanted.entity_id:
        return await store.list_deliveries_of_entity(call.db, books, wanted.entity_id, *how)
    if wanted.event_id:
        return await store.list_deliveries_of_event(call.db, books, wanted.event_id, *how)
    if wanted.endpoint_id:
        return await store.list_deliveries_of_endpoint(call.db, books, wanted.endpoint_id, *how)
    return await store.list_deliveries(call.db, books, *how)


async def _window(call: Call, wanted: DeliveryFilter) -> DeliveryWindow:
    if wanted.since is None and wanted.until is None:
        return DeliveryWindow(None, None)
    zone = await find_time_zone(call.db, call.business_id)
    since, until = rules.listed_window(wanted, zone)
    # Both ends belong to the window.
    return DeliveryWindow(since, until + _MILLISECOND if until else None)


async def show(call: Call, delivery_id: DeliveryId) -> DeliveryWithAttempts:
    """One delivery."""
    return existing(await store.show_delivery(call.db, call.user.books.all(), delivery_id))


async def resend(call: Call, delivery_id: DeliveryId) -> DeliveryWithAttempts:
    """Queue the same payload and event id again."""
    row = existing(await store.lock_delivery(call.db, call.user.books.all(), delivery_id))
    if not row["has_event"]:
        raise EventExpired
    rules.check_active(row["endpoint_status"] or "deleted")
    await store.queue_again(call.db, BookKey(row["book_id"], delivery_id), call.now)
    what = ("webhook_delivery.resent", "Webhook delivery queued again")
    metadata = {
        "webhookDeliveryId": str(delivery_id),
        "webhookEndpointId": str(row["webhook_endpoint_id"]),
        "eventId": str(row["event_id"]),
    }
    await audit.note(call, what, metadata)
    call.db.queues_work = True
    return await show(call, delivery_id)


async def recover_faults(call: Call, wanted: Recovery) -> list[FieldError]:
    """Everything that speaks against the time window."""
    zone = await find_time_zone(call.db, call.business_id)
    return faults(lambda: rules.window_errors(wanted, zone, call.now))


async def recover(call: Call, endpoint_id: EndpointId, wanted: Recovery) -> Recovered:
    """Queue an endpoint's deliveries of a time window again, or for the first time."""
    row = await lock_endpoint(call, endpoint_id)
    rules.check_active(row["status"])
    zone = await find_time_zone(call.db, call.business_id)
    check(faults(lambda: rules.window_errors(wanted, zone, call.now)))
    since, until = rules.window(wanted, zone, call.now)
    key = BookKey(row["book_id"], endpoint_id)
    count, onward = await _queue(call, key, (since, until + _MILLISECOND), wanted)
    if not wanted.preview:
        what = ("webhook_endpoint.recovered", f"Webhook endpoint {row['name']}: recovered")
        metadata = {
            "webhookEndpointId": str(endpoint_id),
            "since": iso(since),
            "until": iso(until),
            "status": wanted.status,
            "count": count,
        }
        await audit.note(call, what, metadata)
        call.db.queues_work = True
    last = rules.last_due_at(count, call.now)
    return Recovered(
        count, wanted.preview, rules.RECOVER_PER_SECOND,
        iso(last) if last else None, iso(onward) if onward else None,
    )  # fmt: skip


async def _queue(
    call: Call, key: BookKey, window: tuple[datetime, datetime], wanted: Recovery
) -> tuple[int, datetime | None]:
    """Queue, or count, deliveries of a window: how many, and from when on there may be more."""
    most, per_second = rules.RECOVER_MAX, rules.RECOVER_PER_SECOND
    if wanted.status == "missing":
        if wanted.preview:
            found = await recovery.count_missing(call.db, key, window, most)
        else:
            found = await recovery.queue_missing(call.db, key, window, most, per_second, call.now)
        return (found["count"], found["onward"]) if found else (0, None)
    if wanted.preview:
        return await recovery.count_recoverable(call.db, key, window, wanted.status, most), None
    count = await recovery.queue_window_again(
        call.db, key, window, wanted.status, most, per_second, call.now
    )
    return count, None
