"""`tillhouse trigger`: let an event happen, to see what a receiver makes of it."""

from datetime import datetime
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from tillhouse.access.audit import COMMAND_LINE
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, Books, UserCaller
from tillhouse.access.process import Services
from tillhouse.access.roles import PERMISSIONS
from tillhouse.access.store import sessions
from tillhouse.accounts import store
from tillhouse.cli import demo, given
from tillhouse.cli.output import AsJson, CommandError, Data, NoBusiness, print_result, table
from tillhouse.cli.running import run
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BusinessId, EndpointId, EventId, new_id
from tillhouse.kit.secrets import Environment
from tillhouse.webhooks.actions import endpoints
from tillhouse.webhooks.events import TEST, TEST_EVENT
from tillhouse.webhooks.store.stream import list_events_after
from tillhouse.webhooks.types import AppFilter, DeliveryWithAttempts

_OF_AGENTS = "voice.agent."
# They tell of a payment, so that one is made: by a payment link, with the sandbox.
_OF_PAYMENTS = ("payment.received", "wallet.deposit")
_PAID = 250


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
    """Queue a test event to the webhook endpoints of a business; a running server sends it.

    Without an active endpoint it still happens, and `tillhouse listen` shows it.
    """
    event_type = _event_type(event, environment)
    named = EndpointId(given.id_of("--endpoint", endpoint)) if endpoint is not None else None
    business_id = BusinessId(given.id_of("--business", business)) if business else None

    async def work(services: Services) -> Triggered:
        if event in _OF_PAYMENTS and named is None:
            return await _pay(services, business_id)
        if event.startswith("voice.") and named is None:
            return await _speak(services, business_id, event)
        async with services.pool.transaction() as db:
            call = await _call(services, db, business_id, now())
            chosen = await _choose(call, named, environment)
            queued = [await endpoints.send_test(call, one, event_type) for one in chosen]
            events = [one.event_id for one in queued]
            if not queued:
                events = [await endpoints.announce_sample(call, environment, event_type)]
        # The senders are other processes: a command has no worker that hears its notifier.
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


async def _pay(services: Services, business_id: BusinessId | None) -> Triggered:
    """Let somebody pay into the wallet by a link: the events are those of a real payment."""
    # Its rooms load the libraries of servers.
    from tillhouse.checkout.actions import create_for_wallet  # noqa: PLC0415
    from tillhouse.checkout.demonstrating import pay_simulated  # noqa: PLC0415
    from tillhouse.checkout.types import LinkTitle, NewWalletLink, ToPay  # noqa: PLC0415

    began = new_id()
    async with services.pool.transaction() as db:
        call = await _call(services, db, business_id, now())
        call.book = Book(call.user.books.test, "test")
        new = NewWalletLink(title=LinkTitle("Test payment"), amount=ToPay(_PAID))
        link, _ = await create_for_wallet(call, new)
    await pay_simulated(services, link.reference)
    await services.pool.notify()
    async with services.pool.reading() as db:
        found = await list_events_after(db, call.book.id, began, [*_OF_PAYMENTS], [], 10)
    return Triggered(
        business_id=call.business_id,
        environment="test",
        events=[row["id"] for row in found],
        deliveries=[],
    )


async def _speak(services: Services, business_id: BusinessId | None, event: str) -> Triggered:
    """Let an agent be changed, or call somebody on the simulated network."""
    # Its rooms load the libraries of servers.
    from tillhouse.voice import demonstrating  # noqa: PLC0415

    began = new_id()
    intent = None
    async with services.pool.transaction() as db:
        call = await _call(services, db, business_id, now())
        call.book = Book(call.user.books.test, "test")
        if event.startswith(_OF_AGENTS):
            await demonstrating.change_an_agent(call)
        else:
            is_busy = event == "voice.call.failed"
            phone = demonstrating.BUSY if is_busy else demonstrating.ANSWERED
            intent = await demonstrating.intend_a_call(call, phone)
    if intent is not None:
        await demonstrating.make_the_call(services, intent)
    await services.pool.notify()
    async with services.pool.reading() as db:
        found = await list_events_after(db, call.book.id, began, [event], [], 10)
    return Triggered(
        business_id=call.business_id,
        environment="test",
        events=[row["id"] for row in found],
        deliveries=[],
    )


def _shown(triggered: Triggered) -> Table | str:
    if len(triggered.events) > 1 and not triggered.deliveries:
        told = " and ".join(map(str, triggered.events))
        return (
            f"{_PAID} were paid by a payment link in test of business {triggered.business_id}: the "
            f"events {told} happened, and go to every endpoint that wants them."
        )
    if not triggered.deliveries:
        return (
            f"Event {triggered.events[0]} happened in {triggered.environment} of business "
            f"{triggered.business_id}. It has no active webhook endpoint there: only "
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
            f"A sample of {event} tells of nothing that happened: it goes to test endpoints only."
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


async def _call(
    services: Services, db: Db, business_id: BusinessId | None, moment: datetime
) -> Call:
    """An owner of the business as a caller, by the command line."""
    if business_id is None:
        business_id = await _demo(db)
    found = {row["environment"]: row["id"] for row in await store.list_books(db, business_id)}
    if not found:
        raise NoBusiness(business_id)
    members = await store.list_members(db, business_id)
    owner = next(member for member in members if member["role"] == "owner")
    books = Books(**found)
    caller = UserCaller(
        user_id=owner["id"],
        session_id=new_id(),
        business_id=business_id,
        books=books,
        name=COMMAND_LINE.name,
        email=owner["email"],
        role="owner",
        permissions=PERMISSIONS["owner"],
        scopes=services.declared.roles["owner"],
        password_verified_at=None,
        subscription_fault=None,
    )
    return Call(
        db=db,
        services=services,
        now=moment,
        request_id=str(new_id()),
        ip=COMMAND_LINE.ip,
        business_id=business_id,
        book=Book(books.live, "live"),
        caller=caller,
    )


async def _demo(db: Db) -> BusinessId:
    user = await sessions.find_user_by_email(db, demo.EMAIL)
    if user is None or user["business_id"] is None:
        raise CommandError("There is no demo business: run `tillhouse demo`, or give --business.")
    return user["business_id"]
