"""A shop loses its folder while it sells, and goes on from a backup."""

import asyncio
import hashlib
import hmac
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.api import Api
from tests.cli.command import Command
from tests.db.tables import rows_by_table
from tests.make import PASSWORD, Business
from tests.orders.shop import ORDERS, fee
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.serving import report, until
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.tls import Authority
from tillhouse.db.embedded import Embedded

WORDS = "five words drawn at random"
SELLERS = 4
SALES = 40
KILLS = 8


class Seller:
    """Records one sale after the other, and knows which were acknowledged."""

    def __init__(self, client: Client | Api) -> None:
        self._client = client
        self.sold: list[str] = []

    async def sell(self) -> str:
        """One sale; its id."""
        body = {"items": [fee()], "amount_paid": 500}
        answer = await self._client.post(ORDERS, body, status=201)
        self.sold.append(answer.data["id"])
        return self.sold[-1]

    async def go_on(self, over: asyncio.Event) -> None:
        """Sell until told to stop."""
        while not over.is_set():
            await self.sell()


@asynccontextmanager
async def selling(seller: Seller) -> AsyncIterator[None]:
    """Sales go on while the block runs."""
    over = asyncio.Event()
    tasks = [asyncio.create_task(seller.go_on(over)) for _ in range(SELLERS)]
    yield
    over.set()
    await asyncio.gather(*tasks)


async def rows(data: Path) -> dict[str, list[str]]:
    """Every row in a data folder that nobody else uses."""
    server = await asyncio.to_thread(Embedded.start, data)
    connection = await asyncpg.connect(server.url)
    try:
        return await rows_by_table(connection)
    finally:
        await connection.close()
        await asyncio.to_thread(server.release)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-backup-") as made:
        yield Path(made)


@pytest.fixture
async def receiver(folder: Path) -> AsyncIterator[Receiver]:
    """A receiver of webhooks."""
    made = await Receiver().start(Authority(folder).server())
    yield made
    await made.stop()


def is_signed(got: Received, secret: str) -> bool:
    """Whether a delivery is signed with this secret."""
    stamp, _, signature = got.headers["Service-Signature"].partition(",v1=")
    text = stamp.removeprefix("t=").encode() + b"." + got.body
    return hmac.compare_digest(hmac.digest(secret.encode(), text, hashlib.sha256).hex(), signature)


async def test_a_busy_shop_goes_on_from_its_backup(
    start: Start, folder: Path, receiver: Receiver, session: aiohttp.ClientSession
) -> None:
    """The backup of a busy book is whole; that of a quiet one is equal row for row."""
    settings = {
        "LOG_LEVEL": "warning",
        "WEBHOOK_ALLOW_TARGETS": "127.0.0.1",
        "WEBHOOK_CA_FILE": str(folder / "ca.pem"),
    }
    data, busy, quiet = folder / "data", folder / "busy.backup", folder / "quiet.backup"
    command = Command(data, BACKUP_PASSPHRASE=WORDS)
    serving = await start(DATA=str(data), **settings)
    business = await register(Client(session, serving.address))
    made = await business.endpoint(url=receiver.url, events=["order.created"])
    key = await business.key("orders:read", "orders:write")
    secret = await view_secret(business)
    seller = Seller(Client(session, serving.address).as_bearer(key["secret"]))
    async with selling(seller):
        await until(lambda: len(seller.sold) >= SALES, "some sales")
        acknowledged = list(seller.sold)
        told = await asyncio.to_thread(command.json, "backup", str(busy))
        sold_meanwhile = len(seller.sold) - len(acknowledged)
    report(f"{told['rows']:,} rows in {told['seconds']} s, {sold_meanwhile} sales meanwhile")
    assert sold_meanwhile > 0
    assert await serving.stop() == 0

    copy = Command(folder / "copy", BACKUP_PASSPHRASE=WORDS)
    assert (await asyncio.to_thread(copy.json, "restore", str(busy)))["broken"] == []
    found = {row.split(",")[1] for row in (await rows(copy.data))["orders"]}
    assert found >= set(acknowledged)

    wanted = await rows(data)
    await asyncio.to_thread(command.run, "backup", str(quiet))
    shutil.rmtree(data)
    assert (await asyncio.to_thread(command.json, "restore", str(quiet)))["broken"] == []
    assert await rows(data) == wanted

    serving = await start(DATA=str(data), **settings)
    seller = Seller(Client(session, serving.address).as_bearer(key["secret"]))
    order_id = await seller.sell()
    await until(lambda: any(order_id.encode() in g.body for g in receiver.received), "its event")
    got = next(each for each in receiver.received if order_id.encode() in each.body)
    assert is_signed(got, secret)
    assert made["status"] == "active"


async def view_secret(business: Business) -> str:
    """The secret that signs deliveries of the test book."""
    path = "/api/developer/webhook-settings/test/view-secret"
    await business.owner.post("/api/auth/verify-password", {"password": PASSWORD}, status=200)
    return (await business.owner.post(path, {}, status=200)).data["secret"]


async def test_a_backup_that_is_killed_is_none(
    start: Start, folder: Path, session: aiohttp.ClientSession
) -> None:
    """Killed at random moments beside sales: what is kept is whole, and the last one never goes."""
    data, kept = folder / "data", folder / "kept"
    settings = {"BACKUP_FOLDER": str(kept), "BACKUP_PASSPHRASE": WORDS, "BACKUP_KEEP": "2"}
    command = Command(data, **settings)
    serving = await start(DATA=str(data), LOG_LEVEL="warning")
    business = await register(Client(session, serving.address))
    key = await business.key("orders:read", "orders:write")
    seller = Seller(Client(session, serving.address).as_bearer(key["secret"]))
    chance = random.Random(1)  # noqa: S311 - moments, not secrets
    async with selling(seller):
        began = time.monotonic()
        await asyncio.to_thread(command.run, "backup")
        took_s = time.monotonic() - began
        for _ in range(KILLS):
            await asyncio.to_thread(killed_after, command, chance.uniform(0.3, 1.1) * took_s)
            assert list(kept.glob("*.backup"))
        acknowledged = list(seller.sold)
        last = Path((await asyncio.to_thread(command.json, "backup"))["file"])
    assert await serving.stop() == 0
    assert not list(kept.glob(".*.part"))
    found = list(kept.glob("*.backup"))
    assert len(found) == 2
    for each in found:
        await asyncio.to_thread(command.run, "restore", str(each), "--check")
    copy = Command(folder / "copy", BACKUP_PASSPHRASE=WORDS)
    assert (await asyncio.to_thread(copy.json, "restore", str(last)))["broken"] == []
    assert {row.split(",")[1] for row in (await rows(copy.data))["orders"]} >= set(acknowledged)


def killed_after(command: Command, seconds: float) -> None:
    """Begin a backup, and kill it unless it has ended by then."""
    with command.start("backup") as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()


async def test_a_server_backs_up_by_schedule(start: Start, folder: Path) -> None:
    """A server with a schedule makes the backup that is due, and stops at once while at it."""
    kept = folder / "kept"
    serving = await start(
        DATA=str(folder / "data"),
        BACKUP_FOLDER=str(kept),
        BACKUP_EVERY_HOURS="24",
        BACKUP_PASSPHRASE=WORDS,
    )
    await until(lambda: len(list(kept.glob("*.backup"))) == 1, "a backup")
    [made] = kept.glob("*.backup")
    checker = Command(folder / "none", BACKUP_PASSPHRASE=WORDS)
    told: dict[str, Any] = await asyncio.to_thread(checker.json, "restore", str(made), "--check")
    assert told["openedBy"] == "passphrase"
    assert await serving.stop() == 0
