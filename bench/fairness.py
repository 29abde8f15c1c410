"""One business alone, and beside another that asks for all that it may: its p99, and memory."""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import uvloop
from rich.console import Console
from rich.table import Table

from bench import world
from bench.orders import business_that_sells

TIMES_MAX, MEMORY_MB_MAX = 2.0, 400.0
PER_SECOND = 40
ORDERS, LINES, RECEIPTS = 300, 100, 200


class Reading(msgspec.Struct, frozen=True):
    """The times of one stretch, in milliseconds."""

    p50: float
    p95: float
    p99: float
    failures: int


def measure(options: argparse.Namespace) -> None:
    """Measure in turns, alone and beside, and print a table."""
    with world.database() as url, world.server("tillhouse", url, log_level="error") as port:
        token, bodies = business_that_sells(port)
        scene = _abusive(port)
        client = Client(port, token, bodies)
        uvloop.run(client.load(3.0))
        readings: dict[str, list[Reading]] = {"alone": [], "beside": []}
        answers: dict[str, int] = {}
        for _ in range(options.rounds):
            readings["alone"].append(uvloop.run(client.load(options.seconds)))
            abuser = _start(scene)
            time.sleep(1)
            readings["beside"].append(uvloop.run(client.load(options.seconds)))
            for status, count in _stop(abuser).items():
                answers[status] = answers.get(status, 0) + count
        _report(readings, answers, _memory_mb(port))


class Client:
    """Sales and lists at a steady rate, however long the answers take."""

    def __init__(self, port: int, token: str, bodies: list[Any]) -> None:
        self._base = f"http://127.0.0.1:{port}"
        self._headers = {"authorization": f"Bearer {token}"}
        self._bodies = itertools.cycle(bodies)
        self._run, self._numbers = os.urandom(6).hex(), itertools.count()

    async def load(self, seconds: float) -> Reading:
        """So many requests in each second; each one's time runs from when it was due."""
        async with aiohttp.ClientSession(self._base, headers=self._headers) as session:
            began = time.perf_counter()
            tasks = []
            for number in range(int(seconds * PER_SECOND)):
                due = began + number / PER_SECOND
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
            request = session.get("/v1/orders?limit=20")
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


def _report(readings: dict[str, list[Reading]], answers: dict[str, int], memory_mb: float) -> None:
    console = Console(width=120)
    table = Table("one business", "p50", "p95", "p99", "failures")
    medians: dict[str, Reading] = {}
    for name, found in readings.items():
        middle = sorted(found, key=lambda r: r.p99)[len(found) // 2]
        medians[name] = middle
        table.add_row(
            name, f"{middle.p50:.1f}", f"{middle.p95:.1f}", f"{middle.p99:.1f}",
            str(sum(r.failures for r in found)),
        )  # fmt: skip
    console.print(table)
    times = medians["beside"].p99 / medians["alone"].p99
    told = ", ".join(f"{status}: {count}" for status, count in sorted(answers.items()))
    console.print(
        f"{PER_SECOND} requests a second, half sales, half lists of 20; beside it a business with "
        f"searches, heavy pages, PDFs, sales of {LINES} lines and streams (its answers: {told}). "
        f"p99 {times:.1f} times (bar {TIMES_MAX:g}), memory at most {memory_mb:.0f} MB "
        f"(bar {MEMORY_MB_MAX:.0f})."
    )
