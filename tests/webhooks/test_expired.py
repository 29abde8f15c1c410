"""Events are kept for some weeks; a delivery of one that is gone ends, however it was queued."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop
from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.webhooks.store.deliveries import turn_partitions

LONG_AGO = datetime(2021, 6, 9, tzinfo=UTC)
KEEP_ALL = 36_500
KEEP_SOME = 1000


def _id_of(moment: datetime) -> UUID:
    """An id as it was made then."""
    return UUID(int=int(moment.timestamp() * 1000) << 80 | new_id().int & ((1 << 80) - 1))


async def _of_an_old_event(shop: Shop, db: Db, endpoint_id: str) -> tuple[UUID, UUID]:
    """A failed delivery whose event is of a week long ago; the event's id and its own."""
    await turn_partitions(db, LONG_AGO, KEEP_ALL)
    book = await shop.book()
    event_id, delivery_id = _id_of(LONG_AGO), new_id()
    await db.execute(
        "INSERT INTO webhook_events (book_id, id, type, payload) VALUES ($1, $2, $3, '{}')",
        book.id,
        event_id,
        "order.created",
    )
    await db.execute(
        """
        INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id,
            event_id, event_type, status, url, attempts, error_message, updated_at)
        SELECT book_id, $2, developer_app_id, id, $3, 'order.created', 'failed', url, 5,
            'http_500', now()
        FROM webhook_endpoints WHERE book_id = $1 AND id::text = $4
        """,
        book.id,
        delivery_id,
        event_id,
        endpoint_id,
    )
    return event_id, delivery_id


async def _drop_old_weeks(db: Db) -> None:
    assert await turn_partitions(db, now(), KEEP_SOME) > 0


async def test_a_resend_of_what_is_gone_is_refused(quiet: Shop) -> None:
    """400 with a sentence; nothing is queued, nothing audited, and the record stays."""
    endpoint_id = (await quiet.endpoint())["id"]
    async with quiet.services.pool.transaction() as db:
        event_id, delivery_id = await _of_an_old_event(quiet, db, endpoint_id)
    assert (await quiet.resend(str(delivery_id)))["status"] == "pending"
    async with quiet.services.pool.transaction() as db:
        await _drop_old_weeks(db)
        await db.execute("DELETE FROM webhook_queue WHERE event_id = $1", event_id)
    before = await quiet.delivery(str(delivery_id))
    refused = await quiet.resend(str(delivery_id), status=400)
    assert refused["error"] == "request_failed"
    assert "no longer kept" in refused["message"]
    assert await quiet.delivery(str(delivery_id)) == before
    assert len(await quiet.audit("webhook_delivery.resent")) == 1
    await quiet.act(endpoint_id, "disable")
    assert await quiet.resend(str(delivery_id), status=400) != refused


@pytest.mark.parametrize("failures", [0, 5])
async def test_what_is_queued_ends_when_its_event_is_gone(
    sender: Shop, receiver: Receiver, failures: int
) -> None:
    """At its turn, without an attempt; the endpoint's other deliveries go on, probes too."""
    endpoint_id = (await sender.endpoint(receiver.url))["id"]
    async with sender.services.pool.transaction() as db:
        event_id, delivery_id = await _of_an_old_event(sender, db, endpoint_id)
        await db.execute(
            "UPDATE webhook_endpoints SET failure_count = $2 WHERE id::text = $1",
            endpoint_id,
            failures,
        )
        # As a resend leaves it whose event is dropped a moment later.
        await db.execute(
            """
            INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at)
            SELECT book_id, id, webhook_endpoint_id, event_id, $2 FROM webhook_deliveries
            WHERE id = $1
            """,
            delivery_id,
            now() - timedelta(minutes=1),
        )
        await db.execute(
            "UPDATE webhook_deliveries SET status = 'pending', attempts = 0 WHERE id = $1",
            delivery_id,
        )
        await _drop_old_weeks(db)
    next_id = await sender.emit()
    over = await sender.settled(str(event_id))
    assert (over["status"], over["errorMessage"]) == ("failed", "event_expired")
    assert (over["attempts"], over["attemptsLog"]) == (0, [])
    assert (await sender.settled(next_id))["status"] == "delivered"
    assert [got.event_id for got in receiver.received] == [next_id]
    async with sender.services.pool.reading() as db:
        sql = "SELECT count(*) FROM webhook_queue WHERE delivery_id = $1"
        assert await db.fetchval(sql, delivery_id) == 0
