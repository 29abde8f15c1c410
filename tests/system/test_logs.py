"""The log of a process: JSON from its first line, no secret, a line for each change of trouble."""

import asyncio
import json
import os
import pty
import signal
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from tests.cli.command import COMMAND, environment
from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.serving import Serving, until
from tests.system.test_outages import silent
from tests.waiting import HUNG_S
from tests.webhooks.shop import until as looking
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded

OUTAGE_S = 6.0
ROOM_TYPES = "/v1/hotel/room-types"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Embedded]:
    """A PostgreSQL of this test's own, which can be stopped."""
    server = await asyncio.to_thread(Embedded.start, tmp_path / "data")
    yield server
    await asyncio.to_thread(server.release)


def settings_of(server: Embedded, **more: str) -> dict[str, str]:
    """As an operator names a database of another machine."""
    return {"DATABASE_URL": server.url, "MASTER_KEY": new_master_key(), **more}


def lines(log: str) -> list[dict[str, Any]]:
    """The lines of a log; each is one JSON object."""
    found = [json.loads(line) for line in log.splitlines()]
    assert all(line.keys() >= {"time", "level", "event"} for line in found)
    return found


async def test_a_log_holds_no_secret(database: Embedded, start: Start) -> None:
    """Also with a demo business: it tells how to see its login and keys."""
    serving = await start("--demo", **settings_of(database))
    await until(lambda: '"ready"' in serving.log, "it says that it is ready")
    demo, log = serving.ready["demo"], serving.log
    for secret in ("password", "testKey", "liveKey"):
        assert demo[secret] not in log
    [ready] = [line for line in lines(log) if line["event"] == "ready"]
    assert ready["address"] == serving.address
    assert "tillhouse demo" in ready["demo"]
    assert await serving.stop() == 0
    lines(serving.log)


@pytest.mark.parametrize("is_terminal", [True, False])
async def test_the_demo_is_shown_to_a_terminal_or_when_asked(
    database: Embedded, tmp_path: Path, is_terminal: bool
) -> None:
    """On standard output, with lines to copy; the log beside it is JSON."""
    path = tmp_path / "out"
    leader, follower = pty.openpty() if is_terminal else (-1, os.open(path, os.O_CREAT | os.O_RDWR))
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen(  # noqa: ASYNC220 - it begins at once
        [*COMMAND, "serve", "--demo", *(() if is_terminal else ("--show-keys",))],
        env=environment(PORT="0", **settings_of(database)),
        stdin=subprocess.DEVNULL, stdout=follower, stderr=log,
    )  # fmt: skip
    said = b""
    try:
        if is_terminal:
            while said.count(b"curl -s") < 3:
                said += await asyncio.to_thread(os.read, leader, 65536)
        else:
            await until(lambda: path.read_bytes().count(b"curl -s") >= 3, "it shows the keys")
            said = path.read_bytes()
        assert b"Login: demo@tillhouse.example" in said
        assert b"Test key: thsk_test_" in said
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, HUNG_S) == 0
    finally:
        process.kill()
        for handle in (leader, follower):
            if handle >= 0:
                os.close(handle)
        log.close()
    text = (tmp_path / "log").read_text()
    assert "thsk_" not in text
    lines(text)


@pytest.mark.parametrize("is_silent", [False, True])
async def test_an_outage_is_told_once(
    database: Embedded, start: Start, session: aiohttp.ClientSession, is_silent: bool
) -> None:
    """Each process tells that the database is away, or silent, and back; no more, no traceback."""
    serving = await start(**settings_of(database))
    anybody = Client(session, serving.address)
    await until(lambda: "sender_started" in serving.log, "a process that sends")

    async def outage() -> None:
        await until(lambda: serving.log.count("database_away") >= 2, "both miss it")
        began = time.monotonic()

        async def is_over() -> bool:
            assert (await anybody.get("/livez")).status == 200
            await anybody.get("/readyz")
            return time.monotonic() - began > OUTAGE_S

        await looking(is_over)

    if is_silent:
        async with silent(database):
            await outage()
    else:
        os.kill(database.pid, signal.SIGQUIT)
        await outage()
        await asyncio.to_thread(database.ensure_running)
    await until(lambda: serving.log.count("database_back") >= 2, "both are back")
    assert await serving.stop() == 0
    counts = Counter(line["event"] for line in lines(serving.log) if line["event"] != "request")
    assert counts["database_away"] == counts["database_back"] == 2
    assert counts.keys() <= {"ready", "sender_started", "database_away", "database_back"}
    assert "Traceback" not in serving.log


async def test_a_start_waits_for_its_database(database: Embedded, tmp_path: Path) -> None:
    """By the setting, with one line; without it, the start ends with a sentence."""
    settings = settings_of(database, DATABASE_WAIT_S="120")
    await asyncio.to_thread(database.release)
    serving = Serving.start("--no-work", path=None, **settings)
    try:
        await until(lambda: "database_away" in serving.log, "it says so")
        back = await asyncio.to_thread(Embedded.start, tmp_path / "data")
        await serving.wait()
        events = [line["event"] for line in lines(serving.log)]
        assert [one for one in events if one.startswith("database_")] == [
            "database_away", "database_back"
        ]  # fmt: skip
        assert await serving.stop() == 0
        await asyncio.to_thread(back.release)
    finally:
        serving.kill()


async def test_a_full_disk_is_named(
    database: Embedded, start: Start, session: aiohttp.ClientSession
) -> None:
    """By the answer, by /readyz and once by the log; reads go on, and room is noticed."""
    serving = await start("--demo", "--no-work", **settings_of(database))
    anybody = Client(session, serving.address)
    user = anybody.as_bearer(serving.ready["demo"]["testKey"])
    connection = await asyncpg.connect(database.url)
    await connection.execute(_FULL)
    for number in range(3):
        body = {"name": f"Type {number}", "capacity": 2, "rate": 100}
        refused = await user.post(ROOM_TYPES, body, status=503)
        assert "lack of room" in refused.json["message"]
        assert int(refused.headers["retry-after"]) > 1
    ready = await anybody.get("/readyz", status=503)
    assert b"disk of the database is full" in ready.body
    await user.get(ROOM_TYPES, status=200)
    await connection.execute("DROP TRIGGER full_disk ON hotel_room_types")
    await connection.close()
    made = await user.post(ROOM_TYPES, {"name": "Again", "capacity": 2, "rate": 100}, status=201)
    path, rates = f"{ROOM_TYPES}/{made.data['id']}", iter(range(100, 100_000))

    async def has_room() -> bool:
        await user.patch(path, {"rate": next(rates)}, status=200)
        return (await anybody.get("/readyz")).status == 200

    await looking(has_room)
    assert await serving.stop() == 0
    events = [line["event"] for line in lines(serving.log)]
    assert events.count("database_disk_full") == events.count("database_disk_has_room") == 1
    assert "Traceback" not in serving.log


# As PostgreSQL says it when a table can't grow.
_FULL = """
    CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device'
            USING ERRCODE = 'disk_full';
    END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON hotel_room_types
        FOR EACH ROW EXECUTE FUNCTION fill_disk();
"""
