"""Webhook speed: from a commit to its receipt, and how many in a second."""

import argparse
import asyncio
import contextlib
import ssl
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import uvloop
from rich.console import Console
from rich.table import Table
from tests.webhooks.tls import Authority

from bench import drain, hostile, steady, weblog, world
from bench.backlog import Process, queue_backlog
from tillhouse.access.callers import Book
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT, App
from tillhouse.kit.clock import iso, now
from tillhouse.kit.ids import EndpointId, new_id
from tillhouse.settings import from_env
from tillhouse.webhooks.emit import Source, emit_from
from tillhouse.webhooks.events import ChangeData
from tillhouse.webhooks.store.endpoints import EndpointRow, insert_endpoint

SINK_CLIENTS = 64
STEADY_S = 20.0


class Scene(msgspec.Struct, kw_only=True):
    """The set-up of a measurement."""

    services: Services
    sink: Process
    sender: Process
    business: Any
    context: ssl.SSLContext

    @property
    def port(self) -> int:
        """Where the sink listens."""
        return int(self.sink.first_line)

    def arrivals(self) -> dict[str, int]:
        """When each event first came, in monotonic nanoseconds."""
        found: dict[str, int] = {}
        for event_id, at in self.sink.arrivals():
            found.setdefault(event_id, at)
        return found


async def _endpoint(scene: Scene, path: str, event: str) -> None:
    async with scene.services.pool.transaction() as db:
        row = await db.fetchrow(
            "SELECT book_id, developer_app_id FROM webhook_secrets WHERE book_id = $1",
            scene.business["test"],
        )
        assert row
        await insert_endpoint(
            db,
            EndpointRow(
                book_id=row["book_id"],
                id=EndpointId(new_id()),
                developer_app_id=row["developer_app_id"],
                name=path,
                url=f"https://127.0.0.1:{scene.port}/{path}",
                events=[event],
                now=now(),
            ),
        )


_EVENTS = {event.name: event for event in PRODUCT.declared.events}


async def _emit(scene: Scene, event: str) -> tuple[str, int]:
    """One event in a transaction of its own; its id and when the commit returned."""
    origin = Source(scene.business["id"], Book(scene.business["test"], "test"))
    data = ChangeData(
        business_id=scene.business["id"],
        event_type=event.upper(),
        entity_type="sale",
        entity_id=new_id(),
        store_id=None,
        metadata={"total": 1500, "currency": "NGN"},
        occurred_at=iso(now()),
    )
    async with scene.services.pool.transaction() as db:
        event_id = await emit_from(db, origin, _EVENTS[event], data, now())
    return str(event_id), time.monotonic_ns()


async def _emit_at(scene: Scene, event: str, per_second: int, seconds: float) -> dict[str, int]:
    """Events at a steady rate, whatever the answers take (open loop); their commit times."""
    tasks: list[asyncio.Task[tuple[str, int]]] = []
    began = time.monotonic()
    for number in range(int(per_second * seconds)):
        wait = began + number / per_second - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(_emit(scene, event)))
    return dict(await asyncio.gather(*tasks))


async def _received(scene: Scene, wanted: set[str], within_s: float) -> dict[str, int]:
    found: dict[str, int] = {}
    deadline = time.monotonic() + within_s
    while not wanted <= found.keys() and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
        found |= {k: v for k, v in scene.arrivals().items() if k not in found}
    return found


def _percentiles(delays_ms: list[float]) -> str:
    delays_ms.sort()
    return " / ".join(f"{delays_ms[int(len(delays_ms) * p)]:.1f}" for p in (0.5, 0.95, 0.99))


async def _steady(scene: Scene, event: str, per_second: int, seconds: float) -> tuple[str, str]:
    """Commit to receipt at a rate."""
    committed = await _emit_at(scene, event, per_second, seconds)
    got = await _received(scene, set(committed), 60)
    delays = [(got[e] - at) / 1e6 for e, at in committed.items() if e in got]
    return f"{len(delays)}/{len(committed)}", _percentiles(delays)


async def _drain(scene: Scene, event: str, count: int) -> tuple[int, float, float]:
    """A backlog that is there at once; how long until the last is received, statements each."""
    before = int(scene.sender.ask())
    connection = await scene.services.pool.dedicated()
    ids = await queue_backlog(connection, scene.business["test"], count, event)
    await connection.close()
    scene.services.pool.notifier.notify_work()
    began = time.monotonic_ns()
    got = await _received(scene, ids, 300)
    took = (max(got.values()) - began) / 1e9
    statements = (int(scene.sender.ask()) - before) / count
    return len(ids & got.keys()), took, statements


async def _ceiling(scene: Scene, seconds: float) -> float:
    """The rate of a bare aiohttp client to the same sink."""
    connector = aiohttp.TCPConnector(limit=0, ssl=scene.context)
    sent = 0
    until = time.monotonic() + seconds
    async with aiohttp.ClientSession(connector=connector) as session:

        async def loop() -> None:
            nonlocal sent
            while time.monotonic() < until:
                url = f"https://127.0.0.1:{scene.port}/bare"
                async with session.post(url, data=b"x" * 500, headers={"Service-Webhook-Id": "x"}):
                    sent += 1

        await asyncio.gather(*(loop() for _ in range(SINK_CLIENTS)))
    scene.arrivals()
    return sent / seconds


@contextlib.contextmanager
def _certificates() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tillhouse-bench-") as name:
        Authority(Path(name)).server()
        yield Path(name)


async def _measure(url: str, folder: Path, options: argparse.Namespace) -> None:
    environment = world.environment(
        url,
        webhook_allow_targets="127.0.0.1",
        webhook_ca_file=str(folder / "ca.pem"),
        webhook_rate="0",
        log_level="error",
        rate_limit="0",
    )
    settings = from_env({k: v for k, v in environment.items() if k.startswith("TILLHOUSE_")})
    assert settings.database_url
    assert settings.master_key
    app = App(settings, settings.database_url, settings.master_key)
    services = await app.start()
    sink = Process("bench.sink", str(folder / "server-1.pem"))
    sender = Process("bench.sending", environment=environment)
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    business = await world.business(services)
    scene = Scene(services=services, sink=sink, sender=sender, business=business, context=context)
    try:
        await _report(scene, options)
    finally:
        sender.stop()
        sink.stop()
        await app.stop()


async def _report(scene: Scene, options: argparse.Namespace) -> None:
    console = Console()
    table = Table("measurement", "received", "p50 / p95 / p99 ms", "per second", "bar")
    await _endpoint(scene, "healthy", "order.created")
    await _steady(scene, "order.created", 50, 1)
    ceiling = await _ceiling(scene, options.seconds)
    table.add_row("bare aiohttp client", "", "", f"{ceiling:,.0f}", "the ceiling")
    base = await _steady(scene, "order.created", 200, options.seconds)
    table.add_row("200 events/s", *base, "200", "p95 < 100 ms")
    busy = await _steady(scene, "order.created", 1000, options.seconds)
    table.add_row("1,000 events/s", *busy, "1,000", "p95 < 1 s")
    count, took, statements = await _drain(scene, "order.created", options.backlog)
    table.add_row(
        f"backlog of {options.backlog:,} ({statements:.2f} statements each)", str(count),
        f"{took:.1f} s", f"{count / took:,.0f}", "≥ 1,000/s, < 10 statements",
    )  # fmt: skip
    for number in range(99):
        await _endpoint(scene, f"hang/{number}", "order.updated")
    await _emit_at(scene, "order.updated", 20, 1)
    beside = await _steady(scene, "order.created", 200, options.seconds)
    table.add_row("200/s beside 99 that hang", *beside, "200", "p99 at most twice that alone")
    console.print(table)


def measure(options: argparse.Namespace) -> None:
    """Measure, and print a table: of the log where its rows are given, else of the sender."""
    if options.log:
        weblog.measure(options)
        return
    with world.database() as url, _certificates() as folder:
        if options.floods:
            uvloop.run(hostile.measure(url, folder, options.seconds, Console()))
            return
        if options.steady:
            steady.measure(url, folder, max(STEADY_S, options.seconds), Console())
            return
        if not options.beside:
            uvloop.run(_measure(url, folder, options))
        uvloop.run(drain.measure(url, folder, options.backlog, Console()))
