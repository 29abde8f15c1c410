"""The latency of API requests while a backlog of webhooks is sent beside them.

One `tillhouse serve` answers, and the process that it starts sends. A client sends a mix of
requests at a steady rate (open loop: each at its time, whatever the answers take), at first alone,
then while the backlog drains.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import msgspec
from rich.console import Console
from rich.table import Table
from tests.system.serving import Serving, children

from bench import world
from bench.backlog import Process, queue_backlog

PER_SECOND = 50
WARM_S, ALONE_S = 4.0, 20.0
DRAIN_S_MAX = 120.0
TIMES_MAX = 2.0
EVENT = "wallet.deposit"
_SCOPES = ["voice:read", "orders:read", "orders:write", "products:write"]


class Mix:
    """Requests in turn: three looks at the health, one list of orders, one new order."""

    def __init__(self, address: str, token: str, product: dict[str, Any]) -> None:
        self._address = address
        self._token = token
        self._product = product
        self._run, self._numbers = os.urandom(6).hex(), itertools.count()
        self.took_ms: dict[str, list[float]] = {}

    async def run(self, is_over: Callable[[], bool]) -> None:
        """Send until it is over."""
        self.took_ms = {}
        tasks: set[asyncio.Task[None]] = set()
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(self._address, connector=connector) as session:
            began = time.perf_counter()
            for number in itertools.count():
                at = began + number / PER_SECOND
                await asyncio.sleep(max(0.0, at - time.perf_counter()))
                if is_over():
                    break
                task = asyncio.create_task(self._send(session, number, at))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.gather(*tasks)

    async def _send(self, session: aiohttp.ClientSession, number: int, at: float) -> None:
        headers = {"authorization": f"Bearer {self._token}"}
        name, body = "GET /v1/voice/health", None
        if number % 5 == 3:
            name = "GET /v1/orders?limit=20"
        elif number % 5 == 4:
            name = "POST /v1/orders"
            headers["idempotency-key"] = f"{self._run}-{next(self._numbers)}"
            body = {
                "items": [{"product_id": self._product["id"], "product_name": "Dish",
                           "quantity": 1}],
                "amount_paid": 500, "payment_method": "cash",
            }  # fmt: skip
        method, _, path = name.partition(" ")
        async with session.request(method, path, json=body, headers=headers) as answer:
            await answer.read()
            assert answer.status in (200, 201), (answer.status, await answer.text())
        self.took_ms.setdefault(name, []).append((time.perf_counter() - at) * 1000)


class Drain(msgspec.Struct, frozen=True):
    """How a backlog was sent."""

    wanted: int
    received: int
    seconds: float


async def measure(url: str, folder: Path, backlog: int, console: Console) -> None:
    """Measure, and print a table."""
    sink = Process("bench.sink", str(folder / "server-1.pem"))
    settings = {
        name.removeprefix("TILLHOUSE_"): value
        for name, value in world.environment(
            url,
            webhook_allow_targets="127.0.0.1",
            webhook_ca_file=str(folder / "ca.pem"),
            log_level="error",
        ).items()
        if name.startswith("TILLHOUSE_")
    }
    serving = await Serving.up(path=None, **settings)
    connection = await asyncpg.connect(url)
    try:
        mix, endpoint = await asyncio.to_thread(_scene, serving, int(sink.first_line))
        book_id = await connection.fetchval(
            "SELECT book_id FROM webhook_endpoints WHERE id::text = $1", endpoint
        )
        # As after a night: plans are made by what the tables hold, not by their beginnings.
        await _for(mix, WARM_S)
        await connection.execute("VACUUM (ANALYZE)")
        await _for(mix, WARM_S)
        spent_s = _cpu_s(serving)
        await _for(mix, ALONE_S)
        alone, idle_s = mix.took_ms, (_cpu_s(serving) - spent_s) / ALONE_S
        ids = await queue_backlog(connection, book_id, backlog, EVENT)
        await connection.execute("NOTIFY tillhouse_work")
        spent_s = _cpu_s(serving)
        drain = await _while_draining(mix, sink, ids)
        cpu_s = _cpu_s(serving) - spent_s - idle_s * drain.seconds
        _report(console, alone, mix.took_ms, drain)
        console.print(
            f"the server's processor time: {idle_s:.0%} of a core for the requests alone, "
            f"{cpu_s / drain.wanted * 1e6:.0f} µs for each delivery"
        )
    finally:
        await connection.close()
        await serving.stop()
        serving.kill()
        sink.stop()


def _cpu_s(serving: Serving) -> float:
    """The processor time that the server and its sender have taken."""
    return sum(map(_taken_s, [serving.pid, *children(serving.pid, "tillhouse")]))


def _taken_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _for(mix: Mix, seconds: float) -> None:
    until = time.monotonic() + seconds
    await mix.run(lambda: time.monotonic() > until)


async def _while_draining(mix: Mix, sink: Process, ids: set[str]) -> Drain:
    began = time.monotonic_ns()
    last = began
    left = set(ids)
    deadline = time.monotonic() + 4 * DRAIN_S_MAX
    requests = asyncio.create_task(mix.run(lambda: not left or time.monotonic() > deadline))
    while left and time.monotonic() < deadline:
        await asyncio.sleep(1)
        for event_id, at in await asyncio.to_thread(sink.arrivals):
            if event_id in left:
                left.remove(event_id)
                last = max(last, at)
    await requests
    return Drain(len(ids), len(ids) - len(left), (last - began) / 1e9)


def _scene(serving: Serving, sink_port: int) -> tuple[Mix, str]:
    """A business that sells, and has an endpoint; its key sends the mix."""
    port = serving.port
    email = f"{os.urandom(8).hex()}@example.com"
    new = {"name": "Ada", "email": email, "password": world.PASSWORD, "business_name": "Ada's"}
    owner = world.call(port, "POST", "/api/auth/register", new)["accessToken"]
    world.call(port, "POST", "/api/auth/verify-password", {"password": world.PASSWORD}, owner)
    key = {"name": "bench", "environment": "test", "scopes": _SCOPES}
    token = world.call(port, "POST", "/api/developer/api-keys", key, owner)["secret"]
    hook = {
        "name": "Hook", "url": f"https://127.0.0.1:{sink_port}/healthy", "environment": "test",
        "events": [EVENT],
    }  # fmt: skip
    endpoint = world.call(port, "POST", "/api/developer/webhook-endpoints", hook, owner)
    dish = {"name": "Dish", "base_price": 500}
    product = world.call(port, "POST", "/v1/products", dish, token)
    return Mix(serving.address, token, product), endpoint["id"]


def _report(
    console: Console,
    alone: dict[str, list[float]],
    beside: dict[str, list[float]],
    drain: Drain,
) -> None:
    table = Table(
        f"{PER_SECOND} requests/s", "p50 / p95 / p99 ms alone", "while draining", "p99 times", "bar"
    )
    everything = [("all", _all(alone), _all(beside))]
    for name, before, after in [
        *((name, alone[name], beside[name]) for name in alone), *everything,
    ]:  # fmt: skip
        times = _percentile(after, 0.99) / _percentile(before, 0.99)
        table.add_row(
            f"{name} ({len(before)}, {len(after)})", _percentiles(before), _percentiles(after),
            f"{times:.1f}", f"≤ {TIMES_MAX:.0f}" if times <= TIMES_MAX else "ABOVE 2",
        )  # fmt: skip
    console.print(table)
    load = os.getloadavg()[0]
    verdict = "kept" if drain.seconds <= DRAIN_S_MAX else "MISSED"
    console.print(
        f"{drain.received:,} of {drain.wanted:,} received in {drain.seconds:.1f} s: "
        f"{drain.received / drain.seconds:,.0f}/s (bar: {DRAIN_S_MAX:.0f} s, {verdict}); "
        f"load {load:.1f}"
    )


def _all(found: dict[str, list[float]]) -> list[float]:
    return [value for values in found.values() for value in values]


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def _percentiles(values: list[float]) -> str:
    return " / ".join(f"{_percentile(values, share):.1f}" for share in (0.5, 0.95, 0.99))
