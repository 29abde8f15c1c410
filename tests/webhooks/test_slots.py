"""A worker's slots: those who hang get a share of them, and the rest stays with who answers."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.conftest import fresh_database
from tests.webhooks.holding_receiver import Holding
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop
from tests.webhooks.tls import Authority
from tillhouse.app import App
from tillhouse.settings import Settings
from tillhouse.webhooks.sender.worker import Sender

SLOTS = 8
# Attempts that hang do so for longer than a test takes.
HANGING = timedelta(hours=1)


@pytest.fixture(scope="module")
async def narrow_app(
    server_url: str, sending_settings: Settings, master_key: str
) -> AsyncIterator[App]:
    """An application whose only sender has few slots."""
    async with fresh_database(server_url, "tillhouse_narrow") as url:
        app = App(sending_settings, url, master_key)
        services = await app.start()
        sender = Sender(services, slots=SLOTS, lease=2 * HANGING, attempt_s=HANGING.total_seconds())
        sender.start()
        yield app
        await sender.stop()
        await app.stop()


@pytest.fixture
async def shop(narrow_app: App) -> Shop:
    """A business whose webhooks that sender sends."""
    return await Shop.open(narrow_app)


@pytest.fixture
async def other(authority: Authority) -> AsyncIterator[Receiver]:
    """A second receiver."""
    receiver = await Receiver().start(authority.server())
    yield receiver
    await receiver.stop()


async def _healthy(shop: Shop, receiver: Receiver, events: int) -> None:
    """Its events come, one after the other."""
    for _ in range(events):
        count = len(receiver.received)
        over = await shop.settled(await shop.emit("order.updated"))
        assert (over["status"], len(receiver.received)) == ("delivered", count + 1)


async def test_endpoints_that_hang_get_half_of_the_slots(
    shop: Shop, receiver: Receiver, other: Receiver
) -> None:
    """However many there are; who has answered before goes on as if they were not there."""
    await shop.endpoint(receiver.url, events=["order.updated"])
    await _healthy(shop, receiver, 1)
    for _ in range(6):
        await shop.endpoint(other.url)
    held = Holding(other)
    await shop.emit()
    await shop.emit()
    await held.until(SLOTS // 2)
    await _healthy(shop, receiver, 10)
    assert other.most_under_way == SLOTS // 2
    held.answer_rest(200)
    await other.until(12)


async def test_one_that_begins_to_hang_leaves_room(
    shop: Shop, receiver: Receiver, other: Receiver
) -> None:
    """However well it did before: a quarter is for those with little under way."""
    await shop.endpoint(receiver.url, events=["order.updated"])
    await shop.endpoint(other.url)
    await _healthy(shop, receiver, 1)
    for number in range(12):
        await shop.emit()
        await other.until(number + 1)
    held = Holding(other)
    book = await shop.book()
    async with shop.services.pool.transaction() as db:
        for _ in range(30):
            await shop.emit_in(db, book)
    await held.until(SLOTS - SLOTS // 4)
    await _healthy(shop, receiver, 10)
    assert other.most_under_way == SLOTS - SLOTS // 4
    held.answer_rest(200)
    await other.until(42)


async def test_probes_get_a_quarter_of_the_slots(
    shop: Shop, receiver: Receiver, other: Receiver
) -> None:
    """Endpoints that fail and hang leave some to new ones, which have proven nothing either."""
    ids = [(await shop.endpoint(other.url))["id"] for _ in range(5)]
    async with shop.services.pool.transaction() as db:
        await db.execute(
            "UPDATE webhook_endpoints SET failure_count = 3 WHERE id::text = ANY($1)", ids
        )
    held = Holding(other)
    await shop.emit()
    await held.until(SLOTS // 4)
    await shop.endpoint(receiver.url, events=["order.updated"])
    await _healthy(shop, receiver, 3)
    assert other.most_under_way == SLOTS // 4
    held.answer_rest(200)
    await other.until(5)
