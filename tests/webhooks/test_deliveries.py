"""The log of deliveries: the record, the latest hundred, every filter, and whose it is."""

import json
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.make import Make
from tests.webhooks.shop import DELIVERIES, URL, Shop
from tillhouse.webhooks.types import Delivery


async def _end(sql: asyncpg.Connection, delivery_id: str, status: str) -> None:
    """As the sender leaves a delivery that is over."""
    await sql.execute(
        "UPDATE webhook_deliveries SET status = $2, next_attempt_at = NULL WHERE id = $1",
        UUID(delivery_id),
        status,
    )
    await sql.execute("DELETE FROM webhook_queue WHERE delivery_id = $1", UUID(delivery_id))


async def test_a_new_delivery_has_the_whole_record(quiet: Shop) -> None:
    """Every field of the contract and no other; read alone it has its attempts, too."""
    made = await quiet.endpoint()
    event_id = await quiet.emit()
    [listed] = await quiet.deliveries()
    preview = listed["payloadPreview"].pop("preview")
    assert listed == {
        "id": listed["id"], "businessId": quiet.business.id,
        "developerAppId": made["developerAppId"], "webhookEndpointId": made["id"],
        "environment": "test", "eventId": event_id, "eventType": "order.created",
        "status": "pending", "url": URL, "attempts": 0, "responseStatus": None,
        "latencyMs": None, "errorMessage": None, "payloadPreview": {},
        "nextAttemptAt": listed["createdAt"], "deliveredAt": None,
        "createdAt": listed["createdAt"], "updatedAt": listed["createdAt"],
    }  # fmt: skip
    assert json.loads(preview)["id"] == event_id
    alone = await quiet.delivery(listed["id"])
    assert alone == {
        **listed, "payloadPreview": {"preview": preview}, "attemptsLog": [],
    }  # fmt: skip


async def test_the_preview_is_the_start_of_the_payload(quiet: Shop) -> None:
    """500 characters, however long the payload is."""
    await quiet.endpoint()
    data = quiet.change()
    data.metadata = {"text": "é" * 20_000}
    event_id = await quiet.emit(data=data)
    preview = (await quiet.delivery_of(event_id))["payloadPreview"]["preview"]
    assert len(preview) == 500
    assert preview.startswith(f'{{"id":"{event_id}","type":"order.created"')
    assert preview.endswith("é")


async def test_the_latest_hundred_are_listed(quiet: Shop) -> None:
    """The newest first, of both environments together."""
    await quiet.endpoint()
    await quiet.endpoint(environment="live")
    for environment in ("test", "live"):
        book = await quiet.book(environment)
        async with quiet.services.pool.transaction() as db:
            for _ in range(60):
                await quiet.emit_in(db, book)
    listed = await quiet.deliveries()
    assert len(listed) == 100
    assert [each["id"] for each in listed] == sorted((each["id"] for each in listed), reverse=True)
    moments = {
        environment: [e["createdAt"] for e in listed if e["environment"] == environment]
        for environment in ("live", "test")
    }
    assert {name: len(each) for name, each in moments.items()} == {"live": 60, "test": 40}
    # The last of one and the first of the other may share a millisecond, and so stand either way.
    assert min(moments["live"]) >= max(moments["test"])


async def test_every_filter_narrows_the_log(quiet: Shop, sql: asyncpg.Connection) -> None:
    """Alone and together; what fits nothing lists nothing."""
    app_id = await quiet.app_of()
    first = await quiet.endpoint(events=["order.created", "order.updated"])
    second = await quiet.endpoint(developer_app_id=app_id)
    created, updated = await quiet.emit(), await quiet.emit("order.updated")
    [of_updated] = await quiet.deliveries(f"event_id={updated}")
    await _end(sql, of_updated["id"], "delivered")

    async def found(query: str) -> set[tuple[str, str]]:
        listed = await quiet.deliveries(query)
        return {(each["webhookEndpointId"], each["eventId"]) for each in listed}

    every = {(first["id"], created), (second["id"], created), (first["id"], updated)}
    assert await found("") == every
    assert await found(f"developer_app_id={app_id}") == {(second["id"], created)}
    assert await found(f"endpoint_id={first['id']}") == every - {(second["id"], created)}
    assert await found("status=delivered") == {(first["id"], updated)}
    assert await found("status=pending") == every - {(first["id"], updated)}
    assert await found("status=failed") == set()
    assert await found("event_type=order.updated") == {(first["id"], updated)}
    assert await found(f"event_id={created}") == every - {(first["id"], updated)}
    assert await found(f"event_id={created}&endpoint_id={second['id']}&status=pending") == {
        (second["id"], created)
    }
    assert await found(f"event_id={uuid4()}") == set()
    assert await found("event_type=webhook.test") == set()


@pytest.mark.parametrize(
    "query",
    ["status=done", "status=", "endpoint_id=1", "event_id=x", "developer_app_id=0", "page=2",
     "limit=1000", "event_type=" + "a" * 101, "event_type=a%00b", "status=failed&status=pending"],
)  # fmt: skip
async def test_a_filter_that_means_nothing_is_refused(quiet: Shop, query: str) -> None:
    """With 422, naming it."""
    answer = await quiet.owner.get(f"{DELIVERIES}?{query}", status=422)
    assert answer.wrong_fields == {query.partition("=")[0]}


async def test_deliveries_of_others_read_as_missing(quiet: Shop) -> None:
    """Not listed, not read, not sent again; a test book's are as far from another's live one."""
    theirs = await Shop.open(quiet.app)
    await theirs.endpoint()
    event_id = await theirs.emit()
    delivery_id = (await theirs.delivery_of(event_id))["id"]
    assert await quiet.deliveries(f"event_id={event_id}") == []
    for unknown in (delivery_id, str(uuid4()), "1"):
        await quiet.owner.get(f"{DELIVERIES}/{unknown}", status=404)
        await quiet.resend(unknown, status=404)
    assert await quiet.audit("webhook_delivery.resent") == []
    assert (await theirs.delivery(delivery_id))["status"] == "pending"


@pytest.mark.parametrize("status", ["delivered", "failed"])
async def test_a_resend_starts_the_delivery_anew(
    quiet: Shop, sql: asyncpg.Connection, status: str
) -> None:
    """Pending, the same event, the result reset; the attempts so far stay in the log."""
    await quiet.endpoint()
    before = await quiet.delivery_of(await quiet.emit())
    await sql.execute(
        "UPDATE webhook_deliveries SET attempts = 5, response_status = 500, latency_ms = 12, "
        "error_message = 'http_500', delivered_at = now(), attempts_log = '[{\"attempt\": 1}]' "
        "WHERE id = $1",
        UUID(before["id"]),
    )
    await _end(sql, before["id"], status)
    queued = await quiet.resend(before["id"])
    assert queued == {
        **before, "attemptsLog": [{"attempt": 1}], "updatedAt": queued["updatedAt"],
        "nextAttemptAt": queued["updatedAt"],
    }  # fmt: skip
    assert queued["updatedAt"] > before["updatedAt"]
    [row] = await sql.fetch(
        "SELECT attempt, is_claimed FROM webhook_queue WHERE delivery_id = $1", UUID(before["id"])
    )
    assert tuple(row) == (1, False)


async def test_nothing_is_resent_to_a_disabled_endpoint(quiet: Shop) -> None:
    """409 until it is enabled; enabling alone resends nothing."""
    endpoint_id = (await quiet.endpoint())["id"]
    delivery_id = (await quiet.delivery_of(await quiet.emit()))["id"]
    await quiet.act(endpoint_id, "disable")
    assert (await quiet.resend(delivery_id, status=409))["error"] == "request_failed"
    await quiet.act(endpoint_id, "enable")
    assert (await quiet.resend(delivery_id))["status"] == "pending"


async def test_a_resend_goes_where_the_endpoint_is_now(quiet: Shop) -> None:
    """The record names the new address."""
    endpoint_id = (await quiet.endpoint())["id"]
    delivery_id = (await quiet.delivery_of(await quiet.emit()))["id"]
    path = f"/api/developer/webhook-endpoints/{endpoint_id}"
    await quiet.owner.patch(path, {"url": URL + "/new"}, status=200)
    assert (await quiet.resend(delivery_id))["url"] == URL + "/new"


async def test_a_repeated_key_resends_once(quiet: Shop) -> None:
    """The audit log has one entry."""
    await quiet.endpoint()
    delivery_id = (await quiet.delivery_of(await quiet.emit()))["id"]
    path = f"{DELIVERIES}/{delivery_id}/resend"
    answers: list[Any] = [
        (await quiet.owner.post(path, headers={"idempotency-key": "again"}, status=202)).data
        for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len(await quiet.audit("webhook_delivery.resent")) == 1


def test_the_record_is_that_of_the_contract() -> None:
    """Names and order."""
    names = [str(name) for name in Delivery.__struct_encode_fields__]
    assert names == [
        "id", "businessId", "developerAppId", "webhookEndpointId", "environment", "eventId",
        "eventType", "status", "url", "attempts", "responseStatus", "latencyMs", "errorMessage",
        "payloadPreview", "nextAttemptAt", "deliveredAt", "createdAt", "updatedAt",
    ]  # fmt: skip


async def test_everything_that_was_told_about_one_thing(quiet: Shop, make: Make) -> None:
    """Of an order that was recorded and changed, to each endpoint; with the other filters."""
    first = await quiet.endpoint(events=["order.created", "order.updated"])
    second = await quiet.endpoint()
    line = {"product_name": "Delivery", "line_type": "fee", "quantity": 1, "custom_price": 5}
    orders = [await quiet.business.made("/v1/orders", {"items": [line]}) for _ in range(2)]
    order_id = orders[0]["id"]
    header, paid = {"service-environment": "test"}, {"amount_paid": 2}
    await quiet.owner.patch(f"/v1/orders/{order_id}", paid, headers=header, status=200)

    async def told(query: str = "", by: Any = quiet.owner) -> list[tuple[str, str]]:
        found = (await by.get(f"{DELIVERIES}?entity_id={order_id}{query}", status=200)).data
        return [(one["eventType"], one["webhookEndpointId"]) for one in found]

    recorded = [("order.created", second["id"]), ("order.created", first["id"])]
    everything = await told()
    assert everything[0] == ("order.updated", first["id"])
    assert sorted(everything[1:]) == sorted(recorded)
    assert await told("&event_type=order.updated") == everything[:1]
    assert await told(f"&endpoint_id={second['id']}") == [recorded[0]]
    assert await told("&status=delivered") == []
    page = (await quiet.owner.get(f"{DELIVERIES}?entity_id={order_id}&limit=1", status=200)).data
    assert await told(f"&cursor={page[0]['id']}") == everything[1:]
    one_event = page[0]["eventId"]
    assert await told(f"&event_id={one_event}") == everything[:1]
    assert await told(by=(await make.business()).owner) == []
    wrong = await quiet.owner.get(f"{DELIVERIES}?entity_id=order", status=422)
    assert wrong.wrong_fields == {"entity_id"}
