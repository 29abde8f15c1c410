"""Payment links: making one against the same statements sent bare, the page, and open pages."""

import argparse
import asyncio
import json
import os
import resource
import socket
import statistics
import time
from pathlib import Path
from uuid import UUID

from rich.console import Console

from bench import client, world

CLIENTS = 8
PAGES = 1000
CREATE_MIN, PAGE_P95_MS_MAX, PAGES_MIB_MAX = 0.6, 15.0, 60.0
_LINKS = "/v1/payment-links/wallet/dynamic"
_BODY = b'{"title": "Deposit for the hall", "amount": 250}'


def measure(options: argparse.Namespace) -> None:
    """Take turns, so that the machine's mood hits both alike."""
    with world.database() as url:
        os.environ["BENCH_BOOK"] = str(asyncio.run(_book(url)))
        limits = {"rate_limit": "0", "log_level": "error"}
        with (
            world.server_process("tillhouse", url, **limits) as (port, process),
            world.server("bare links", url) as bare,
        ):
            key = world.api_key(port, ["payment_links:write"])
            link = client.post(_LINKS, [f"authorization: Bearer {key}"], _BODY)
            _rate(options, {"link": (port, link), "bare": (bare, client.post("/", (), b"{}"))})
            made = world.call(port, "POST", _LINKS, {"title": "Hall", "amount": 9}, key)
            path = f"/pay/{made['reference']}"
            world.fetch(port, path)
            page = client.run(port, client.get(path), clients=CLIENTS, seconds=options.seconds)
            assert not page.failures, f"{page.failures} pages failed"
            _say(f"page at {CLIENTS} clients, p95 in ms", page.p95_ms, PAGE_P95_MS_MAX)
            _open_pages(port, process, path)


async def _book(url: str) -> UUID:
    async with world.services(url) as services:
        return (await world.business(services))["test"]


def _rate(options: argparse.Namespace, requests: dict[str, tuple[int, bytes]]) -> None:
    runs: dict[str, list[float]] = {name: [] for name in requests}
    for _ in range(options.rounds):
        for name, (port, request) in requests.items():
            done = client.run(
                port, request, clients=CLIENTS, seconds=options.seconds, wanted=b"HTTP/1.1 201"
            )
            assert not done.failures, f"{name}: {done.failures} failures"
            runs[name].append(done.per_second)
    rates = {name: statistics.median(found) for name, found in runs.items()}
    Console().print({name: f"{rate:,.0f}/s" for name, rate in rates.items()})
    what = "create link, of a bare handler with the same statements"
    _say(what, rates["link"] / rates["bare"], CREATE_MIN, is_least=True)


def _open_pages(port: int, process: int, path: str) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * PAGES)), hard))
    version = json.loads(world.fetch(port, path + "/status"))["version"]
    time.sleep(2)
    before, _ = process_use(process)
    request = client.get(f"{path}/events?v={version}", ["accept: text/event-stream"])
    pages = [socket.create_connection(("127.0.0.1", port)) for _ in range(PAGES)]
    for page in pages:
        page.sendall(request)
        answer = page.recv(4096)
        assert b" 200 " in answer, answer
    time.sleep(2)
    began, (after, cpu) = time.monotonic(), process_use(process)
    time.sleep(10)
    idle = (process_use(process)[1] - cpu) / (time.monotonic() - began)
    _say(f"{PAGES} open pages, MiB", after - before, PAGES_MIB_MAX)
    Console().print(f"their idle share of a core: {idle:.1%}")
    for page in pages:
        page.close()


def process_use(process: int) -> tuple[float, float]:
    """The memory of a process in MiB, and the seconds of processor that it has had."""
    status = Path(f"/proc/{process}/status").read_text()
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    memory = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    ticks = int(fields[11]) + int(fields[12])
    return int(memory.split()[1]) / 1024, ticks / os.sysconf("SC_CLK_TCK")


def _say(what: str, found: float, bar: float, *, is_least: bool = False) -> None:
    is_kept = found >= bar if is_least else found <= bar
    Console().print(f"{what}: {found:.2f} (bar: {bar}, {'kept' if is_kept else 'MISSED'})")
