"""Senders that are killed at any moment: nothing is lost, what was rolled back is never sent."""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.conftest import fresh_database
from tests.waiting import ended
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop, until
from tests.webhooks.tls import Authority
from tillhouse.app import App
from tillhouse.settings import Settings

pytestmark = pytest.mark.proof

EVENTS = 200
KILLS = 15


class Killed:
    """A sending process that is killed again and again, and started again each time."""

    def __init__(self, mother: asyncio.subprocess.Process) -> None:
        self._mother = mother
        self._pid = 0
        self.kills = 0

    async def start(self) -> None:
        """Start a process and wait until it sends."""
        assert self._mother.stdin is not None
        assert self._mother.stdout is not None
        self._mother.stdin.write(b"another\n")
        self._pid = int(await ended(self._mother.stdout.readline()))

    async def kill(self) -> None:
        """No farewell."""
        # Process 0 would be this one and all of its group.
        assert self._pid, "no process was started"
        os.kill(self._pid, signal.SIGKILL)

        async def is_gone() -> bool:
            return not psutil.pid_exists(self._pid)

        await until(is_gone)
        self.kills += 1


@pytest.fixture
async def killed(
    server_url: str, authority: Authority, master_key: str, tmp_path: Path
) -> AsyncIterator[tuple[Killed, str]]:
    """The process, and the database on which it alone sends."""
    key_file = tmp_path / "master.key"
    key_file.write_text(master_key, encoding="ascii")
    async with fresh_database(server_url, "tillhouse_crash") as url:
        mother = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.webhooks.sender_processes", url, str(key_file),
            str(authority.ca_file), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        process = Killed(mother)
        yield process, url
        with suppress(ProcessLookupError):
            await process.kill()
        assert mother.stdin is not None
        mother.stdin.close()
        await ended(mother.wait())


async def _emit_some(shop: Shop, events: int) -> tuple[list[str], list[str]]:
    """Events in transactions of their own: those that were committed, and those rolled back."""
    book = await shop.book()
    committed: list[str] = []
    rolled_back: list[str] = []
    while len(committed) < events:
        db = shop.services.pool.writer()
        event_id = await shop.emit_in(db, book)
        if random.random() < 0.2:  # noqa: S311 - any fifth
            await db.rollback()
            rolled_back.append(event_id)
        else:
            await db.commit()
            committed.append(event_id)
        await asyncio.sleep(0)
    return committed, rolled_back


async def test_no_event_is_lost_to_kills(
    killed: tuple[Killed, str],
    sending_settings: Settings,
    master_key: str,
    receiver: Receiver,
) -> None:
    """Each committed event arrives, though the sender dies fifteen times and more."""
    process, url = killed
    app = App(sending_settings, url, master_key)
    await app.start()
    shop = await Shop.open(app)
    await shop.endpoint(receiver.url)
    committed: list[str] = []
    rolled_back: list[str] = []
    chance = random.Random(7)  # noqa: S311 - moments, not secrets
    while process.kills < KILLS:
        await process.start()
        ends_at = time.monotonic() + chance.uniform(0.0, 0.15)
        some, undone = await _emit_some(shop, -(-EVENTS // KILLS))
        committed += some
        rolled_back += undone
        await asyncio.sleep(max(0.0, ends_at - time.monotonic()))
        await process.kill()
    await process.start()

    async def are_over() -> bool:
        async with shop.services.pool.reading() as db:
            return await db.fetchval("SELECT count(*) FROM webhook_queue") == 0

    await until(are_over)
    counts = Counter(got.event_id for got in receiver.received)
    assert len(committed) >= EVENTS
    assert set(counts) == set(committed)
    assert rolled_back
    assert not set(counts) & set(rolled_back)
    # At least once: a kill between the answer and its record brings a second delivery.
    assert sum(counts.values()) < 3 * len(committed)
    async with shop.services.pool.reading() as db:
        statuses = await db.fetch("SELECT DISTINCT status FROM webhook_deliveries")
    assert [row["status"] for row in statuses] == ["delivered"]
    assert (await shop.owner.get("/api/developer/webhook-endpoints", status=200)).data[0][
        "status"
    ] == "active"
    await app.stop()
