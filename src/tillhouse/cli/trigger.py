"""`tillhouse trigger`: let an event happen, to test a receiver."""

import asyncio
from typing import Annotated
from uuid import UUID

import msgspec
import typer
from rich.table import Table

from tillhouse.access.call import Call
from tillhouse.access.process import Services
from tillhouse.cli import given
from tillhouse.cli.output import AsJson, CommandError, Data, print_result, table
from tillhouse.cli.running import run
from tillhouse.cli.triggering import Desk, owner
from tillhouse.kit.clock import now
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BookId, BusinessId, EndpointId, EventId, new_id
from tillhouse.kit.secrets import Environment
from tillhouse.webhooks.actions import endpoints
from tillhouse.webhooks.events import TEST, TEST_EVENT
from tillhouse.webhooks.store.stream import list_events_after
from tillhouse.webhooks.types import AppFilter, DeliveryWithAttempts

# How often, and how far apart, it is looked for an event that a worker is about to tell.
_LOOKS, _LOOK_S = 100, 0.1


def trigger(
    event: Annotated[str, typer.Argument(help="webhook.test, or any type of the catalogue.")],
    *,
    endpoint: Annotated[
        str | None, typer.Option(help="Id of one endpoint; all active ones when left out.")
    ] = None,
    environment: Annotated[Environment, typer.Option(help="Whose endpoints.")] = "test",
    business: Annotated[
        str | None, typer.Option(help="Id of the business; the demo when left out.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Let an event happen in the test environment; a running server sends it to its endpoints.

    It is done what the event tells of: an order is recorded, a conversation assigned, a link paid.
    Named endpoints get a sample instead. `tillhouse listen` shows what no endpoint wants.
    """
    event_type = _event_type(event, environment)
    named = EndpointId(given.id_of("--endpoint", endpoint)) if endpoint is not None else None
    business_id = BusinessId(given.id_of("--business", business)) if business else None

    async def work(services: Services) -> Triggered:
        if event != TEST and named is None:
            return await _operate(services, business_id, event)
        async with services.pool.transaction() as db:
            call = await owner(services, db, business_id, now())
            chosen = await _choose(call, named, environment)
            queued = [await endpoints.send_test(call, one, event_type) for one in chosen]
            events = [one.event_id for one in queued]
            if not queued:
                events = [await endpoints.announce_test(call, environment)]
        await services.pool.notify()
        return Triggered(
            business_id=call.business_id, environment=environment, events=events, deliveries=queued
        )

    triggered = run(work, data)
    print_result(triggered, as_json=as_json, shown=_shown(triggered))


class Triggered(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The events that happened, and their deliveries, if there are endpoints."""

    business_id: BusinessId
    environment: Environment
    events: list[EventId]
    deliveries: list[DeliveryWithAttempts]


async def _operate(services: Services, business_id: BusinessId | None, event: str) -> Triggered:
    """Let an event happen by the operation that it tells of."""
    # Its rooms load the libraries of servers.
    from tillhouse.cli.trigger_operations import operation_of  # noqa: PLC0415

    desk = Desk(services, business_id)
    operation = operation_of(event)
    if operation is None:
        raise CommandError(f"Nothing lets {event} happen: name an --endpoint to send it a sample.")
    began = new_id()
    await operation(desk)
    # The senders are other processes: a command has no worker that hears its notifier.
    await services.pool.notify()
    async with services.pool.reading() as db:
        call = await desk.call(db)
    told = await _await_events(services, call.book.id, began, event)
    return Triggered(business_id=call.business_id, environment="test", events=told, deliveries=[])


async def _await_events(
    services: Services, book_id: BookId, began: UUID, event: str
) -> list[EventId]:
    """The events that happened since; a worker of a running server may be at work on the last."""
    for _ in range(_LOOKS):
        async with services.pool.reading() as db:
            found = await list_events_after(db, book_id, began, [event], [], 10)
        if found:
            return [row["id"] for row in found]
        await asyncio.sleep(_LOOK_S)
    raise CommandError(f"The operation is done, but {event} hasn't happened: look again later.")


def _shown(triggered: Triggered) -> Table | str:
    if not triggered.deliveries:
        told = " and ".join(map(str, triggered.events))
        return (
            f"Event {told} happened in {triggered.environment} of business "
            f"{triggered.business_id}: it goes to every active endpoint that wants it, and "
            "`tillhouse listen`, with a login or key of that business, shows it."
        )
    rows = [(d.id, d.event_id, d.webhook_endpoint_id, d.url) for d in triggered.deliveries]
    return table(("Delivery", "Event", "Endpoint", "To"), rows)


def _event_type(event: str, environment: Environment) -> EventType:
    if event == TEST:
        return TEST_EVENT
    # Its rooms load the libraries of servers.
    from tillhouse.app import PRODUCT  # noqa: PLC0415

    known = {one.name: one for one in PRODUCT.declared.events}
    if event not in known:
        raise typer.BadParameter(
            f"there is no event {event}: see GET /api/developer/webhook-events, or use {TEST}"
        )
    if environment == "live":
        raise CommandError(
            f"{event} is triggered in the test environment, with test endpoints only."
        )
    return known[event]


async def _choose(
    call: Call, endpoint_id: EndpointId | None, environment: Environment
) -> list[EndpointId]:
    """The endpoint that was named, or every active one of the environment."""
    found = {one.id: one for one in await endpoints.list_all(call, AppFilter())}
    if endpoint_id is None:
        return [
            one.id
            for one in found.values()
            if one.environment == environment and one.status == "active"
        ]
    if endpoint_id not in found:
        raise CommandError(f"The business has no webhook endpoint {endpoint_id}.")
    if (other := found[endpoint_id].environment) != environment:
        raise CommandError(f"That endpoint is of {other}: add --environment {other}.")
    return [endpoint_id]
