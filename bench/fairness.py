"""One business alone, and beside another that asks for all that it may: its p99, and memory.

The possible is measured in the same minutes: the abuser goes on at Tillhouse, and two other
processes are asked at the same rate. One answers constant bytes, the other sends the statements of
an order and of a list and nothing else. They share the processors and, the second, the database
with the abuser, but no event loop.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
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

from bench import world
from bench.orders import TEMPLATES, business_that_sells

_QUANTILES = ("p50", "p95", "p99")
TIMES_MAX, MEMORY_MB_MAX = 2.0, 400.0
# The abuser's last requests, and what the database does after them, are over then.
SETTLED_AFTER_S = 8.0
PER_SECOND, FEW_PER_SECOND = 40, 4
ORDERS, LINES, RECEIPTS = 300, 100, 200
LIST = "/v1/orders?limit=20"


class Reading(msgspec.Struct, frozen=True):
    """The times of one stretch, in milliseconds."""

    p50: float
    p95: float
    p99: float
    failures: int


class Pair(msgspec.Struct, frozen=True):
    """Two stretches, one after the other."""

    alone: Reading
    beside: Reading

    @property
    def times(self) -> float:
        """How many times longer the slowest hundredth takes."""
        return self.beside.p99 / self.alone.p99


def measure(options: argparse.Namespace) -> None:
    """Measure in turns, alone and beside, and print a table."""
    with world.database() as url, world.server("tillhouse", url, log_level="error") as port:
        token, bodies = business_that_sells(port)
        scene = _abusive(port)
        with _ceilings(url, token, bodies) as others:
            clients = {
                name: Client(at, token, bodies) for name, at in (("Tillhouse", port), *others)
            }
            readings: dict[str, list[Pair]] = {name: [] for name in clients}
            answers: dict[str, int] = {}
            for client in clients.values():
                uvloop.run(client.load(3.0))
            for _ in range(options.rounds):
                for name, client in clients.items():
                    time.sleep(SETTLED_AFTER_S)
                    alone = uvloop.run(client.load(options.seconds))
                    abuser = _start(scene)
                    time.sleep(1)
                    load = _beside(client, clients["Tillhouse"], options.seconds)
                    readings[name].append(Pair(alone, uvloop.run(load)))
                    for status, count in _stop(abuser).items():
                        answers[status] = answers.get(status, 0) + count
            _report(readings, answers, _memory_mb(port))


@contextlib.contextmanager
def _ceilings(
    url: str, token: str, bodies: list[dict[str, Any]]
) -> Iterator[list[tuple[str, int]]]:
    """The ports of the processes that nobody abuses."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-bench-") as folder:
        path = Path(folder) / "scene.json"
        path.write_text(json.dumps({"token": token, "bodies": bodies[:TEMPLATES]}), "utf-8")
        os.environ["BENCH_SCENE"] = str(path)
        with (
            world.server("asgi") as constant,
            world.server("ceiling", url, rate_limit="0", log_level="error") as statements,
        ):
            # The statements of a list are recorded while nothing else is asked.
            world.call(statements, "GET", LIST, None, token)
            yield [("constant bytes", constant), ("same statements", statements)]


async def _beside(client: "Client", at_tillhouse: "Client", seconds: float) -> Reading:
    """One load; beside that of another process, some requests keep the abuser to its part."""
    if client is at_tillhouse:
        return await client.load(seconds)
    few = at_tillhouse.load(seconds, per_second=FEW_PER_SECOND)
    reading, _ = await asyncio.gather(client.load(seconds), few)
    return reading


class Client:
    """Sales and lists at a steady rate, however long the answers take."""

    def __init__(self, port: int, token: str, bodies: list[Any]) -> None:
        self._base = f"http://127.0.0.1:{port}"
        self._headers = {"authorization": f"Bearer {token}"}
        self._bodies = itertools.cycle(bodies)
        self._run, self._numbers = os.urandom(6).hex(), itertools.count()

    async def load(self, seconds: float, per_second: int = PER_SECOND) -> Reading:
        """So many requests in each second; each one's time runs from when it was due."""
        async with aiohttp.ClientSession(self._base, headers=self._headers) as session:
            began = time.perf_counter()
            tasks = []
            for number in range(int(seconds * per_second)):
                due = began + number / per_second
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                tasks.append(asyncio.create_task(self._ask(session, number, due)))
            times = await asyncio.gather(*tasks)
        taken = sorted(ms for ms in times if ms is not None)
        last = len(taken) - 1
        return Reading(
            taken[last // 2], taken[int(last * 0.95)], taken[int(last * 0.99)],
            len(times) - len(taken),
        )  # fmt: skip

    async def _ask(self, session: aiohttp.ClientSession, number: int, due: float) -> float | None:
        if number % 2:
            request = session.get(LIST)
        else:
            key = {"idempotency-key": f"{self._run}-{next(self._numbers)}"}
            request = session.post("/v1/orders", json=next(self._bodies), headers=key)
        async with request as answer:
            await answer.read()
            return (time.perf_counter() - due) * 1000 if answer.ok else None


def _abusive(port: int) -> dict[str, Any]:
    """Another business with heavy orders and receipts."""
    token, bodies = business_that_sells(port)
    lines = [dict(bodies[n % len(bodies)]["items"][0], quantity=1) for n in range(LINES)]
    order = {"items": lines, "notes": "a" * 1000}
    receipts = []
    for number in range(ORDERS):
        made = world.call(port, "POST", "/v1/orders", order, token)
        if number < RECEIPTS:
            path = f"/v1/orders/{made['id']}/receipt"
            address = world.call(port, "POST", path, None, token)["url"]
            path = "/receipts/" + address.partition("/receipts/")[2]
            receipts.append(path.replace("?", ".pdf?", 1))
    return {"port": port, "token": token, "order": order, "receipts": receipts}


def _start(scene: dict[str, Any]) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.abuser"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdin
    assert child.stdout
    child.stdin.write(json.dumps(scene) + "\n")
    child.stdin.flush()
    child.stdout.readline()
    return child


def _stop(child: subprocess.Popen[str]) -> dict[str, int]:
    answers, _ = child.communicate("\n", timeout=30)
    return json.loads(answers)


def _memory_mb(port: int) -> float:
    """The resident memory of the process that listens on the port."""
    number = f"{port:04X}"
    lines = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    inode = next(p[9] for p in map(str.split, lines) if p[1].endswith(number) and p[3] == "0A")
    for process in Path("/proc").glob("[0-9]*"):
        try:
            links = {str(one.readlink()) for one in (process / "fd").iterdir()}
        except OSError:
            continue
        if f"socket:[{inode}]" in links and process.name != str(os.getpid()):
            status = (process / "status").read_text("ascii")
            return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    raise LookupError(port)


def _report(readings: dict[str, list[Pair]], answers: dict[str, int], memory_mb: float) -> None:
    console = Console(width=120)
    table = Table("one business at", "", "p50", "p95", "p99", "failures")
    times: dict[str, float] = {}
    for name, pairs in readings.items():
        times[name] = statistics.median(pair.times for pair in pairs)
        for which in ("alone", "beside"):
            found = [getattr(pair, which) for pair in pairs]
            middle = [statistics.median(getattr(one, q) for one in found) for q in _QUANTILES]
            failures = str(sum(one.failures for one in found))
            table.add_row(name, which, *(f"{ms:.1f}" for ms in middle), failures)
    console.print(table)
    told = ", ".join(f"{status}: {count}" for status, count in sorted(answers.items()))
    console.print(
        f"{PER_SECOND} requests a second, half sales, half lists of 20; beside it a business with "
        f"searches, heavy pages, PDFs, sales of {LINES} lines and streams (its answers: {told}). "
        f"p99 {times['Tillhouse']:.1f} times (bar {TIMES_MAX:g}; medians of rounds). What this "
        f"machine allows beside it: {times['constant bytes']:.1f} times to constant bytes of "
        f"another process, {times['same statements']:.1f} times to one that sends the same "
        f"statements. Memory at most {memory_mb:.0f} MB (bar {MEMORY_MB_MAX:.0f})."
    )
