"""`tillhouse serve` from start to stop."""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import msgspec
import pytest

from tests.cli.command import Command
from tests.conftest import fresh_database
from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.serving import Serving, children, memory_bytes, report, until
from tests.waiting import HUNG_S
from tests.webhooks.shop import until as looking
from tillhouse.cli.demo import Demo
from tillhouse.cli.serve import curl_lines
from tillhouse.db.embedded import Embedded

REQUESTS = 2000
IDLE_BYTES_MAX = 150 * 1024 * 1024
STARTS = 2
SERVES = "tillhouse.cli.worker"


@pytest.fixture(scope="module")
async def data(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Path]:
    """A data folder whose server stays up, so that it can be looked into."""
    folder = tmp_path_factory.mktemp("serve") / "data"
    server = await asyncio.to_thread(Embedded.start, folder)
    yield folder
    await asyncio.to_thread(server.release)


async def test_from_nothing_to_three_curl_lines(tmp_path: Path, start: Start) -> None:
    """On an empty machine it comes up, says how to try it, and what it says works."""
    data = str(tmp_path / "data")
    first = await start("--demo", DATA=data)
    demo = first.ready["demo"]
    for line in curl_lines(first.address, msgspec.convert(demo, Demo)):
        command = ["/bin/bash", "-c", line]
        done = subprocess.run(command, capture_output=True, check=True, timeout=HUNG_S)
        assert b'"data":' in done.stdout, (line, done)
    assert await first.stop() == 0
    # The last one to leave stops the database.
    assert not (tmp_path / "data" / "postgres" / "postmaster.pid").exists()
    best_s, openings = float("inf"), {demo.pop("deskUrl")}
    for number in range(STARTS):
        again = await start("--demo", DATA=data)
        told = again.ready["demo"]
        # Each start prints another address that opens it once.
        openings.add(opening := told.pop("deskUrl"))
        assert opening.startswith(f"{again.address}/desk/open/")
        assert len(openings) == number + 2
        assert told == demo | {"baseUrl": again.address}
        assert await again.stop() == 0
        best_s = min(best_s, again.ready_after_s)
    report(f"first answer after {best_s:.2f} s")


async def test_memory_at_idle(server_url: str, master_key: str, start: Start) -> None:
    """The server and the process that sends hold no more together; shared pages count once."""
    # Calls of other tests would start the process that makes them.
    async with fresh_database(server_url, "tillhouse_idle") as url:
        serving = await start(DATABASE_URL=url, MASTER_KEY=master_key)
        await until(lambda: "sender_started" in serving.log, "a process that sends")
        pids = [serving.pid, *children(serving.pid)]
        assert len(pids) == 2
        idle_bytes = memory_bytes(pids)
        report(f"idle {idle_bytes >> 20} MiB, of them the server {memory_bytes(pids[:1]) >> 20}")
        assert idle_bytes <= IDLE_BYTES_MAX


async def test_a_request_in_flight_is_finished(
    data: Path, start: Start, session: aiohttp.ClientSession
) -> None:
    """SIGTERM waits for the request that has begun; a second Ctrl-C waits for nothing."""
    servers = await asyncio.gather(*(start(DATA=str(data)) for _ in range(2)))
    codes: list[int] = []
    for serving, is_patient in zip(servers, (True, False), strict=True):
        reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
        writer.write(
            b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            b"content-length: 45\r\n\r\n"
        )
        await writer.drain()
        # Its head was read when this later request is answered.
        await Client(session, serving.address).get("/livez", status=200)
        serving.signal(signal.SIGTERM if is_patient else signal.SIGINT)
        await until(lambda port=serving.port: not accepts(port), "it takes no more connections")
        if is_patient:
            writer.write(b'{"email": "a@example.com", "password": "xyz"}')
            assert (await reader.readline()).startswith(b"HTTP/1.1 401")
        else:
            serving.signal(signal.SIGINT)
        codes.append(await serving.ended())
        writer.close()
        assert "Traceback" not in serving.log, serving.log
    assert codes == [0, 130]


def accepts(port: int) -> bool:
    """Whether somebody listens there."""
    listening = Path("/proc/net/tcp").read_text()
    return re.search(rf":{port:04X} 00000000:0000 0A ", listening) is not None


async def test_every_request_is_counted(
    data: Path, start: Start, session: aiohttp.ClientSession
) -> None:
    """Usage adds up over two workers and a clean restart; so do the metrics of both."""
    serving = await start("--demo", "--workers", "2", DATA=str(data), LOG_LEVEL="warning")
    demo = serving.ready["demo"]
    await use(session, serving, demo, REQUESTS // 2)
    assert await serving.stop() == 0
    again = await start("--workers", "2", DATA=str(data), LOG_LEVEL="warning")
    await use(session, again, demo, REQUESTS // 2)
    anybody = Client(session, again.address)

    async def are_counted() -> bool:
        metrics = (await anybody.get("/metrics", status=200)).body.decode()
        found = re.findall(r'requests_total\{[^}]*voice/health"[^}]*\} ([0-9.]+)', metrics)
        return sum(map(float, found)) == REQUESTS // 2

    # Each is counted just after it was answered, and the other worker may be asked sooner.
    await looking(are_counted)
    assert await again.stop() == 0
    assert await counted(data, demo["businessId"]) == REQUESTS


async def use(
    session: aiohttp.ClientSession, serving: Serving, demo: dict[str, Any], requests: int
) -> None:
    """Send so many requests with the test key, 20 at a time."""
    user = Client(session, serving.address).as_bearer(demo["testKey"])

    async def send() -> None:
        for _ in range(requests // 20):
            await user.get("/v1/voice/health", status=200)

    await asyncio.gather(*(send() for _ in range(20)))


async def counted(data: Path, business_id: str) -> int:
    """The requests in a business's usage records."""
    server = await asyncio.to_thread(Embedded.start, data)
    connection = await asyncpg.connect(server.url)
    try:
        return await connection.fetchval(
            """SELECT sum(request_count) FROM usage_records u JOIN books b ON b.id = u.book_id
            WHERE b.business_id = $1""",
            business_id,
        )
    finally:
        await connection.close()
        await asyncio.to_thread(server.release)


async def test_port_in_use(data: Path, pair: tuple[Serving, Serving]) -> None:
    """A port in use is told with what to do, before the database is touched."""
    said = await asyncio.to_thread(
        Command(data / "elsewhere").refusal, "serve", "--port", str(pair[0].port)
    )
    assert f"Port {pair[0].port} is in use" in said
    assert "--port" in said
    assert not (data / "elsewhere").exists()


async def test_killed_workers_and_parents(
    data: Path, start: Start, session: aiohttp.ClientSession
) -> None:
    """A killed worker is replaced; workers whose parent was killed go as well."""
    serving = await start("--workers", "2", DATA=str(data))
    total = memory_bytes([serving.pid, *children(serving.pid)])
    workers = children(serving.pid, SERVES)
    report(f"{len(workers)} workers, a sender, a caller and their parent hold {total >> 20} MiB")
    dead = workers.pop()
    os.kill(dead, signal.SIGKILL)
    await until(lambda: len(set(children(serving.pid, SERVES)) - {dead}) == 2, "a new worker")
    await Client(session, serving.address).get("/readyz", status=200)
    assert "worker_died" in serving.log
    workers = children(serving.pid)
    serving.process.kill()
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "no orphans")


async def test_a_stuck_worker_is_replaced(
    data: Path, start: Start, session: aiohttp.ClientSession
) -> None:
    """One that lives and does nothing is ended, and another one serves in its stead."""
    serving = await start("--workers", "2", "--no-work", DATA=str(data))
    stuck, other = children(serving.pid, SERVES)
    os.kill(stuck, signal.SIGSTOP)
    await until(lambda: "worker_died" in serving.log, "the end of the stuck one")
    assert f'"pid":{stuck}' in serving.log.replace(" ", "")
    await until(lambda: len(children(serving.pid, SERVES)) == 2, "a new worker")
    assert stuck not in children(serving.pid, SERVES)
    assert other in children(serving.pid, SERVES)
    # The new one is all that is left to answer.
    os.kill(other, signal.SIGSTOP)
    await Client(session, serving.address).get("/readyz", status=200)
    os.kill(other, signal.SIGCONT)
    assert await serving.stop() == 0
