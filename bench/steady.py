"""Orders at a steady rate with one subscribed endpoint: whether the sender keeps up with them.

One `tillhouse serve` as people start it answers and sends; the receiver answers at once. At first
nobody listens: the endpoint is subscribed to nothing that happens, so that orders are alone.
"""

import asyncio
import time
from pathlib import Path

import asyncpg
import msgspec
from rich.console import Console
from rich.table import Table
from tests.system.serving import Serving

from bench import client, world
from bench.backlog import Process
from bench.orders import business_that_sells, posts

PER_SECOND = 250
CLIENTS = 16
WARM_S = 6.0
# So much may be under way when the load ends: a second's orders.
WAITING_S_MAX = 1.0
RECEIVED_WITHIN_S = 60.0
_EVENTS = "UPDATE webhook_endpoints SET events = $1"


class Sent(msgspec.Struct, frozen=True):
    """How the events of a load were sent."""

    orders: int
    # Received while the load lasted, and in all; how long after its end the last came.
    during: int
    received: int
    late_s: float


def measure(url: str, folder: Path, seconds: float, console: Console) -> None:
    """Measure, and print a table."""
    sink = Process("bench.sink", str(folder / "server-1.pem"))
    settings = world.environment(
        url,
        webhook_allow_targets="127.0.0.1",
        webhook_ca_file=str(folder / "ca.pem"),
        log_level="error",
        rate_limit="0",
    )
    given = {k.removeprefix("TILLHOUSE_"): v for k, v in settings.items() if k.startswith("TILL")}
    serving = asyncio.run(Serving.up(path=None, **given))
    try:
        hook = f"https://127.0.0.1:{sink.first_line}/healthy"
        token, bodies = business_that_sells(serving.port, hook)
        make = posts(token, bodies)

        def load(length: float) -> client.Result:
            return client.run(
                serving.port, make, clients=CLIENTS, seconds=length,
                wanted=b"HTTP/1.1 201", per_second=PER_SECOND,
            )  # fmt: skip

        load(WARM_S)
        asyncio.run(_execute(url, _EVENTS, ["wallet.deposit"]))
        load(1.0)
        _received(sink, 0)
        alone = load(seconds)
        asyncio.run(_execute(url, _EVENTS, ["order.created"]))
        beside = load(seconds)
        ended_ns = time.monotonic_ns()
        _report(console, alone, beside, _sent(sink, round(beside.per_second * seconds), ended_ns))
    finally:
        asyncio.run(serving.stop())
        serving.kill()
        sink.stop()


def _sent(sink: Process, orders: int, ended_ns: int) -> Sent:
    came = _received(sink, orders)
    during = sum(at <= ended_ns for at in came)
    return Sent(orders, during, len(came), max(0.0, (max(came, default=0) - ended_ns) / 1e9))


def _received(sink: Process, count: int) -> list[int]:
    """When each event came, until so many have come and no more do."""
    found: dict[str, int] = {}
    deadline = time.monotonic() + RECEIVED_WITHIN_S
    while time.monotonic() < deadline:
        fresh = sink.arrivals()
        found |= {event_id: at for event_id, at in fresh if event_id not in found}
        if not fresh and len(found) >= count:
            break
        time.sleep(1)
    return list(found.values())


async def _execute(url: str, sql: str, *args: object) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql, *args)
    await connection.execute("VACUUM (ANALYZE)")
    await connection.close()


def _report(console: Console, alone: client.Result, beside: client.Result, sent: Sent) -> None:
    table = Table(
        f"{PER_SECOND} orders/s", "orders/s", "p50 / p95 / p99 ms", "failures", "events/s sent",
    )  # fmt: skip
    rate = beside.per_second * sent.during / max(1, sent.orders)
    for name, found, shown in [("alone", alone, ""), ("one endpoint", beside, f"{rate:,.0f}")]:
        times = f"{found.p50_ms:.1f} / {found.p95_ms:.1f} / {found.p99_ms:.1f}"
        table.add_row(name, f"{found.per_second:,.0f}", times, str(found.failures), shown)
    console.print(table)
    waiting = max(sent.orders, sent.received) - sent.during
    verdict = "kept" if waiting <= PER_SECOND * WAITING_S_MAX else "MISSED"
    console.print(
        f"{sent.received:,} of {sent.orders:,} events received, {waiting:,} after the load had "
        f"ended, the last {sent.late_s:.1f} s later (bar: {WAITING_S_MAX:.0f} s of orders, "
        f"{verdict})"
    )
