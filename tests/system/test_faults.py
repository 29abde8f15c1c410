"""Processes that are killed lose nothing and do nothing twice."""

import asyncio
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import aiohttp
import asyncpg

from tests.api import Response
from tests.make import Business
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.killing_proxy import Proxy, Target
from tests.system.serving import report, until
from tests.waiting import within

HEALTH = "/v1/voice/health"
APPS = "/api/developer/apps"
KEYS = "/api/developer/api-keys"
WORKERS = 6
KILLS = 3
STATEMENTS_MIN = 8


async def post_key(business: Business, name: str) -> Response | None:
    """Create a key under an idempotency key; None when the server dies over it."""
    body = {"name": name, "environment": "test", "scopes": ["voice:read"]}
    try:
        return await business.owner.post(KEYS, body, headers={"idempotency-key": name})
    except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError):
        return None


async def repeated(business: Business, name: str) -> Response:
    """The same request, until some process answers it."""
    async with within():
        answer = await post_key(business, name)
        while answer is None:
            answer = await post_key(business, name)
    assert answer.status == 201, answer
    return answer


async def check_all_or_nothing(
    business: Business, name: str, answer: Response, sql: asyncpg.Connection
) -> None:
    """One key, one event, and the answer is about them."""
    query = "SELECT k.id FROM api_keys k WHERE name = $1"
    rows = await sql.fetch(query, name)
    assert [str(row["id"]) for row in rows] == [answer.data["id"]]
    query = """SELECT count(*) FROM audit_events WHERE business_id = $1
        AND event_type = 'api_key.created' AND metadata ->> 'name' = $2"""
    assert await sql.fetchval(query, business.id, name) == 1


async def test_killed_between_any_two_statements(
    start: Start,
    session: aiohttp.ClientSession,
    database_url: str,
    master_key: str,
    sql: asyncpg.Connection,
) -> None:
    """kill -9 before and after each statement of a keyed POST: all of it or nothing, once."""
    with tempfile.TemporaryDirectory() as folder:
        async with Proxy(Path(folder), database_url) as proxy:
            settings = {"DATABASE_URL": proxy.url, "MASTER_KEY": master_key, "LOG_LEVEL": "warning"}
            serving = await start("--no-work", "--workers", str(WORKERS), **settings)
            business = await register(Client(session, serving.address))
            for is_after in (False, True):
                statements = await kill_at_every_statement(proxy, business, sql, is_after=is_after)
                report(f"killed at each of {statements} statements, after it: {is_after}")
                assert statements >= STATEMENTS_MIN
            assert await serving.stop() == 0


async def kill_at_every_statement(
    proxy: Proxy, business: Business, sql: asyncpg.Connection, *, is_after: bool
) -> int:
    """Kill at the first statement, the second, …; how many there were until it survived."""
    number = 0
    while True:
        number += 1
        name = f"killed-{'after' if is_after else 'before'}-{number}"
        proxy.target = Target(number, is_after=is_after)
        first = await post_key(business, name)
        was_killed, proxy.target = proxy.target.is_dead, None
        assert was_killed == (first is None)
        second = await repeated(business, name)
        await check_all_or_nothing(business, name, second, sql)
        await business.owner.delete(f"{KEYS}/{second.data['id']}", status=200)
        if first is not None:
            assert second.headers["idempotent-replayed"] == "true"
            assert second.data["id"] == first.data["id"]
            return number - 1


async def test_killed_postmaster_comes_back(
    tmp_path: Path, start: Start, session: aiohttp.ClientSession
) -> None:
    """kill -9 of the embedded server under load: 503 for a moment, never 500, then on as before."""
    data = tmp_path / "data"
    serving = await start("--demo", DATA=str(data), LOG_LEVEL="warning")
    demo = serving.ready["demo"]
    anybody = Client(session, serving.address)
    credentials = {"email": demo["email"], "password": demo["password"]}
    token = (await anybody.post("/api/auth/login", credentials, status=200)).data["accessToken"]
    owner = anybody.as_bearer(token)
    seen: list[tuple[float, int, str]] = []
    is_over = asyncio.Event()

    async def load(user: Client, method: str, path: str, body: object = None) -> None:
        while not is_over.is_set():
            answer = await user.request(method, path, body)
            seen.append((time.monotonic(), answer.status, path))

    user = anybody.as_bearer(demo["testKey"])
    running = asyncio.gather(
        *(load(user, "GET", HEALTH) for _ in range(4)),
        *(load(owner, "GET", APPS) for _ in range(4)),
        # Refused in its transaction, so that it can be sent without end.
        *(load(owner, "POST", KEYS, {"name": "x", "environment": "test", "scopes": ["voice:read"]})
          for _ in range(4)),
    )  # fmt: skip
    for _ in range(KILLS):
        postmaster = int((data / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)
        killed = time.monotonic()
        await recovered(seen, killed)
    is_over.set()
    await running
    counts = Counter(status for _, status, _ in seen)
    report(f"answers around {KILLS} kills of the postmaster: {dict(counts)}")
    assert set(counts) == {200, 403, 503}
    assert await serving.stop() == 0
    assert "internal_error" not in serving.log


async def recovered(seen: list[tuple[float, int, str]], killed: float) -> None:
    """Wait until every path has failed, or has waited, and then answered as before."""
    paths = {HEALTH, APPS, KEYS}

    def back() -> dict[str, float]:
        away = max((at for at, status, _ in seen if status == 503 and at > killed), default=None)
        good = [(at, path) for at, status, path in seen if status != 503 and away and at > away]
        return {path: min(at for at, where in good if where == path) for _, path in good}

    await until(lambda: set(back()) == paths, "answers after a kill")
    report(f"back {max(back().values()) - killed:.2f} s after the kill")
