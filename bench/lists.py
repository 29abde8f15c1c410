"""GET /v1/orders of a small and of a large book: every filter alone, and some together."""

import argparse
import contextlib
import hashlib
import http.client
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import asyncpg
import msgspec
import uvloop
from rich.console import Console
from rich.table import Table

from bench import world
from bench.recording import Recorder
from tillhouse import db
from tillhouse.db.embedded import Embedded

SMALL = 10_000
DEFAULT_MS_MAX, FILTER_MS_MAX = 25.0, 200.0
# A search of one character finds a thirtieth of all orders by their codes alone.
LETTER_MS_MAX = 1_000.0
SLOWEST = 5
_SAMPLES, _SAMPLES_MIN, _SECONDS = 60, 8, 2.5
_SHOWN = 30
_NOBODY = "01890000-0000-7000-8000-000000000000"


class Book(msgspec.Struct, kw_only=True):
    """A demo business's test book on a server that is up."""

    rows: int
    url: str
    master_key: str
    token: str
    # The login of its owner.
    email: str = ""
    password: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The settings that a process on it needs."""
        return {"master_key": self.master_key, "rate_limit": "0", "log_level": "error"}


class Timing(msgspec.Struct):
    """One query's times in milliseconds."""

    path: str
    p50: float
    p95: float
    found: int


def measure(options: argparse.Namespace) -> None:
    """Measure both books one after the other, and print tables."""
    found: dict[int, dict[str, Timing]] = {}
    console = Console(width=140)
    for rows in sorted({SMALL, options.rows or SMALL}):
        with open_book(Path(options.books), rows) as book:
            with world.server("tillhouse", book.url, **book.settings) as port:
                client = Client(port, book.token)
                queries = _queries(client).items()
                found[rows] = {name: client.time("/v1/orders", q) for name, q in queries}
                found[rows]["counts"] = client.time("/v1/counts", {})
            if rows == max(SMALL, options.rows):
                report(console, found, _most)
                slowest = sorted(found[rows].values(), key=lambda t: -t.p95)[:SLOWEST]
                uvloop.run(_explain(console, book, [timing.path for timing in slowest]))


@contextlib.contextmanager
def open_book(folder: Path, rows: int) -> Iterator[Book]:
    """A book of so many orders: filled at the first run, and kept. Another schema, another book."""
    migrations = sorted((Path(db.__file__).parent / "migrations").glob("*.sql"))
    schema = hashlib.sha256(b"".join(path.read_bytes() for path in migrations)).hexdigest()[:8]
    data = folder / f"{rows}-{schema}"
    data.parent.mkdir(parents=True, exist_ok=True)
    server = Embedded.start(data)
    try:
        began = time.monotonic()
        command = [sys.executable, "-m", "bench", "fill", "--data", str(data)]
        done = subprocess.run(
            [*command, "--orders", str(rows)], check=True, stdout=subprocess.PIPE,
            env=world.environment(None),
        )  # fmt: skip
        made = json.loads(done.stdout)
        print(f"{data}: {made['filled']}, {time.monotonic() - began:.0f} s in all", flush=True)
        uvloop.run(_settle(server.url))
        key = (data / "master.key").read_text("utf-8").strip()
        yield Book(
            rows=rows, url=server.url, master_key=key, token=made["testKey"],
            email=made["email"], password=made["password"],
        )  # fmt: skip
    finally:
        server.release()


async def _settle(url: str) -> None:
    """As after a night: statistics and visibility maps are there."""
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM (ANALYZE)")
    await connection.close()


class Client:
    """One request after another on one connection."""

    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"authorization": f"Bearer {token}"}

    def get(self, path: str) -> Any:
        """The answer; of a table nothing."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[:500])
        return json.loads(body) if answer.headers["content-type"] == "application/json" else {}

    def time(self, path: str, query: dict[str, Any]) -> Timing:
        """How long a list takes, once everything is warm."""
        path = f"{path}?{urlencode(query)}"
        answer = self.get(path)
        total = answer.get("meta", {}).get("total", -1)
        self.get(path)
        times: list[float] = []
        until = time.perf_counter() + _SECONDS
        while len(times) < _SAMPLES and (len(times) < _SAMPLES_MIN or time.perf_counter() < until):
            self._connection.request("GET", path, headers=self._headers)
            began = time.perf_counter()
            answer = self._connection.getresponse()
            answer.read()
            times.append((time.perf_counter() - began) * 1000)
        times.sort()
        p95 = times[min(len(times) - 1, math.ceil(len(times) * 0.95) - 1)]
        return Timing(path, times[len(times) // 2], p95, total)


def _queries(client: Client) -> dict[str, dict[str, Any]]:
    """Queries by name; their values are taken from orders of the book."""
    first = client.get("/v1/orders?limit=100")
    total = first["meta"]["total"]
    pages = math.ceil(total / 50)
    some = first["data"] + client.get(f"/v1/orders?limit=100&page={pages // 4}")["data"]
    customers = [o["customer"] for o in some if o["customer"]]
    stores = sorted({o["store"]["id"] for o in some if o["store"]})
    tags = [tag["id"] for o in some for tag in o["tags"]]
    staff = some[0]["recordedBy"]["id"]
    day = first["data"][0]["date"][:10]
    year, code = int(day[:4]), some[-1]["shortCode"]
    name = customers[-1]["name"]
    single = _single(customers, stores, tags, staff, (day, year), (code, name))
    together = {
        "status + store": {"status": "pending", "store_id": stores[0]},
        "channel + payment_status": {"channel": "whatsapp", "payment_status": "partial"},
        "rare pair": {"service_mode": "room_service", "payment_method": "credit"},
        "refunded + store + channel": {
            "status": "refunded", "store_ids": stores[0], "channel": "voice,tiktok",
        },
        "customer + status": {"customer_id": customers[0]["id"], "status": "completed"},
        "tag + cancelled": {"tag_ids": tags[0], "status": "cancelled"},
        "stores + a year": {
            "store_ids": ",".join(stores[:2]), "start_date": f"{year - 1}-01-01",
            "end_date": f"{year - 1}-12-31",
        },
        "name + status": {"search": name, "status": "completed"},
        "name + a month": {"search": name.split()[0], "start_date": f"{year - 1}-03-01",
                           "end_date": f"{year - 1}-03-31"},
        "staff + channel + method": {
            "staff_id": staff, "channel": "in_person", "payment_method": "pos",
        },
        "tag + a month": {"tag_ids": tags[0], "start_date": f"{year - 1}-03-01",
                          "end_date": f"{year - 1}-03-31"},
        "a quarter of the pages": {"page": max(1, pages // 4)},
        "middle page": {"page": max(1, pages // 2)},
        "last page": {"page": pages},
        "middle page of completed": {"status": "completed", "page": max(1, pages * 48 // 100)},
        "middle page of a channel": {"channel": "in_person", "page": max(1, pages * 29 // 100)},
        "middle page of a member of staff": {"recorded_by_id": staff, "page": max(1, pages // 12)},
        "limit 100": {"limit": 100},
        "changed since a day": {"updated_since": f"{day}T00:00:00Z"},
        "changed since a year": {"updated_since": f"{year - 1}-01-01T00:00:00Z"},
        "changed since a year + channel": {
            "updated_since": f"{year - 1}-01-01T00:00:00Z", "channel": "whatsapp",
        },
    }  # fmt: skip
    hard = _hard(name, staff, tags, (year, pages))
    return {"the newest 50": {}, **single, **together, **hard}


def _hard(
    name: str, staff: str, tags: list[str], sizes: tuple[int, int]
) -> dict[str, dict[str, Any]]:
    """Queries that few indexes could help with: many scattered rows, few rows anywhere."""
    year, pages = sizes
    letter = name.split()[0][0]
    return {
        "a letter": {"search": letter},
        "the commonest letter": {"search": "a"},
        "the commonest letter + a month": {
            "search": "a", "start_date": f"{year - 1}-03-01", "end_date": f"{year - 1}-03-31",
        },
        "the commonest letter, deep": {"search": "a", "page": max(1, pages // 40)},
        "the commonest letter + cancelled": {"search": "a", "status": "cancelled"},
        "a deep page of a letter": {"search": letter, "page": max(1, pages // 40)},
        "a letter + channel": {"search": letter, "channel": "whatsapp"},
        "a letter + pending": {"search": letter, "status": "pending"},
        "a letter + staff": {"search": letter, "staff_id": staff},
        "first name + tag": {"search": name.split()[0], "tag_ids": tags[0]},
        "staff + rare pair": {
            "staff_id": staff, "service_mode": "room_service", "payment_method": "credit",
        },
        "staff + refunded": {"staff_id": staff, "status": "refunded"},
        "staff + odd dates": {
            "staff_id": staff, "start_date": f"{year - 1}-01-02T10:00:00Z",
            "end_date": f"{year}-10-30",
        },
        "staff + automated, deep": {
            "staff_id": staff, "is_automated": "true", "page": max(1, pages // 400),
        },
        "recorded + served": {"recorded_by_id": staff, "served_by_user_id": staff},
        "every tag, deep": {"tag_ids": ",".join(sorted(set(tags))), "page": max(1, pages // 40)},
        "fulfilled, deep": {"channel_fulfilled": "true", "page": max(1, pages // 8)},
        "two odd years, deep": {
            "start_date": f"{year - 2}-12-05T03:00:00Z", "page": max(1, pages // 4),
        },
    }  # fmt: skip


def _single(
    customers: list[Any],
    stores: list[str],
    tags: list[str],
    staff: str,
    time_: tuple[str, int],
    words: tuple[str, str],
) -> dict[str, dict[str, Any]]:
    """Every filter alone."""
    (day, year), (code, name) = time_, words
    named: dict[str, list[Any]] = {
        "status": ["scheduled", "pending", "completed", "cancelled", "refunded",
                   "pending,scheduled"],
        "payment_status": ["paid", "partial", "pending"],
        "channel": ["in_person", "whatsapp", "voice,tiktok", "telegram"],
        "service_mode": ["dine_in", "room_service"],
        "payment_method": ["cash", "cloove_pay", "credit", "other"],
        "customer_id": [customers[0]["id"], customers[-1]["id"]],
        "store_id": [stores[0], stores[-1]],
        "store_ids": [",".join(stores[:2])],
        "recorded_by_id": [staff],
        "staff_id": [staff],
        "served_by_user_id": [staff],
        "table_session_id": [_NOBODY],
        "academic_term_id": [_NOBODY],
        "tag_ids": [tags[0], ",".join(tags[:3])],
        "start_date": [day, f"{year}-01-01", f"{year - 2}-06-15T10:30:00Z"],
        "end_date": [f"{year - 1}-06-30", f"{year - 2}-06-15T10:30:00Z"],
        "search": [code, code[:3], name, name.split()[0], name.split()[1][:2], "zzzz"],
        "is_automated": ["true", "false"],
        "channel_fulfilled": ["true", "false"],
        "scheduled_only": ["true"],
    }  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for key, values in named.items():
        for place, value in enumerate(values, 1):
            number = f" ({place})" if len(values) > 1 else ""
            # Ids that differ from book to book are left out of the table.
            is_own = len(value) >= _SHOWN or key == "search"
            shown = "…" if is_own else value
            found[f"{key}={shown}{number}"] = {key: value}
    return found


def report(
    console: Console, found: dict[int, dict[str, Timing]], most_of: Callable[[str], float]
) -> None:
    """A table of both books, and what is above its bar."""
    small, large = min(found), max(found)
    table = Table(
        "query", "fitting", f"p50 at {small:,}", f"p95 at {small:,}", f"p50 at {large:,}",
        f"p95 at {large:,}", "times", "bar",
    )  # fmt: skip
    for name, timing in found[large].items():
        before = found[small].get(name)
        most = most_of(name)
        times = timing.p95 / before.p95 if before else 0
        table.add_row(
            name, f"{timing.found:,}", f"{before.p50:.1f}" if before else "",
            f"{before.p95:.1f}" if before else "", f"{timing.p50:.1f}", f"{timing.p95:.1f}",
            f"{times:.1f}", "" if timing.p95 <= most else f"ABOVE {most:.0f} ms",
        )  # fmt: skip
    console.print(table)
    console.print(f"Load averages of the machine after it: {os.getloadavg()}")


def _most(name: str) -> float:
    """The bar of a query."""
    if name == "the newest 50":
        return DEFAULT_MS_MAX
    return LETTER_MS_MAX if "letter" in name else FILTER_MS_MAX


async def _explain(console: Console, book: Book, paths: list[str]) -> None:
    """The slowest queries' statements with what PostgreSQL did for them."""
    recorder = Recorder(world.environment(book.url, **book.settings))
    app = await recorder.start()
    connection = await asyncpg.connect(book.url)
    await connection.execute("SET timezone = 'UTC'")
    try:
        for path in paths:
            _, sent = await recorder.request(book.token, "GET", path)
            for one in sent:
                if "orders" not in one.sql:
                    # The application's own chores, overheard as well.
                    continue
                rows = await connection.fetch(f"EXPLAIN (ANALYZE, BUFFERS) {one.sql}", *one.args)
                console.print(f"\n{path}\n{' '.join(one.sql.split())[:150]}", markup=False)
                for row in rows:
                    console.print(row[0], markup=False, soft_wrap=True)
    finally:
        await connection.close()
        await app.stop()
