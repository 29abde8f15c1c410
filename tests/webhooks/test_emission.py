"""Which endpoints an event reaches, and when it is an event at all."""

import json
from uuid import UUID

import asyncpg
import pytest

from tests.webhooks.shop import EVENTS, Shop
from tillhouse.access.call import Call
from tillhouse.access.callers import KeyCaller
from tillhouse.kit.clock import iso, now, parse_timestamp
from tillhouse.messaging.events import MessageDelivery
from tillhouse.webhooks.emit import Source, emit, emit_all_from


async def _reached(shop: Shop, event_id: str) -> set[str]:
    return {each["webhookEndpointId"] for each in await shop.deliveries(f"event_id={event_id}")}


async def test_an_event_reaches_every_endpoint_that_wants_it(quiet: Shop) -> None:
    """Each with a delivery of its own and the same event id."""
    wants = {(await quiet.endpoint())["id"] for _ in range(3)}
    await quiet.endpoint(events=["order.updated"])
    disabled = await quiet.endpoint()
    await quiet.act(disabled["id"], "disable")
    deleted = await quiet.endpoint()
    await quiet.owner.delete(f"/api/developer/webhook-endpoints/{deleted['id']}", status=200)
    assert await _reached(quiet, await quiet.emit()) == wants


async def test_every_event_reaches_an_endpoint_that_wants_all(quiet: Shop) -> None:
    """Of each type; a disabled one gets none."""
    everything = await quiet.endpoint(events=["*"])
    disabled = await quiet.endpoint(events=["*"])
    await quiet.act(disabled["id"], "disable")
    for event in ("order.created", "order.updated", "contact.created"):
        assert await _reached(quiet, await quiet.emit(event)) == {everything["id"]}


async def test_an_event_of_a_key_reaches_the_endpoints_of_its_app(quiet: Shop) -> None:
    """One of nobody's key reaches those of every app of the book."""
    app_id = await quiet.app_of()
    mine = await quiet.endpoint(developer_app_id=app_id)
    other = await quiet.endpoint()
    assert await _reached(quiet, await quiet.emit(app_id=app_id)) == {mine["id"]}
    assert await _reached(quiet, await quiet.emit(app_id=other["developerAppId"])) == {other["id"]}
    assert await _reached(quiet, await quiet.emit()) == {mine["id"], other["id"]}


async def test_an_event_stays_in_its_environment_and_business(quiet: Shop) -> None:
    """A test event reaches no live endpoint, nobody's event another business."""
    test = await quiet.endpoint()
    live = await quiet.endpoint(environment="live")
    theirs = await Shop.open(quiet.app)
    await theirs.endpoint()
    assert await _reached(quiet, await quiet.emit()) == {test["id"]}
    assert await _reached(quiet, await quiet.emit(environment="live")) == {live["id"]}
    assert await theirs.deliveries() == []


async def test_an_event_is_as_lasting_as_its_transaction(quiet: Shop) -> None:
    """A change that is rolled back was never announced."""
    await quiet.endpoint()
    book = await quiet.book()

    async def fail() -> str:
        async with quiet.services.pool.transaction() as db:
            await quiet.emit_in(db, book)
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        await fail()
    assert await quiet.deliveries() == []
    async with quiet.services.pool.transaction() as db:
        event_id = await quiet.emit_in(db, book)
        assert await quiet.deliveries() == []
    assert [each["eventId"] for each in await quiet.deliveries()] == [event_id]


async def test_an_event_that_nobody_wants_wakes_nobody(quiet: Shop) -> None:
    """It is kept; the commit notifies nobody."""
    book = await quiet.book()
    async with quiet.services.pool.transaction() as db:
        await quiet.emit_in(db, book)
        assert not db.queues_work
        await quiet.endpoint()
    async with quiet.services.pool.transaction() as db:
        await quiet.emit_in(db, book)
        assert db.queues_work


async def test_the_envelope_is_that_of_the_contract(quiet: Shop, sql: asyncpg.Connection) -> None:
    """Seven fields in their order, and the data as it was given."""
    await quiet.endpoint(environment="live")
    data = quiet.change()
    event_id = await quiet.emit(environment="live", data=data)
    payload = await sql.fetchval("SELECT payload FROM webhook_events WHERE id = $1", UUID(event_id))
    envelope = json.loads(payload or "")
    created = envelope.pop("created")
    assert envelope == {
        "id": event_id, "type": "order.created", "apiVersion": "v1",
        "businessId": quiet.business.id, "environment": "live",
        "data": {
            "businessId": quiet.business.id, "eventType": "ORDER_CREATED", "entityType": "sale",
            "entityId": str(data.entity_id), "storeId": None, "metadata": {"total": 12},
            "occurredAt": data.occurred_at,
        },
    }  # fmt: skip
    assert iso(parse_timestamp(created)) == created
    assert abs((now() - parse_timestamp(created)).total_seconds()) < 60


async def test_an_event_carries_the_data_of_its_kind(quiet: Shop) -> None:
    """Anything else is a mistake of the program, told at once."""
    wrong = MessageDelivery(
        message_id=UUID(int=1),
        conversation_id=UUID(int=2),
        delivery_status="read",
        meta_message_id=None,
    )
    with pytest.raises(TypeError, match=r"order\.created carries ChangeData"):
        await quiet.emit(data=wrong)


async def test_a_call_announces_for_its_caller(quiet: Shop) -> None:
    """The same in a route: the event's book and app are the key's."""
    app_id = await quiet.app_of()
    mine = await quiet.endpoint(developer_app_id=app_id)
    await quiet.endpoint()
    caller = KeyCaller(
        key_id=UUID(int=1),
        business_id=UUID(quiet.business.id),
        book=await quiet.book(),
        app_id=UUID(app_id),
        name="Till",
        scopes=frozenset({"orders:write"}),
        allowed_origins=(),
        allowed_networks=(),
        withdrawal_policy=None,
    )
    async with quiet.services.pool.transaction() as db:
        call = Call(
            db=db, services=quiet.services, now=now(), request_id="1", ip="127.0.0.1",
            business_id=caller.business_id, book=caller.book, caller=caller,
        )  # fmt: skip
        event_id = await emit(call, EVENTS["order.created"], quiet.change())
    assert await _reached(quiet, str(event_id)) == {mine["id"]}


async def test_several_events_are_one_statement_in_their_order(
    quiet: Shop, sql: asyncpg.Connection
) -> None:
    """Each endpoint gets those that it wants, and both log and queue keep the order."""
    names = ["order.created", "inventory.low_stock", "order.updated", "order.cancelled"]
    every = await quiet.endpoint(events=names)
    some = await quiet.endpoint(events=["order.updated"])
    book = await quiet.book()
    origin = Source(UUID(quiet.business.id), book)
    events = [(EVENTS[name], quiet.change(name)) for name in names]
    async with quiet.services.pool.transaction() as db:
        before = quiet.services.pool.statements
        ids = [str(event_id) for event_id in await emit_all_from(db, origin, events, now())]
        assert quiet.services.pool.statements == before + 1
        assert db.queues_work
    assert ids == sorted(set(ids))
    log = await quiet.deliveries(f"endpoint_id={every['id']}")
    assert [each["eventId"] for each in reversed(log)] == ids
    assert [each["eventType"] for each in reversed(log)] == names
    assert [each["eventId"] for each in await quiet.deliveries(f"endpoint_id={some['id']}")] == [
        ids[2]
    ]
    queued = await sql.fetch(
        "SELECT event_id FROM webhook_queue WHERE endpoint_id = $1::text::uuid ORDER BY due_at",
        every["id"],
    )
    assert [str(row["event_id"]) for row in queued] == ids


async def test_one_wrong_event_among_several_announces_none(quiet: Shop) -> None:
    """All or nothing, and nothing is no statement."""
    await quiet.endpoint()
    origin = Source(UUID(quiet.business.id), await quiet.book())
    async with quiet.services.pool.transaction() as db:
        before = quiet.services.pool.statements
        assert await emit_all_from(db, origin, [], now()) == []
        events = [(EVENTS[name], quiet.change()) for name in ("order.created", "product.created")]
        with pytest.raises(TypeError, match=r"product\.created carries ProductData"):
            await emit_all_from(db, origin, events, now())
        assert quiet.services.pool.statements == before
    assert await quiet.deliveries() == []
