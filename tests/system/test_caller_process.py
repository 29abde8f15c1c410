"""The process that makes calls: there while there are calls, replaced when it dies."""

import os
import re
import signal
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from tests.conftest import fresh_database
from tests.make import Business
from tests.system.client import Client, register
from tests.system.serving import Serving, children, report, until
from tests.voice.desk import AGENTS, CALLS, NUMBERS, SCOPES, Desk, phone
from tests.webhooks.shop import until as seen

CALLS_BY = "tillhouse.cli.calling"
EVENTS = "voice.call.started,voice.call.completed,voice.call.failed"


@pytest.fixture
async def serving(server_url: str, master_key: str) -> AsyncIterator[Serving]:
    """A server, on a database whose calls nobody else makes."""
    async with fresh_database(server_url, "tillhouse_caller") as url:
        made = await Serving.up(DATABASE_URL=url, MASTER_KEY=master_key)
        yield made
        if made.process.returncode is None:
            await made.stop()
        made.kill()


@pytest.fixture
async def desk(serving: Serving) -> AsyncIterator[Desk]:
    """A business that calls."""
    async with aiohttp.ClientSession() as session:
        yield await Desk.open(await register(Client(session, serving.address)))


async def _caller(serving: Serving, *, after: int = 0) -> int:
    await until(lambda: bool(set(children(serving.pid, CALLS_BY)) - {after}), "it is there")
    [pid] = children(serving.pid, CALLS_BY)
    return pid


async def _until(desk: Desk, call_id: str, *statuses: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        call = await desk.call(call_id)
        return call if call["status"] in statuses else None

    return await seen(look)


async def _told(desk: Desk, call_id: str) -> list[str]:
    headers = {"service-environment": "test"}
    path = f"/v1/events/stream?events={EVENTS}"
    told = (await desk.business.owner.get(path, headers=headers, status=200)).data
    return [one["type"] for one in told if one["data"]["callId"] == call_id]


async def test_it_is_started_for_a_call_and_ends_with_its_server(
    serving: Serving, desk: Desk
) -> None:
    """A server without calls has none; the second call finds it there."""
    assert children(serving.pid, CALLS_BY) == []
    began = time.monotonic()
    first = await desk.place(customer_phone=phone("0101"))
    assert (await _until(desk, first["id"], "missed"))["endedReason"] == "busy"
    report(f"the first call was over after {time.monotonic() - began:.2f} s")
    caller = await _caller(serving)
    began = time.monotonic()
    second = await desk.place(customer_phone=phone("0101"))
    await _until(desk, second["id"], "missed")
    report(f"the second after {time.monotonic() - began:.2f} s")
    assert await _caller(serving) == caller
    assert await serving.stop() == 0
    await until(lambda: not os.path.exists(f"/proc/{caller}"), "its end")  # noqa: PTH110


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_calls_of_one_that_dies_end_once(
    serving: Serving, desk: Desk, number: signal.Signals
) -> None:
    """Nobody is dialled again, one event tells of it, and the slot is free for the next call."""
    path = f"{NUMBERS}/{desk.number_id}"
    ringing = await desk.place(customer_phone=phone("0102"))
    await _until(desk, ringing["id"], "ringing")
    caller = await _caller(serving)
    os.kill(caller, number)
    began = time.monotonic()
    over = await _until(desk, ringing["id"], "failed", "missed", "completed")
    report(f"{number.name}: reconciled after {time.monotonic() - began:.1f} s")
    assert (over["status"], over["endedReason"]) == ("failed", "outcome_unknown")
    assert [one["result"] for one in over["attempts"]] == ["outcome_unknown"]
    assert (await desk.api.get(path, status=200)).data["activeCalls"] == 0
    assert await _caller(serving, after=caller) != caller
    after = await desk.place(customer_phone=phone("0101"))
    await _until(desk, after["id"], "missed")
    assert await _told(desk, ringing["id"]) == ["voice.call.failed"]
    call = (await desk.api.get(f"{CALLS}/{ringing['id']}", status=200)).data
    assert call["status"] == "failed"


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_its_counts_are_among_the_metrics(
    server_url: str, master_key: str, workers: str
) -> None:
    """Calls by SIP and their packets, whichever process is asked."""
    given = {"MASTER_KEY": master_key, "VOICE_ALLOW_TARGETS": "127.0.0.1"}
    async with (
        fresh_database(server_url, "tillhouse_counts") as url,
        aiohttp.ClientSession() as session,
    ):
        serving = await Serving.up("--workers", workers, DATABASE_URL=url, **given)
        try:
            anybody = Client(session, serving.address)
            desk = await _live_desk(await register(anybody))
            call = await desk.place(max_attempts=1)
            over = await _until(desk, call["id"], "failed")
            assert over["endedReason"] == "network", "nobody listens on that port"

            async def are_told() -> bool:
                told = (await anybody.get("/metrics", status=200)).body.decode()
                pattern = r'telephone_total\{count="calls",provider="sip"\} ([0-9.]+)'
                return [float(count) for count in re.findall(pattern, told)] == [1.0]

            await seen(are_told)
            assert await serving.stop() == 0
        finally:
            serving.kill()


async def _live_desk(business: Business) -> Desk:
    api = await business.client(*SCOPES, environment="live")
    number = {
        "phone_number": "+14155550100", "label": "Line", "provider": "sip",
        "settings": {"host": "127.0.0.1", "port": "9"}, "calling_hours": None,
    }  # fmt: skip
    made = (await api.post(NUMBERS, number, status=201)).data
    agent = (await api.post(AGENTS, {"name": "Ada"}, status=201)).data
    return Desk(business, api, made["id"], agent["id"])
