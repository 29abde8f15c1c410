"""Orders per second against a ceiling, and lists of a large book against those of a small one."""

import argparse
import contextlib
import itertools
import json
import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import uvloop
from rich.console import Console
from rich.table import Table

from bench import client, lists, workers, world
from bench.recording import Recorder

BOOKS = str(Path(tempfile.gettempdir()) / "tillhouse-bench")
PARTS = ("place", "names", "show", "page", "workers", "list")
CLIENTS = (1, 8, 16)
# Of what is compared at one number of clients.
FEW_CLIENTS = 8
REGULARS = 50
# In its first seconds a new database has its tables analysed again and again, as they double.
WARM_S = 6
SHOW_CLIENTS = 16
PRODUCTS = 150
BODIES = 200
TEMPLATES = 24
LINES = 3
_SCOPES = [
    "orders:read", "orders:write", "products:read", "products:write", "inventory:write",
    "events:read",
]  # fmt: skip


class Scene(msgspec.Struct, kw_only=True):
    """A business that sells, and both servers."""

    url: str
    token: str
    bodies: list[dict[str, Any]]
    tillhouse: int
    ceiling: int


def measure(options: argparse.Namespace) -> None:
    """Measure, and print tables."""
    only = options.only
    # The summary's tallies are folded by no process here: the list comes before they pile up.
    parts = {"page": _page, "place": _place, "names": _names, "show": _show}
    if only not in ("list", "workers"):
        with _scene() as scene:
            for name, part in parts.items():
                if only in (None, name):
                    part(scene, options)
    if only in (None, "workers"):
        workers.measure(options, business_that_sells)
    if only in (None, "list"):
        lists.measure(options)


@contextlib.contextmanager
def _scene() -> Iterator[Scene]:
    """No process sends webhooks: deliveries are queued and stay."""
    settings = {"rate_limit": "0", "log_level": "error"}
    with (
        world.database() as url,
        world.server("tillhouse", url, **settings) as port,
        tempfile.TemporaryDirectory(prefix="tillhouse-bench-") as folder,
    ):
        token, bodies = business_that_sells(port)
        path = Path(folder) / "scene.json"
        path.write_text(json.dumps({"token": token, "bodies": bodies[:TEMPLATES]}), "utf-8")
        os.environ["BENCH_SCENE"] = str(path)
        with world.server("ceiling", url, **settings) as ceiling:
            yield Scene(url=url, token=token, bodies=bodies, tillhouse=port, ceiling=ceiling)


def business_that_sells(
    port: int, hook_url: str = "https://93.184.215.14/hook"
) -> tuple[str, list[dict[str, Any]]]:
    """A key of a business with tracked products and a subscribed endpoint; bodies of orders."""
    email = f"{os.urandom(8).hex()}@example.com"
    new = {
        "name": "Ada Bench", "email": email, "password": world.PASSWORD, "business_name": "Bench",
    }  # fmt: skip
    owner = world.call(port, "POST", "/api/auth/register", new)["accessToken"]
    world.call(port, "POST", "/api/auth/verify-password", {"password": world.PASSWORD}, owner)
    key = {"name": "bench", "environment": "test", "scopes": _SCOPES}
    token = world.call(port, "POST", "/api/developer/api-keys", key, owner)["secret"]
    hook = {
        "name": "Hook", "url": hook_url, "environment": "test",
        "events": ["order.created"],
    }  # fmt: skip
    world.call(port, "POST", "/api/developer/webhook-endpoints", hook, owner)
    lines = [_product(port, token, number) for number in range(PRODUCTS)]
    chance = random.Random(1)  # noqa: S311 - no secret
    bodies = []
    for _ in range(BODIES):
        items = chance.sample(lines, LINES)
        total = sum(item["price"] * item["quantity"] for item in items)
        items = [{k: v for k, v in item.items() if k != "price"} for item in items]
        bodies.append({"items": items, "amount_paid": total, "payment_method": "cash"})
    return token, bodies


def _product(port: int, token: str, number: int) -> dict[str, Any]:
    """A tracked product, as a line that asks for it, with its price."""
    name, price = f"Dish {number}", 500 + number * 10
    new = {"name": name, "base_price": price, "tracks_stock": True}
    made = world.call(port, "POST", "/v1/products", new, token)
    opening = {
        "variant_id": made["variants"][0]["id"], "kind": "opening", "quantity": 100_000_000,
    }  # fmt: skip
    world.call(port, "POST", "/v1/inventory/adjustments", opening, token)
    quantity = 1 + number % 3
    return {
        "product_id": made["id"], "product_name": name, "quantity": quantity, "price": price,
    }  # fmt: skip


def _posts(scene: Scene, names: Iterator[str] | None = None) -> Callable[[], bytes]:
    return posts(scene.token, scene.bodies, names)


def posts(
    token: str, bodies: list[dict[str, Any]], names: Iterator[str] | None = None
) -> Callable[[], bytes]:
    """Requests that never repeat, perhaps with a customer's name each."""
    run, numbers = os.urandom(6).hex(), itertools.count()
    if names is None:
        encoded = itertools.cycle([msgspec.json.encode(body) for body in bodies])
    else:
        named = zip(itertools.cycle(bodies), names, strict=False)
        encoded = (msgspec.json.encode(body | {"customer_name": name}) for body, name in named)

    def make() -> bytes:
        key = f"idempotency-key: {run}-{next(numbers)}"
        headers = [f"authorization: Bearer {token}", key]
        return client.post("/v1/orders", headers, next(encoded))

    return make


def _place(scene: Scene, options: argparse.Namespace) -> None:
    """POST /v1/orders and its ceiling in turns, so that the machine's mood hits both alike."""
    runs: dict[tuple[str, int], list[client.Result]] = {}
    ports = {"ceiling": scene.ceiling, "POST /v1/orders": scene.tillhouse}
    for port in ports.values():
        client.run(
            port,
            _posts(scene),
            clients=8,
            seconds=WARM_S,
            wanted=b"HTTP/1.1 201",
        )
    for _ in range(options.rounds):
        for clients in CLIENTS:
            for name, port in ports.items():
                result = client.run(
                    port, _posts(scene), clients=clients, seconds=options.seconds,
                    wanted=b"HTTP/1.1 201",
                )  # fmt: skip
                runs.setdefault((name, clients), []).append(result)
    console = Console(width=120)
    table = Table("subject", "clients", "orders/s", "of ceiling", "p50", "p95", "p99", "failures")
    for (name, clients), results in runs.items():
        rate = _median(results, "per_second")
        ceiling = _median(runs["ceiling", clients], "per_second")
        table.add_row(
            name, str(clients), f"{rate:,.0f}", f"{rate / ceiling:.0%}",
            *(f"{_median(results, f'{p}_ms'):.1f}" for p in ("p50", "p95", "p99")),
            str(sum(r.failures for r in results)),
        )  # fmt: skip
    console.print(table)
    sent = uvloop.run(_statements(scene))
    console.print(
        f"{LINES} tracked catalog lines, a new Idempotency-Key each, one subscribed endpoint; "
        f"nothing sends. Statements of an order, besides BEGIN, COMMIT and the key check: "
        f"{len(sent)} ({', '.join(sent)}). Bars: 60 % of the ceiling, 800/s at 8 clients, "
        f"p99 of 60 ms at 16. Medians of {options.rounds} rounds of {options.seconds:g} s, ms, "
        f"after {WARM_S} s each."
    )


def _names(scene: Scene, options: argparse.Namespace) -> None:
    """Orders with a customer's name beside those without, in turns."""
    run = os.urandom(4).hex()
    regulars = itertools.cycle([f"Regular {n} of {run}" for n in range(REGULARS)])
    strangers = (f"Stranger {n} of {run}" for n in itertools.count())
    cases = {
        "without": _posts(scene), "a name that is known": _posts(scene, regulars),
        "a name that is new": _posts(scene, strangers),
    }  # fmt: skip
    runs: dict[str, list[client.Result]] = {name: [] for name in cases}
    client.run(
        scene.tillhouse, cases["a name that is known"], clients=FEW_CLIENTS, seconds=WARM_S,
        wanted=b"HTTP/1.1 201",
    )  # fmt: skip
    for _ in range(options.rounds):
        for name, make in cases.items():
            result = client.run(
                scene.tillhouse, make, clients=FEW_CLIENTS, seconds=options.seconds,
                wanted=b"HTTP/1.1 201",
            )  # fmt: skip
            runs[name].append(result)
    _compare(runs, "without", "Bar: 90 % of orders without a customer's name.")


def _page(scene: Scene, options: argparse.Namespace) -> None:
    """GET /v1/orders, 50 with their summary, against the same statements and bytes."""
    bearer = [f"authorization: Bearer {scene.token}"]
    client.run(
        scene.tillhouse,
        _posts(scene),
        clients=8,
        seconds=2,
        wanted=b"HTTP/1.1 201",
    )
    runs: dict[str, list[client.Result]] = {"ceiling": [], "GET /v1/orders": []}
    request = client.get("/v1/orders?limit=50", bearer)
    for _ in range(options.rounds):
        for name, port in zip(runs, (scene.ceiling, scene.tillhouse), strict=True):
            result = client.run(port, request, clients=FEW_CLIENTS, seconds=options.seconds)
            runs[name].append(result)
    _compare(runs, "ceiling", "Bar: 60 % of the ceiling (the same statements and bytes).")


def _compare(runs: dict[str, list[client.Result]], against: str, says: str) -> None:
    table = Table("subject", "clients", "req/s", f"of {against}", "p50", "p95", "p99", "failures")
    base = _median(runs[against], "per_second")
    for name, results in runs.items():
        rate = _median(results, "per_second")
        table.add_row(
            name, str(FEW_CLIENTS), f"{rate:,.0f}", f"{rate / base:.0%}",
            *(f"{_median(results, f'{p}_ms'):.1f}" for p in ("p50", "p95", "p99")),
            str(sum(r.failures for r in results)),
        )  # fmt: skip
    Console(width=120).print(table, says)


async def _statements(scene: Scene) -> list[str]:
    """The first words of the statements that one order sends."""
    recorder = Recorder(world.environment(scene.url, rate_limit="0", log_level="error"))
    app = await recorder.start()
    try:
        headers = {"idempotency-key": os.urandom(8).hex()}
        await recorder.request(scene.token, "POST", "/v1/orders", scene.bodies[0], **headers)
        key = os.urandom(8).hex()
        _, sent = await recorder.request(
            scene.token, "POST", "/v1/orders", scene.bodies[0], **{"idempotency-key": key}
        )
        return [" ".join(one.sql.split()[:3]) for one in sent]
    finally:
        await app.stop()


def _show(scene: Scene, options: argparse.Namespace) -> None:
    """GET /v1/orders/:id of many orders, against the same SELECT."""
    bearer = [f"authorization: Bearer {scene.token}"]
    headers = {"authorization": f"Bearer {scene.token}", "content-type": "application/json"}
    made = client.run(
        scene.tillhouse,
        _posts(scene),
        clients=8,
        seconds=2,
        wanted=b"HTTP/1.1 201",
    )
    assert not made.failures, headers
    shown = world.call(scene.tillhouse, "GET", "/v1/orders?limit=100", None, scene.token)
    ids = itertools.cycle([order["id"] for order in shown])
    runs: dict[str, list[client.Result]] = {}
    for _ in range(options.rounds):
        for name, port in (("ceiling", scene.ceiling), ("GET /v1/orders/:id", scene.tillhouse)):
            result = client.run(
                port, lambda: client.get(f"/v1/orders/{next(ids)}", bearer),
                clients=SHOW_CLIENTS, seconds=options.seconds,
            )  # fmt: skip
            runs.setdefault(name, []).append(result)
    table = Table("subject", "clients", "req/s", "of ceiling", "p50", "p95", "p99", "failures")
    ceiling = _median(runs["ceiling"], "per_second")
    for name, results in runs.items():
        rate = _median(results, "per_second")
        table.add_row(
            name, str(SHOW_CLIENTS), f"{rate:,.0f}", f"{rate / ceiling:.0%}",
            *(f"{_median(results, f'{p}_ms'):.1f}" for p in ("p50", "p95", "p99")),
            str(sum(r.failures for r in results)),
        )  # fmt: skip
    Console(width=120).print(table, "Bar: 40 % of the ceiling (bare ASGI, the same SELECT).")


def _median(results: list[client.Result], name: str) -> float:
    return statistics.median(getattr(result, name) for result in results)
