"""Healthy deliveries and `/livez` beside eight receivers that flood, in one `tillhouse serve`.

The floods come without a pause: every half second each of their endpoints has an event due.
"""

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import msgspec
from rich.console import Console
from rich.table import Table
from tests.system.serving import Serving

from bench import world
from bench.backlog import Process, queue_backlog

FLOODS = (
    "endless_continue", "early_hints", "empty_lines", "endless_chunk_size", "long_extensions",
    "tiny_chunks", "endless_trailers", "many_headers",
)  # fmt: skip
HEALTHY, FLOODED = "wallet.deposit", "wallet.withdrawal.failed"
PER_SECOND = 50
FLOOD_EVERY_S = 0.5
WARM_S = 3.0
RECEIVED_WITHIN_S = 60.0
TIMES_MAX, LIVE_MS_MAX = 2.0, 50.0


class Found(msgspec.Struct):
    """Milliseconds: from commit to receipt, and of each look at `/livez`."""

    deliveries: list[float]
    looks: list[float]


class Scene(msgspec.Struct):
    """The set-up of a measurement."""

    serving: Serving
    connection: asyncpg.Connection
    sink: Process
    book_id: Any

    async def queue(self, event: str) -> set[str]:
        """One event for each endpoint that wants it, committed and announced."""
        ids = await queue_backlog(self.connection, self.book_id, 1, event)
        await self.connection.execute("NOTIFY tillhouse_work")
        return ids

    async def run(self, seconds: float, *, floods: bool) -> Found:
        """Healthy deliveries and looks at a steady rate, beside floods or alone."""
        looks: list[float] = []
        committed: dict[str, int] = {}
        beside = [asyncio.create_task(self._look(looks))]
        began, flooded_s = time.monotonic(), 0.0
        for number in range(int(seconds * PER_SECOND)):
            await asyncio.sleep(max(0.0, began + number / PER_SECOND - time.monotonic()))
            if floods and time.monotonic() - flooded_s > FLOOD_EVERY_S:
                flooded_s = time.monotonic()
                await self._flood()
            [event_id] = await self.queue(HEALTHY)
            committed[event_id] = time.monotonic_ns()
        found = await self._received(committed)
        for task in beside:
            task.cancel()
        return Found([(found[one] - at) / 1e6 for one, at in committed.items()], looks)

    async def _flood(self) -> None:
        """Each flood is sent to now, whatever came of it before."""
        await self.connection.execute(
            "UPDATE webhook_endpoints SET status = 'active', failure_count = 0, probe_until = NULL"
            " WHERE book_id = $1 AND $2 = ANY(events)",
            self.book_id,
            FLOODED,
        )
        await self.queue(FLOODED)

    async def _received(self, wanted: dict[str, int]) -> dict[str, int]:
        found: dict[str, int] = {}
        deadline = time.monotonic() + RECEIVED_WITHIN_S
        while not wanted.keys() <= found.keys():
            assert time.monotonic() < deadline, f"{len(wanted.keys() - found.keys())} not received"
            await asyncio.sleep(0.2)
            found |= dict(await asyncio.to_thread(self.sink.arrivals))
        return found

    async def _look(self, looks: list[float]) -> None:
        async with aiohttp.ClientSession(self.serving.address) as session:
            while True:
                began = time.perf_counter()
                async with session.get("/livez") as answer:
                    await answer.read()
                looks.append((time.perf_counter() - began) * 1000)
                await asyncio.sleep(max(0.0, 1 / PER_SECOND - looks[-1] / 1000))


async def measure(url: str, folder: Path, seconds: float, console: Console) -> None:
    """Measure, and print a table."""
    pem = str(folder / "server-1.pem")
    sink, floods = Process("bench.sink", pem), Process("tests.webhooks.hostile_receivers", pem)
    settings = world.environment(
        url,
        webhook_allow_targets="127.0.0.1",
        webhook_ca_file=str(folder / "ca.pem"),
        log_level="error",
    )
    serving = await Serving.up(
        path=None,
        **{k.removeprefix("TILLHOUSE_"): v for k, v in settings.items() if k.startswith("TILL")},
    )
    connection = await asyncpg.connect(url)
    try:
        urls = json.loads(floods.first_line)
        book_id = await asyncio.to_thread(_open, serving.port, int(sink.first_line), urls)
        scene = Scene(serving, connection, sink, await connection.fetchval(book_id))
        await scene.run(WARM_S, floods=True)
        alone = await scene.run(seconds, floods=False)
        beside = await scene.run(seconds, floods=True)
        _report(console, alone, beside)
    finally:
        await connection.close()
        await serving.stop()
        serving.kill()
        sink.stop()
        floods.stop()


def _open(port: int, sink_port: int, urls: dict[str, str]) -> str:
    """A business with a healthy endpoint and eight that flood; the query of its book."""
    email = f"{os.urandom(8).hex()}@example.com"
    new = {"name": "Ada", "email": email, "password": world.PASSWORD, "business_name": "Ada's"}
    owner = world.call(port, "POST", "/api/auth/register", new)["accessToken"]
    world.call(port, "POST", "/api/auth/verify-password", {"password": world.PASSWORD}, owner)
    path = "/api/developer/apps"
    app = world.call(port, "POST", path, {"name": "Floods", "environment": "test"}, owner)
    hooks = [(f"https://127.0.0.1:{sink_port}/healthy", HEALTHY, {})]
    hooks += [(urls[name], FLOODED, {"developer_app_id": app["id"]}) for name in FLOODS]
    for address, event, of_app in hooks:
        hook = {"name": "Hook", "url": address, "environment": "test", "events": [event], **of_app}
        world.call(port, "POST", "/api/developer/webhook-endpoints", hook, owner)
    return "SELECT book_id FROM webhook_endpoints LIMIT 1"


def _report(console: Console, alone: Found, beside: Found) -> None:
    table = Table("p50 / p95 / p99 ms", "alone", f"beside {len(FLOODS)} floods", "bar")
    times = _percentile(beside.deliveries, 0.99) / _percentile(alone.deliveries, 0.99)
    live_ms = max(beside.looks)
    table.add_row(
        f"healthy deliveries, {PER_SECOND}/s", _percentiles(alone.deliveries),
        _percentiles(beside.deliveries),
        f"p99 {times:.1f} times, ≤ {TIMES_MAX:.0f}: {'kept' if times <= TIMES_MAX else 'MISSED'}",
    )  # fmt: skip
    table.add_row(
        "/livez", _percentiles(alone.looks), _percentiles(beside.looks),
        f"longest {live_ms:.0f} ms (alone {max(alone.looks):.0f}), ≤ {LIVE_MS_MAX:.0f}: "
        f"{'kept' if live_ms <= LIVE_MS_MAX else 'MISSED'}",
    )  # fmt: skip
    console.print(table)


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def _percentiles(values: list[float]) -> str:
    return " / ".join(f"{_percentile(values, share):.1f}" for share in (0.5, 0.95, 0.99))
