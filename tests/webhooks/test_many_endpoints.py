"""Thousands of endpoints with something queued: each has its turn."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop

# More than any single look takes in.
MANY = 6000


@pytest.fixture
async def crowded(sender: Shop, sending_sql: asyncpg.Connection) -> AsyncIterator[Shop]:
    """A shop whose endpoints come after thousands that others are sending to."""
    book = await sender.book()
    await sending_sql.execute(
        """
        INSERT INTO webhook_queue (book_id, delivery_id, endpoint_id, event_id, due_at, is_claimed)
        SELECT $1, gen_random_uuid(), lpad(to_hex(n), 32, '0')::uuid, gen_random_uuid(),
            now() + interval '1 hour', true
        FROM generate_series(1, $2) n
        """,
        book.id,
        MANY,
    )
    yield sender
    await sending_sql.execute(
        "DELETE FROM webhook_queue WHERE is_claimed AND book_id = $1", book.id
    )


async def test_the_last_of_thousands_of_endpoints_is_sent_to(
    crowded: Shop, receiver: Receiver
) -> None:
    """Again and again: whoever looks for what is due goes on where it stopped."""
    await crowded.endpoint(receiver.url)
    for number in range(3):
        assert (await crowded.settled(await crowded.emit()))["status"] == "delivered"
        assert len(receiver.received) == number + 1


async def test_the_queue_of_the_last_of_thousands_ends_with_it(
    crowded: Shop, sending_sql: asyncpg.Connection
) -> None:
    """Disabled, it keeps nothing queued."""
    made = await crowded.endpoint()
    book = await crowded.book()
    async with crowded.services.pool.transaction() as db:
        event_id = await crowded.emit_in(db, book)
        await db.execute(
            "UPDATE webhook_queue SET due_at = now() + interval '1 hour' WHERE event_id::text = $1",
            event_id,
        )
    await crowded.act(made["id"], "disable")
    over = await crowded.settled(event_id)
    assert (over["status"], over["errorMessage"]) == ("failed", "endpoint_disabled")
