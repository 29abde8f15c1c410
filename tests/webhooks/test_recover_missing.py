"""Recovery of events that had no delivery: the endpoint was made, or subscribed, later."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import pytest

from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Json, Shop
from tillhouse.kit.clock import now, parse_timestamp
from tillhouse.kit.ids import new_id
from tillhouse.webhooks.rules import RECOVER_MAX

SINCE = "2024-01-01"


async def _recover(shop: Shop, endpoint_id: str, **body: object) -> Json:
    return await shop.act(endpoint_id, "recover", {"since": SINCE, "status": "missing", **body})


async def test_what_happened_before_the_endpoint_arrives_once(
    sender: Shop, receiver: Receiver
) -> None:
    """However often it is recovered, and though other events were delivered meanwhile."""
    early = [await sender.emit(), await sender.emit()]
    await sender.emit("order.updated")
    assert await sender.deliveries() == []
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    late = await sender.emit()
    await sender.settled(late)
    preview = await _recover(sender, endpoint_id, preview=True)
    assert (preview["count"], preview["isPreview"], preview["nextSince"]) == (2, True, None)
    done = await asyncio.gather(*(_recover(sender, endpoint_id) for _ in range(3)))
    assert sorted(each["count"] for each in done) == [0, 0, 2]
    for event_id in early:
        assert (await sender.settled(event_id))["status"] == "delivered"
    assert (await _recover(sender, endpoint_id))["count"] == 0
    assert sorted(each.event_id for each in receiver.received) == sorted([*early, late])
    [noted] = [each for each in await sender.audit("webhook_endpoint.recovered")
               if each["metadata"]["count"]]  # fmt: skip
    assert (noted["metadata"]["status"], noted["metadata"]["count"]) == ("missing", 2)


async def test_an_endpoint_gets_only_what_it_would_have_got(quiet: Shop) -> None:
    """Its types, its book, events of its app or of none; in the window, and of this business."""
    theirs = await Shop.open(quiet.app)
    await theirs.emit()
    app_id = await quiet.app_of()
    own, foreign = await quiet.emit(), await quiet.emit(app_id=app_id)
    await quiet.emit("order.updated")
    await quiet.emit(environment="live")
    first = await quiet.endpoint()
    second = await quiet.endpoint(developer_app_id=app_id)
    assert (await _recover(quiet, first["id"], until="2024-02-01"))["count"] == 0
    assert (await _recover(quiet, first["id"]))["count"] == 1
    assert (await _recover(quiet, second["id"]))["count"] == 2
    listed = await quiet.deliveries(f"endpoint_id={first['id']}")
    assert [each["eventId"] for each in listed] == [own]
    listed = await quiet.deliveries(f"endpoint_id={second['id']}")
    assert {each["eventId"] for each in listed} == {own, foreign}


async def test_what_came_while_it_was_disabled_is_missing(quiet: Shop) -> None:
    """Disabling delivers nothing; what had a delivery before, whatever its fate, isn't missing."""
    endpoint_id = (await quiet.endpoint())["id"]
    await quiet.emit()
    await quiet.act(endpoint_id, "disable")
    meanwhile = await quiet.emit()
    await quiet.act(endpoint_id, "enable")
    assert (await _recover(quiet, endpoint_id))["count"] == 1
    assert (await quiet.delivery_of(meanwhile))["status"] == "pending"


async def test_a_recovery_looks_at_so_many_events_and_tells_where_to_go_on(
    quiet: Shop, sql: asyncpg.Connection
) -> None:
    """A wide window takes several requests, of a bounded size each, and misses nothing."""
    begin = now() - timedelta(hours=3)
    wanted = [0, 1, RECOVER_MAX - 1, RECOVER_MAX, RECOVER_MAX + 700]
    events = [
        (_id_at(begin + timedelta(milliseconds=n)), "order.created" if n in wanted else "x")
        for n in range(RECOVER_MAX + 701)
    ]
    book = await quiet.book()
    await sql.executemany(
        "INSERT INTO webhook_events (book_id, id, type, payload) VALUES ($1, $2, $3, '{}')",
        [(book.id, event_id, kind) for event_id, kind in events],
    )
    endpoint_id = (await quiet.endpoint())["id"]
    first = await _recover(quiet, endpoint_id)
    assert (first["count"], first["perSecond"]) == (3, 20)
    last = parse_timestamp(first["nextSince"]) - begin
    assert last / timedelta(milliseconds=1) == pytest.approx(RECOVER_MAX - 1, abs=2)
    second = await _recover(quiet, endpoint_id, since=first["nextSince"])
    assert (second["count"], second["nextSince"]) == (2, None)
    queued = await quiet.deliveries(f"endpoint_id={endpoint_id}")
    assert {each["eventId"] for each in queued} == {str(events[n][0]) for n in wanted}
    due = {each["eventId"]: each["nextAttemptAt"] for each in queued}
    # Each request spreads its own deliveries: those of two may fall on the same moment.
    for part, told in ((wanted[:3], first), (wanted[3:], second)):
        moments = {due[str(events[n][0])] for n in part}
        assert len(moments) == len(part)
        assert told["lastDueAt"] in moments


def _id_at(moment: datetime) -> UUID:
    return UUID(int=int(moment.timestamp() * 1000) << 80 | new_id().int & ((1 << 80) - 1))
