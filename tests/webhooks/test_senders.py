"""Several senders on one queue: woken at once, none in another's way, none missed when it dies."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import asyncpg
import pytest

from tests.conftest import fresh_database
from tests.webhooks.holding_receiver import Holding
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop, until
from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.app import PRODUCT, App
from tillhouse.kit.clock import now
from tillhouse.settings import Settings
from tillhouse.webhooks.sender.worker import Sender

NEVER_S = 3600.0
EVENTS = 15


@pytest.fixture
async def lone_url(server_url: str) -> AsyncIterator[str]:
    """A database on which nothing sends but what a test starts."""
    async with fresh_database(server_url, "tillhouse_lone") as url:
        yield url


@pytest.fixture
async def silent_app(
    lone_url: str, sending_settings: Settings, master_key: str
) -> AsyncIterator[App]:
    """A process that only answers."""
    app = App(sending_settings, lone_url, master_key)
    await app.start()
    yield app
    await app.stop()


@contextlib.asynccontextmanager
async def _never_polling(services: Services) -> AsyncIterator[None]:
    """A sender that looks again only when it is woken, as long as a test runs."""
    sender = Sender(services, poll_s=NEVER_S)
    sender.start()
    try:
        yield
    finally:
        await sender.stop()


async def _receives_each(shop: Shop, receiver: Receiver) -> None:
    """One event after another, each once the sender is at rest."""
    await shop.endpoint(receiver.url)
    for number in range(EVENTS):
        event_id = await shop.emit()
        await receiver.until(number + 1)
        await shop.settled(event_id)


async def test_a_commit_wakes_the_sender_of_its_process(
    silent_app: App, receiver: Receiver
) -> None:
    """Each event is sent because its commit told of it."""
    async with _never_polling(silent_app.services):
        await _receives_each(await Shop.open(silent_app), receiver)


async def test_a_commit_wakes_the_senders_of_other_processes(
    silent_app: App,
    lone_url: str,
    sending_settings: Settings,
    master_key: str,
    receiver: Receiver,
) -> None:
    """The event is emitted by an application that does not send."""
    services = await connect_services(
        sending_settings, lambda: PRODUCT.declared, lone_url, master_key
    )
    pool = services.pool
    pool.notifier.start(pool.dedicated, pool.notify, listens=True)
    async with _never_polling(services):
        await _receives_each(await Shop.open(silent_app), receiver)
    await pool.notifier.stop()
    await close_services(services)


@pytest.mark.proof
async def test_two_senders_send_each_of_a_thousand_deliveries_once(
    sender: Shop,
    receiver: Receiver,
    fresh_database_url: str,
    sending_settings: Settings,
    master_key: str,
) -> None:
    """To four endpoints, while both claim from the same endpoints."""
    for number in range(4):
        await sender.endpoint(f"{receiver.url}/{number}")
    other = App(sending_settings, fresh_database_url, master_key, runs_workers=True)
    await other.start()
    book = await sender.book()
    event_ids: list[str] = []
    for _ in range(10):
        async with sender.services.pool.transaction() as db:
            event_ids += [await sender.emit_in(db, book) for _ in range(25)]
    await receiver.until(1000)

    async def are_over() -> bool:
        return not await sender.deliveries("status=pending")

    await until(are_over)
    await other.stop()
    assert await sender.deliveries("status=failed") == []
    counts = Counter((got.path, got.event_id) for got in receiver.received)
    assert set(counts.values()) == {1}
    assert set(counts) == {
        (f"/hook/{number}", event_id) for number in range(4) for event_id in event_ids
    }


async def test_what_a_dead_sender_held_is_sent_when_its_lease_is_over(
    sender: Shop, receiver: Receiver, sending_sql: asyncpg.Connection
) -> None:
    """Not before; the attempt counts as the first."""
    await sender.endpoint(receiver.url)
    book = await sender.book()
    async with sender.services.pool.transaction() as db:
        event_id = await sender.emit_in(db, book)
        # As a sender leaves it that was killed just after its claim.
        await db.execute(
            "UPDATE webhook_queue SET is_claimed = true, generation = 1, due_at = $2 "
            "WHERE event_id = $1",
            UUID(event_id),
            now() + timedelta(seconds=30),
        )
    await sender.settled(await sender.emit())
    assert len(receiver.received) == 1
    await sending_sql.execute(
        "UPDATE webhook_queue SET due_at = now() WHERE event_id = $1", UUID(event_id)
    )
    over = await sender.settled(event_id)
    assert (over["status"], over["attempts"]) == ("delivered", 1)
    assert len(receiver.received) == 2


async def test_a_sender_that_stops_records_what_was_under_way(
    lone_url: str, sending_settings: Settings, master_key: str, receiver: Receiver
) -> None:
    """It claims no more, waits for its attempts, and leaves nothing leased behind."""
    app = App(sending_settings, lone_url, master_key, runs_workers=True)
    await app.start()
    shop = await Shop.open(app)
    await shop.endpoint(receiver.url)
    held = Holding(receiver, 2)
    first = await shop.emit()
    await held.until(1)
    second = await shop.emit()
    await held.until(2)
    stopping = asyncio.create_task(app.stop())
    await asyncio.sleep(0)
    # It is told to stop before this is there, and waits for the other two.
    third = await shop.emit()
    assert not stopping.done()
    held.answer(0, 200)
    held.answer(1, 500)
    await stopping
    after = App(sending_settings, lone_url, master_key)
    await after.start()
    found: dict[str, tuple[str, int]] = {}
    async with after.services.pool.reading() as db:
        for row in await db.fetch("SELECT event_id, status, attempts FROM webhook_deliveries"):
            found[str(row["event_id"])] = (row["status"], row["attempts"])
        assert await db.fetchval("SELECT count(*) FROM webhook_queue WHERE is_claimed") == 0
        assert await db.fetchval("SELECT count(*) FROM webhook_queue") == 2
    await after.stop()
    assert found == {first: ("delivered", 1), second: ("failed", 1), third: ("pending", 0)}
