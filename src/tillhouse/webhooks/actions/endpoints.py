"""Endpoints: make, change, disable, enable, test, delete, recover."""

from contextlib import suppress
from typing import Any
from uuid import UUID

from asyncpg import Record
from msgspec import UNSET

from tillhouse.access import audit
from tillhouse.access.call import Call
from tillhouse.access.callers import Book
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BookKey, EndpointId, EventId, new_id
from tillhouse.kit.page import Deleted
from tillhouse.kit.partial import InvalidField, faults, given
from tillhouse.kit.secrets import Environment
from tillhouse.outgoing.guard import resolve
from tillhouse.outgoing.rules import check_target, host_of
from tillhouse.webhooks import rules
from tillhouse.webhooks.emit import Source, envelope, note_told
from tillhouse.webhooks.events import TEST_EVENT, TestData
from tillhouse.webhooks.samples import shown
from tillhouse.webhooks.store import deliveries as delivery_store
from tillhouse.webhooks.store import endpoints as store
from tillhouse.webhooks.store import events as event_store
from tillhouse.webhooks.store import secrets as secret_store
from tillhouse.webhooks.store.events import EventRows
from tillhouse.webhooks.types import (
    AppFilter,
    DeliveryWithAttempts,
    Endpoint,
    EndpointPatch,
    NewEndpoint,
)

TEST_MESSAGE = "This is a test of your webhook endpoint."
NO_ENDPOINT = EndpointId(UUID(int=0))


async def create(call: Call, new: NewEndpoint) -> Endpoint:
    """Make an active endpoint."""
    check(await new_faults(call, new))
    book_id = call.user.books.of(new.environment)
    secret = await secret_store.lock_secret(call.db, book_id, new.developer_app_id)
    assert secret is not None, "looked for a moment ago; no app is ever removed"  # noqa: S101
    app_id = secret["developer_app_id"]
    rules.check_endpoint_limit(await store.count_active_endpoints(call.db, book_id, app_id))
    endpoint_id = EndpointId(new_id())
    events = list(dict.fromkeys(str(event) for event in new.events))
    await store.insert_endpoint(
        call.db,
        store.EndpointRow(
            book_id=book_id,
            id=endpoint_id,
            developer_app_id=app_id,
            name=new.name,
            url=new.url,
            events=events,
            now=call.now,
        ),
    )
    more = {"url": new.url, "events": events, "developerAppId": str(app_id)}
    await _note(call, "created", endpoint_id, new.name, new.environment, more)
    return await show(call, endpoint_id)


async def new_faults(call: Call, new: NewEndpoint) -> list[FieldError]:
    """Everything that speaks against making the endpoint; the address before any statement."""
    found = await form_faults(call, new)
    with suppress(InvalidField):
        book_id = call.user.books.of(new.environment)
        if await secret_store.find_app(call.db, book_id, new.developer_app_id) is None:
            wrong = "is no app of this business and environment"
            found.append(FieldError("developer_app_id", wrong))
    return found


async def list_all(call: Call, wanted: AppFilter) -> list[Endpoint]:
    """The endpoints of the business."""
    return await store.list_endpoints(call.db, call.user.books.all(), wanted.developer_app_id)


async def show(call: Call, endpoint_id: EndpointId) -> Endpoint:
    """One endpoint."""
    return existing(await store.show_endpoint(call.db, call.user.books.all(), endpoint_id))


async def change(call: Call, endpoint_id: EndpointId, patch: EndpointPatch) -> Endpoint:
    """Change name, address or subscriptions; queued deliveries go to the new address."""
    check(await form_faults(call, patch))
    row = await lock(call, endpoint_id)
    name = row["name"] if patch.name is UNSET else patch.name
    url = row["url"] if patch.url is UNSET else patch.url
    events = row["events"]
    if patch.events is not UNSET:
        events = list(dict.fromkeys(str(event) for event in patch.events))
    key = BookKey(row["book_id"], endpoint_id)
    await store.update_endpoint(call.db, key, name, url, events, call.now)
    more = {"url": url, "events": events}
    await _note(call, "updated", endpoint_id, name, row["environment"], more)
    return await show(call, endpoint_id)


async def disable(call: Call, endpoint_id: EndpointId) -> Endpoint:
    """Send nothing there any more; queued deliveries end as failed."""
    row = await lock(call, endpoint_id)
    if row["status"] == "active":
        await store.update_disabled(call.db, BookKey(row["book_id"], endpoint_id), call.now)
        await _note(call, "disabled", endpoint_id, row["name"], row["environment"], {})
        # A sender then ends the queued deliveries.
        call.db.queues_work = True
    return await show(call, endpoint_id)


async def enable(call: Call, endpoint_id: EndpointId) -> Endpoint:
    """Send there again; nothing that failed is sent again by itself."""
    row = await lock(call, endpoint_id)
    key = BookKey(row["book_id"], endpoint_id)
    if row["status"] != "active":
        app_id = row["developer_app_id"]
        await store.lock_app(call.db, key[0], app_id)
        rules.check_endpoint_limit(await store.count_active_endpoints(call.db, key[0], app_id))
        await _note(call, "enabled", endpoint_id, row["name"], row["environment"], {})
    await store.update_enabled(call.db, key, call.now)
    return await show(call, endpoint_id)


async def delete(call: Call, endpoint_id: EndpointId) -> Deleted:
    """Remove the endpoint; its deliveries stay in the log."""
    row = await lock(call, endpoint_id)
    await store.delete_endpoint(call.db, BookKey(row["book_id"], endpoint_id))
    await _note(call, "deleted", endpoint_id, row["name"], row["environment"], {})
    call.db.queues_work = True
    return Deleted(endpoint_id, iso(call.now))


async def send_test(
    call: Call, endpoint_id: EndpointId, event_type: EventType = TEST_EVENT
) -> DeliveryWithAttempts:
    """Queue a webhook.test or a sample for this endpoint, whatever it subscribes to."""
    row = await lock(call, endpoint_id)
    rules.check_active(row["status"])
    event_id = EventId(new_id())
    origin = Source(call.business_id, Book(row["book_id"], row["environment"]))
    data: TestData | dict[str, Any] = TestData(endpoint_id=endpoint_id, message=TEST_MESSAGE)
    if event_type != TEST_EVENT:
        data = shown(event_type).sample
    payload = envelope(event_id, event_type.name, origin, data, call.now)
    key = BookKey(row["book_id"], event_id)
    delivery_id = await event_store.insert_event_for(
        call.db, key, endpoint_id, event_type.name, payload, call.now
    )
    await _note(call, "tested", endpoint_id, row["name"], row["environment"], {})
    note_told(call.db, row["book_id"], queued=1)
    books = call.user.books.all()
    return existing(await delivery_store.show_delivery(call.db, books, delivery_id))


async def announce_test(call: Call, environment: Environment) -> EventId:
    """Let a webhook.test happen for those who listen; it names no endpoint."""
    data = TestData(endpoint_id=NO_ENDPOINT, message=TEST_MESSAGE)
    book_id, event_id = call.user.books.of(environment), EventId(new_id())
    origin = Source(call.business_id, Book(book_id, environment))
    payload = envelope(event_id, TEST_EVENT.name, origin, data, call.now)
    told = EventRows(
        ids=[event_id],
        types=[TEST_EVENT.name],
        payloads=[payload],
        moments=[call.now],
        entity_ids=[None],
        app_id=None,
    )
    queued = await event_store.insert_events(call.db, book_id, call.now, told)
    note_told(call.db, book_id, queued)
    return event_id


async def lock(call: Call, endpoint_id: EndpointId) -> Record:
    """The endpoint as it stands, until this call commits."""
    return existing(await store.lock_endpoint(call.db, call.user.books.all(), endpoint_id))


async def form_faults(call: Call, asked: NewEndpoint | EndpointPatch) -> list[FieldError]:
    """The faults of an address that leads inwards, and of subscriptions that don't go together."""
    found = faults(lambda: rules.subscription_errors(() if asked.events is UNSET else asked.events))
    return found + await _url_faults(call, asked)


async def _url_faults(call: Call, asked: NewEndpoint | EndpointPatch) -> list[FieldError]:
    url = given(asked, "url")
    if url is UNSET or url is None:
        return []
    host = host_of(url)
    wrong = check_target(host, await resolve(host), call.services.settings.webhook_allow_targets)
    return [FieldError("url", wrong)] if wrong else []


async def _note(
    call: Call, verb: str, endpoint_id: EndpointId, name: str, environment: str,
    more: dict[str, Any],
) -> None:  # fmt: skip
    metadata = {"webhookEndpointId": str(endpoint_id), "environment": environment, **more}
    title = f"Webhook endpoint {name}: {verb}"
    await audit.note(call, (f"webhook_endpoint.{verb}", title), metadata)
