"""Faults around a process: each is told to the caller, and no stop waits for one."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.api import Response
from tests.cli.command import COMMAND, environment
from tests.make import Business
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.raw_socket import statuses
from tests.system.serving import Serving, kept_port, report, until
from tests.system.test_serve import children
from tests.waiting import HUNG_S, ended
from tests.webhooks.shop import until as looking
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded

GET = b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"
FEE = {"product_name": "Delivery", "quantity": 1, "line_type": "fee", "custom_price": 500}
CALLERS = 16
WEBHOOKS = "/api/developer/webhook-endpoints"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Embedded]:
    """A PostgreSQL of this test's own, which can be stopped."""
    server = await asyncio.to_thread(Embedded.start, tmp_path / "data")
    yield server
    await asyncio.to_thread(server.release)


def settings_of(server: Embedded) -> dict[str, str]:
    """As an operator names a database of another machine."""
    return {"DATABASE_URL": server.url, "MASTER_KEY": new_master_key()}


@asynccontextmanager
async def silent(server: Embedded) -> AsyncIterator[None]:
    """The processes of the server stand still, and its connections with them."""
    pids = [server.pid, *children(server.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


async def timed(answer: Awaitable[Response]) -> tuple[int, float]:
    """The status, and how long it took."""
    began = time.monotonic()
    return (await answer).status, time.monotonic() - began


async def test_a_silent_database_is_told(
    database: Embedded, start: Start, session: aiohttp.ClientSession
) -> None:
    """Every kind of request hears 503; the process lives, and ends when it is told to."""
    serving = await start(**settings_of(database))
    business = await register(Client(session, serving.address))
    client = await business.client("orders:write", "orders:read")
    assert (await client.get("/v1/orders")).status == 200
    async with silent(database):
        told = await asyncio.gather(*map(timed, asked(business, client)))
        report(", ".join(f"{status} after {took_s:.1f} s" for status, took_s in told))
        assert {status for status, _ in told} == {503}
        assert (await business.anybody.get("/livez")).status == 200
    await until_answered(client)
    assert (await client.post("/v1/orders", {"items": [FEE]})).status == 201
    async with silent(database):
        waiting = asyncio.ensure_future(
            asyncio.gather(*asked(business, client), return_exceptions=True)
        )
        await asyncio.wait([waiting], timeout=0.1)
        await stopped(serving)
        await waiting
    # The statements under way would have ended later by themselves.
    assert "graceful shutdown exceeded" in serving.log
    assert_every_line_is_json(serving.log)


def asked(business: Business, client: Any) -> list[Awaitable[Response]]:
    """Requests of every kind, more than there are connections."""
    every: list[Awaitable[Response]] = []
    for number in range(10):
        key = {"idempotency-key": f"silent-{number}"}
        every += [
            client.get("/v1/orders"),
            client.post("/v1/orders", {"items": [FEE]}, headers=key),
            business.owner.get("/api/auth/me"),
            business.anybody.post(
                "/api/auth/login", {"email": business.email, "password": "x" * 12}
            ),
            business.anybody.get("/readyz"),
        ]
    return every


async def until_answered(client: Any) -> None:
    """Wait until the database is noticed to be back."""

    async def is_answered() -> bool:
        return (await client.get("/v1/orders")).status == 200

    await looking(is_answered)


async def stopped(serving: Serving) -> None:
    """End it as a manager of services does."""
    began = time.monotonic()
    serving.signal(signal.SIGTERM)
    await serving.ended()
    report(f"ended after {time.monotonic() - began:.1f} s")


def assert_every_line_is_json(log: str) -> None:
    """Standard error holds the log and nothing else."""
    for line in log.splitlines():
        assert json.loads(line).keys() >= {"time", "level", "event"}, line


async def test_a_process_that_stands_still_holds_up_no_stop(
    start: Start, database_url: str, master_key: str
) -> None:
    """One of two answers nothing, not even its signal."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    serving = await start("--no-work", "--workers", "2", **settings)
    still = children(serving.pid)[0]
    os.kill(still, signal.SIGSTOP)
    await stopped(serving)
    assert not Path(f"/proc/{still}").exists()


def begun(out: Path, err: Path, settings: dict[str, str], *args: str) -> subprocess.Popen[bytes]:
    """Start the command with its output in these files."""
    with out.open("wb") as taken, err.open("wb") as log:
        return subprocess.Popen(
            [*COMMAND, *args],
            env=environment(**settings),
            stdin=subprocess.DEVNULL,
            stdout=taken,
            stderr=log,
        )


async def test_a_full_log_disk_fails_no_request(database_url: str, master_key: str) -> None:
    """Neither standard error nor standard output takes a byte."""
    given = {"DATABASE_URL": database_url, "MASTER_KEY": master_key, "LOG_LEVEL": "debug"}
    with kept_port() as port:
        full = Path("/dev/full")
        process = begun(full, full, given, "serve", "--json", "--no-work", "--port", str(port))
        try:
            closing = GET.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")

            async def is_answered() -> bool:
                assert process.poll() is None
                with suppress(ConnectionRefusedError):
                    return await statuses(port, closing) == [200]
                return False

            await looking(is_answered)
            for _ in range(20):
                assert await statuses(port, closing) == [200]
            process.terminate()
            assert await asyncio.to_thread(process.wait, HUNG_S) == 0
        finally:
            process.kill()


class Caller:
    """One who sends request after request on a connection, and opens another when told so."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.seen: Counter[str] = Counter()

    async def run(self) -> None:
        """Ask until nobody listens any more."""
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except (ConnectionRefusedError, ConnectionResetError):
                # The kernel resets a caller that it let in while the last listener closed.
                return
            try:
                await self._ask(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                self.seen[type(error).__name__] += 1
            finally:
                writer.close()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b""
        while b"connection: close" not in head:
            writer.write(GET)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(3)
            self.seen[head[:12].decode()] += 1


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_stop_under_load_resets_nobody(
    workers: int, start: Start, database_url: str, master_key: str
) -> None:
    """Every request that was sent is answered; the last answer of a connection says so."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key, "LOG_LEVEL": "warning"}
    serving = await start("--no-work", "--workers", str(workers), **settings)
    callers = [Caller(serving.port) for _ in range(CALLERS)]
    asking = asyncio.gather(*(caller.run() for caller in callers))
    await until(lambda: sum(callers[0].seen.values()) > 100, "there is load")
    serving.signal(signal.SIGTERM)
    await ended(asking)
    seen = sum((caller.seen for caller in callers), Counter[str]())
    report(f"{workers} processes: {dict(seen)}")
    assert seen.keys() == {"HTTP/1.1 200"}
    assert await serving.ended() == 0


async def test_a_sender_waits_for_its_database(
    tmp_path: Path, database: Embedded, start: Start
) -> None:
    """Started while the database is away, it begins when that is back."""
    settings = settings_of(database)
    prepared = await start("--no-work", **settings)
    assert await prepared.stop() == 0
    await asyncio.to_thread(database.release)
    log = tmp_path / "work.log"
    process = begun(Path("/dev/null"), log, settings, "work")
    try:
        await until(lambda: "database_away" in log.read_text(), "it says so")
        back = await asyncio.to_thread(Embedded.start, tmp_path / "data")
        await until(lambda: '"working"' in log.read_text(), "it works")
        process.terminate()
        await assert_left_in_order(process, log)
        await asyncio.to_thread(back.release)
    finally:
        process.kill()
    assert_every_line_is_json(log.read_text())


async def assert_left_in_order(process: subprocess.Popen[bytes], log: Path) -> None:
    """It ends by itself; a machine that is busy enough makes it end by force, which it says."""
    code = await asyncio.to_thread(process.wait, HUNG_S)
    assert code == ("stop_forced" in log.read_text())


STARTS = 10


async def test_a_worker_is_told_to_leave_at_its_busiest(
    tmp_path: Path, database_url: str, master_key: str
) -> None:
    """SIGTERM in the middle of the first rounds breaks no step of the event loop.

    A handler that raised there crashed three in ten.
    """
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    for number in range(STARTS):
        log = tmp_path / f"work{number}.log"
        process = begun(Path("/dev/null"), log, settings, "work")
        try:
            await until(lambda log=log: '"working"' in log.read_text(), "it works")
            process.terminate()
            await assert_left_in_order(process, log)
        finally:
            process.kill()


ODD = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64,
    "another protocol": b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\n"
    b"upgrade: websocket\r\n\r\n",
    "a method of its own": b"BREW /livez HTTP/1.1\r\nhost: x\r\n\r\n",
    "half a body": b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
}


async def test_the_log_is_json_whatever_comes(
    start: Start, database_url: str, master_key: str
) -> None:
    """One object a line, from the start to the end."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key, "LOG_LEVEL": "debug"}
    serving = await start("--no-work", **settings)
    for sent in ODD.values():
        await statuses(serving.port, sent, within_s=0.5)
    assert await serving.stop() == 0
    assert_every_line_is_json(serving.log)
