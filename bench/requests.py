"""Requests per second of the health route, against servers that do nothing else."""

import argparse
import statistics

from rich.console import Console
from rich.table import Table

from bench import client, world

CLIENTS = 32
SCOPE_CHECK_US_MAX = 150.0


def measure(options: argparse.Namespace) -> None:
    """Take turns: each round measures every subject, so that the machine's mood hits all alike."""
    with (
        world.database() as url,
        world.server("asgi") as asgi,
        world.server("starlette") as starlette,
        world.server("tillhouse", url, rate_limit="1000000", log_level="info") as tillhouse,
    ):
        bearer = [f"authorization: Bearer {world.api_key(tillhouse)}"]
        subjects = {
            "bare ASGI": (asgi, client.get("/v1/voice/health")),
            "bare Starlette": (starlette, client.get("/v1/voice/health")),
            "echo route, no key": (tillhouse, client.get("/api/auth/bench-echo")),
            "echo route, key": (tillhouse, client.get("/v1/voice/bench-echo", bearer)),
            "GET /v1/voice/health": (tillhouse, client.get("/v1/voice/health", bearer)),
        }
        runs: dict[str, list[client.Result]] = {name: [] for name in subjects}
        for _ in range(options.rounds):
            for name, (port, request) in subjects.items():
                result = client.run(port, request, clients=CLIENTS, seconds=options.seconds)
                runs[name].append(result)
    _report(runs)


def _report(runs: dict[str, list[client.Result]]) -> None:
    console = Console()
    table = Table("subject", "req/s", "of ASGI", "of Starlette", "p50 ms", "p99 ms", "failures")
    rate = {name: _median([r.per_second for r in results]) for name, results in runs.items()}
    for name, results in runs.items():
        table.add_row(
            name,
            f"{rate[name]:,.0f}",
            f"{rate[name] / rate['bare ASGI']:.0%}",
            f"{rate[name] / rate['bare Starlette']:.0%}",
            f"{_median([r.p50_ms for r in results]):.2f}",
            f"{_median([r.p99_ms for r in results]):.2f}",
            str(sum(r.failures for r in results)),
        )
    console.print(table)
    cost_us = 1e6 / rate["echo route, key"] - 1e6 / rate["echo route, no key"]
    verdict = "kept" if cost_us <= SCOPE_CHECK_US_MAX else "MISSED"
    console.print(
        f"key check + scope + rate limit + usage count: {cost_us:.0f} µs of a request "
        f"(bar: {SCOPE_CHECK_US_MAX:.0f} µs, {verdict}); {CLIENTS} clients, medians of rounds"
    )


def _median(values: list[float]) -> float:
    return statistics.median(values)
