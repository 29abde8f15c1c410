"""The delivery log of webhooks: every filter over a short and a long log, over HTTP."""

import argparse
import math
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import asyncpg
import msgspec
import uvloop
from rich.console import Console
from rich.table import Table

from bench import world
from bench.lists import Client, Timing
from bench.recording import Recorder
from tillhouse.kit.clock import iso

SMALL = 10_000
WEEKS = 6
P95_MS_MAX, FILTER_MS_MAX = 25.0, 200.0
SLOWEST = 4
_SAMPLES, _SAMPLES_MIN, _SECONDS = 60, 15, 6.0
_PORTAL = "/api/developer"
_TYPES = [
    "order.created", "order.updated", "payment.received", "contact.created", "product.updated",
    "kitchen_ticket.created", "kitchen_ticket.status_updated", "inventory.low_stock",
]  # fmt: skip
RARE_TYPE = "wallet.withdrawal.failed"
_PAYLOAD = 600

# As many deliveries as rows, two of each event, evenly over some weeks. The first endpoint never
# fails, one in a hundred deliveries of the others did; what is of the last hour is still pending.
# One type never fails, either, and another one never goes to the last busy endpoint. The endpoint
# "rare" and its app, and the rare type, occur in the oldest week alone.
_EVENTS = """
    INSERT INTO webhook_events (book_id, id, type, payload)
    SELECT $1, new_id($2::timestamptz + n * $3::interval), ($4::text[])[1 + n % cardinality($4)],
        rpad('{"id":"', $5::int, md5(n::text))
    FROM generate_series($6::bigint, $7::bigint - 1, 2) n
"""
_DELIVERIES = """
    INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id, event_id,
        event_type, status, url, attempts, response_status, latency_ms, error_message,
        attempts_log, delivered_at, next_attempt_at, updated_at)
    SELECT $1, new_id(v.at), e.developer_app_id, e.id, v.id, v.type, s.status, e.url,
        CASE s.status WHEN 'failed' THEN 5 WHEN 'delivered' THEN 1 ELSE 0 END,
        CASE s.status WHEN 'failed' THEN 500 WHEN 'delivered' THEN 200 END,
        40 + v.n % 60, CASE s.status WHEN 'failed' THEN 'http_500' END,
        $5::jsonb,
        CASE s.status WHEN 'delivered' THEN v.at END,
        CASE s.status WHEN 'pending' THEN v.at END, v.at
    FROM (SELECT id, type, made_at(id) AS at, row_number() OVER (ORDER BY id) AS n
        FROM webhook_events WHERE book_id = $1 AND id >= least_id($2) AND id < least_id($3)) v
    CROSS JOIN generate_series(0, 1) twice
    CROSS JOIN LATERAL (SELECT least((v.n * 7 + v.n / 8 + twice * 3) % 8,
        CASE v.type WHEN 'inventory.low_stock' THEN 6 ELSE 7 END) AS place) p
    JOIN webhook_endpoints e ON e.book_id = $1 AND e.name = 'hook ' || p.place
    CROSS JOIN LATERAL (SELECT CASE WHEN v.at > $4::timestamptz - interval '1 hour' THEN 'pending'
        WHEN p.place > 0 AND v.n % 100 < 2 AND v.type <> 'payment.received' THEN 'failed'
        ELSE 'delivered' END AS status) s
"""
_ATTEMPTS = """
    [{"at": "2026-01-01T00:00:00.000Z", "url": "https://198.41.0.4/1", "error": null,
    "address": "198.41.0.4", "attempt": 1, "phasesMs": {"answer": 12, "connect": 20, "resolve": 8},
    "response": "ok", "latencyMs": 40, "responseStatus": 200}]
"""
_RARE = """
    INSERT INTO webhook_deliveries (book_id, id, developer_app_id, webhook_endpoint_id, event_id,
        event_type, status, url, attempts, delivered_at, updated_at)
    SELECT $1, new_id($2::timestamptz + n * interval '1 minute'), e.developer_app_id, e.id,
        gen_random_uuid(), $3, 'delivered', e.url, 1, $2, $2
    FROM generate_series(1, 60) n JOIN webhook_endpoints e ON e.book_id = $1 AND e.name = 'rare'
"""
# The primary key stays.
_INDEXES = """
    SELECT indexname, indexdef FROM pg_indexes
    WHERE tablename = 'webhook_deliveries' AND indexdef NOT LIKE 'CREATE UNIQUE%'
"""


class Log(msgspec.Struct, kw_only=True):
    """A business whose log is long: who reads it, and what can be asked for."""

    rows: int
    email: str
    endpoints: dict[str, str]
    apps: dict[str, str]
    event_id: str = ""
    since: str = ""
    until: str = ""


def measure(options: argparse.Namespace) -> None:
    """Measure a short log and a long one on the same server, and print a table."""
    console = Console(width=140)
    with world.database() as url:
        settings = {"rate_limit": "0", "log_level": "error"}
        found: dict[int, dict[str, Timing]] = {}
        logs: list[Log] = []
        with world.server("tillhouse", url, **settings) as port:
            for rows in sorted({SMALL, options.log}):
                log = _opened(port, rows)
                logs.append(log)
                uvloop.run(_fill(url, log))
                client = Client(port, _token(port, log))
                found[rows] = {name: _timed(client, query) for name, query in _queries(log).items()}
        _report(console, found)
        slowest = sorted(found[max(found)].values(), key=lambda t: -t.p95)[:SLOWEST]
        paths = [timing.path for timing in slowest]
        uvloop.run(_explain(console, world.environment(url, **settings), logs[-1], paths))


def _opened(port: int, rows: int) -> Log:
    """A business with nine endpoints of two apps."""
    email = f"log-{rows}@example.com"
    new = {"name": "Ada", "email": email, "password": world.PASSWORD, "business_name": "Ada's"}
    token = world.call(port, "POST", "/api/auth/register", new)["accessToken"]
    app = {"name": "Rare", "environment": "test"}
    rare = world.call(port, "POST", f"{_PORTAL}/apps", app, token)["id"]
    endpoints: dict[str, str] = {}
    apps: dict[str, str] = {"rare": rare}
    for name in [*(f"hook {number}" for number in range(8)), "rare"]:
        body: dict[str, Any] = {
            "name": name, "url": f"https://198.41.0.4/{name[-1]}", "environment": "test",
            "events": _TYPES,
        }  # fmt: skip
        if name == "rare":
            body["developer_app_id"] = rare
        made = world.call(port, "POST", f"{_PORTAL}/webhook-endpoints", body, token)
        endpoints[name] = made["id"]
        apps.setdefault("default", made["developerAppId"])
    return Log(rows=rows, email=email, endpoints=endpoints, apps=apps)


def _token(port: int, log: Log) -> str:
    body = {"email": log.email, "password": world.PASSWORD}
    return world.call(port, "POST", "/api/auth/login", body)["accessToken"]


async def _fill(url: str, log: Log) -> None:
    """Write the log, week by week, straight into its partitions; its indexes are made at last."""
    began = time.monotonic()
    settings = {"synchronous_commit": "off", "maintenance_work_mem": "512MB"}
    connection = await asyncpg.connect(url, server_settings=settings, command_timeout=3600)
    indexes = await connection.fetch(_INDEXES)
    for index in indexes:
        await connection.execute(f"DROP INDEX {index['indexname']}")
    book = await connection.fetchval(
        "SELECT book_id FROM webhook_endpoints WHERE id::text = $1", log.endpoints["rare"]
    )
    start = await _write(connection, book, log.rows)
    for index in indexes:
        await connection.execute(index["indexdef"].replace(" ON ONLY ", " ON "))
    found = await connection.fetchval(
        "SELECT id FROM webhook_events WHERE book_id = $1 AND id > least_id($2) LIMIT 1",
        book, start + timedelta(weeks=1),
    )  # fmt: skip
    await connection.execute("VACUUM (ANALYZE) webhook_deliveries")
    await connection.execute("VACUUM (ANALYZE) webhook_events")
    await connection.close()
    log.event_id = str(found)
    log.since, log.until = (iso(start + timedelta(weeks=1, days=days)) for days in (0, 3))
    print(f"{log.rows:,} deliveries written in {time.monotonic() - began:.0f} s", flush=True)


async def _write(connection: asyncpg.Connection, book: UUID, rows: int) -> datetime:
    """The rows themselves; when the first one was made."""
    now = datetime.now(UTC)
    start, step = now - timedelta(weeks=WEEKS), timedelta(weeks=WEEKS) / rows
    part = math.ceil(rows / WEEKS / 2) * 2
    # Asked for by the even numbers alone, so that a type's place is no matter of two.
    types = [name for name in _TYPES for _ in range(2)]
    for number in range(WEEKS):
        since = start + number * part * step
        await connection.execute("SELECT turn_webhook_partitions($1, 36500)", since)
        first, last = number * part, min((number + 1) * part, rows)
        await connection.execute(_EVENTS, book, start, step, types, _PAYLOAD, first, last)
        await connection.execute("ANALYZE webhook_events")
        until = start + last * step
        await connection.execute(_DELIVERIES, book, since, until, now, _ATTEMPTS)
    await connection.execute(_RARE, book, start, RARE_TYPE)
    return start


def _queries(log: Log) -> dict[str, dict[str, str]]:
    """Each filter alone, with much and with little behind it, and pairs."""
    busy, healthy, rare = (log.endpoints[name] for name in ("hook 3", "hook 0", "rare"))
    rare_app, app = log.apps["rare"], log.apps["default"]
    return {
        "no filter": {},
        "an app with nearly all": {"developer_app_id": app},
        "an app with little, long ago": {"developer_app_id": rare_app},
        "a busy endpoint": {"endpoint_id": busy},
        "an endpoint with little, long ago": {"endpoint_id": rare},
        "delivered": {"status": "delivered"},
        "failed": {"status": "failed"},
        "pending": {"status": "pending"},
        "a common type": {"event_type": "order.created"},
        "a rare type, long ago": {"event_type": RARE_TYPE},
        "a type that never occurred": {"event_type": "wallet.deposit"},
        "an event": {"event_id": log.event_id},
        "endpoint + failed": {"endpoint_id": busy, "status": "failed"},
        "endpoint + pending": {"endpoint_id": busy, "status": "pending"},
        "endpoint + failed, none": {"endpoint_id": healthy, "status": "failed"},
        "rare endpoint + failed, none": {"endpoint_id": rare, "status": "failed"},
        "endpoint + type": {"endpoint_id": busy, "event_type": "order.created"},
        "endpoint + rare type, none": {"endpoint_id": busy, "event_type": RARE_TYPE},
        "endpoint + common type, none": {
            "endpoint_id": log.endpoints["hook 7"], "event_type": "inventory.low_stock",
        },
        "failed + type": {"status": "failed", "event_type": "order.created"},
        "failed + common type, none": {"status": "failed", "event_type": "payment.received"},
        "failed + rare type, none": {"status": "failed", "event_type": RARE_TYPE},
        "app + failed": {"developer_app_id": app, "status": "failed"},
        "rare app + failed, none": {"developer_app_id": rare_app, "status": "failed"},
        "app + rare type": {"developer_app_id": app, "event_type": RARE_TYPE},
        "rare app + common type, none": {
            "developer_app_id": rare_app, "event_type": "order.created",
        },
        "endpoint + type + failed": {
            "endpoint_id": busy, "event_type": "order.created", "status": "failed",
        },
        **_pages(log),
    }  # fmt: skip


def _pages(log: Log) -> dict[str, dict[str, str]]:
    """Pages weeks ago, time windows, and what is nowhere."""
    busy = log.endpoints["hook 3"]
    return {
        "endpoint + type + failed, none": {
            "endpoint_id": busy,
            "event_type": "payment.received",
            "status": "failed",
        },
        "endpoint + an app that isn't its own": {
            "endpoint_id": busy,
            "developer_app_id": log.apps["rare"],
        },
        "weeks ago": {"cursor": log.event_id},
        "delivered, weeks ago": {"cursor": log.event_id, "status": "delivered"},
        "endpoint + failed, weeks ago": {
            "endpoint_id": busy,
            "cursor": log.event_id,
            "status": "failed",
        },
        "a time window": {"since": log.since, "until": log.until},
        "endpoint + type, a time window": {
            "endpoint_id": busy,
            "event_type": "order.created",
            "since": log.since,
            "until": log.until,
        },
    }


def _timed(client: Client, query: dict[str, str]) -> Timing:
    """Asked often enough that a plan is kept; the first answers count for nothing."""
    path = f"{_PORTAL}/webhook-deliveries?" + urlencode(query)
    found = len(client.get(path)["data"])
    times: list[float] = []
    until = time.perf_counter() + _SECONDS
    while len(times) < _SAMPLES and (len(times) < _SAMPLES_MIN or time.perf_counter() < until):
        began = time.perf_counter()
        client.get(path)
        times.append((time.perf_counter() - began) * 1000)
    times = sorted(times[10:])
    return Timing(path, times[len(times) // 2], times[int(len(times) * 0.95)], found)


def _report(console: Console, found: dict[int, dict[str, Timing]]) -> None:
    small, large = min(found), max(found)
    table = Table(
        "filter", "found", f"p50 ms at {small:,}", "p95", f"p50 ms at {large:,}", "p95", "bar"
    )
    for name, timing in found[large].items():
        before = found[small][name]
        most = P95_MS_MAX if name == "no filter" else FILTER_MS_MAX
        table.add_row(
            name, f"{timing.found}", f"{before.p50:.1f}", f"{before.p95:.1f}",
            f"{timing.p50:.1f}", f"{timing.p95:.1f}",
            "" if timing.p95 <= most else f"ABOVE {most:.0f} ms",
        )  # fmt: skip
    console.print(table)


async def _explain(
    console: Console, environment: dict[str, str], log: Log, paths: list[str]
) -> None:
    """The slowest queries' statements with what PostgreSQL did for them."""
    recorder = Recorder(environment)
    app = await recorder.start()
    body = {"email": log.email, "password": world.PASSWORD}
    answer, _ = await recorder.request("", "POST", "/api/auth/login", body)
    connection = await asyncpg.connect(environment["TILLHOUSE_DATABASE_URL"])
    try:
        for path in paths:
            _, sent = await recorder.request(answer.data["accessToken"], "GET", path)
            for one in sent:
                if "webhook_deliveries" not in one.sql:
                    continue
                rows = await connection.fetch(f"EXPLAIN (ANALYZE, BUFFERS) {one.sql}", *one.args)
                console.print(f"\n{path}", markup=False)
                for row in rows:
                    console.print(row[0], markup=False, soft_wrap=True)
    finally:
        await connection.close()
        await app.stop()
