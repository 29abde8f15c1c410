"""`tillhouse serve` with one process and with two, in turns: orders of one book, of several, reads.

Orders of one book share statements, and each statement holds the book's balances until it commits:
a second process can only wait for the first. Two processes can read side by side, and record orders
of different books.
"""

import argparse
import contextlib
import itertools
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from bench import client, world

BOOKS = 4
CLIENTS = 16
WARM_S = 5
_ADDRESS = re.compile(r"http://127\.0\.0\.1:([0-9]+)")

Request = Callable[[], bytes]


class Books(msgspec.Struct):
    """Keys and bodies of several businesses: their orders in turns."""

    tokens: list[str]
    bodies: list[list[dict[str, Any]]]

    def posts(self, count: int) -> Request:
        """Orders of the first so many books, one after the other."""
        cycles = [itertools.cycle(map(msgspec.json.encode, one)) for one in self.bodies[:count]]
        turns = itertools.cycle(zip(self.tokens[:count], cycles, strict=True))

        def make() -> bytes:
            token, bodies = next(turns)
            return client.post("/v1/orders", [f"authorization: Bearer {token}"], next(bodies))

        return make

    def reads(self, port: int) -> Request:
        """One order after the other of the first book."""
        bearer = [f"authorization: Bearer {self.tokens[0]}"]
        shown = world.call(port, "GET", "/v1/orders?limit=100", None, self.tokens[0])
        paths = itertools.cycle([f"/v1/orders/{order['id']}" for order in shown])
        return lambda: client.get(next(paths), bearer)


def measure(
    options: argparse.Namespace, open_book: Callable[[int], tuple[str, list[dict[str, Any]]]]
) -> None:
    """Measure, and print a table."""
    runs: dict[tuple[str, int], list[client.Result]] = {}
    with world.database() as url:
        with _serving(url, 1) as port:
            opened = [open_book(port) for _ in range(BOOKS)]
        books = Books([token for token, _ in opened], [bodies for _, bodies in opened])
        for _ in range(options.rounds):
            for workers in (1, 2):
                with _serving(url, workers) as port:
                    for name, result in _round(port, books, options.seconds):
                        runs.setdefault((name, workers), []).append(result)
    _report(runs)


def _round(port: int, books: Books, seconds: float) -> Iterator[tuple[str, client.Result]]:
    wanted = b"HTTP/1.1 201"
    client.run(port, books.posts(BOOKS), clients=CLIENTS, seconds=WARM_S, wanted=wanted)
    for name, count in (("orders of one book", 1), (f"orders of {BOOKS} books", BOOKS)):
        make = books.posts(count)
        yield name, client.run(port, make, clients=CLIENTS, seconds=seconds, wanted=wanted)
    yield "one order read", client.run(port, books.reads(port), clients=CLIENTS, seconds=seconds)


@contextlib.contextmanager
def _serving(url: str, workers: int) -> Iterator[int]:
    """The command itself, as people start it; nothing is sent."""
    command = [sys.executable, "-m", "tillhouse", "serve", "--no-work", "--port", "0", "--json"]
    process = subprocess.Popen(
        [*command, "--workers", str(workers)], text=True, stdout=subprocess.PIPE,
        env=world.environment(url, rate_limit="0", log_level="error"),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = next(found for one in process.stdout if (found := _ADDRESS.search(one)))
        yield int(said[1])
    finally:
        process.terminate()
        process.wait()


def _report(runs: dict[tuple[str, int], list[client.Result]]) -> None:
    table = Table("subject", "processes", "req/s", "of one", "p50", "p99", "failures")
    for (name, workers), results in runs.items():
        rate, base = (_median(one, "per_second") for one in (results, runs[name, 1]))
        table.add_row(
            name, str(workers), f"{rate:,.0f}", f"{rate / base:.2f}",
            f"{_median(results, 'p50_ms'):.1f}", f"{_median(results, 'p99_ms'):.1f}",
            str(sum(r.failures for r in results)),
        )  # fmt: skip
    Console(width=120).print(table)


def _median(results: list[client.Result], name: str) -> float:
    return statistics.median(getattr(result, name) for result in results)
