"""A server dies with the process that makes its calls: the next one ends them, each once."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.make import Business
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.serving import children, report
from tests.voice.desk import AGENTS, CALLS, NUMBERS, SCOPES, phone
from tests.waiting import within
from tests.webhooks.shop import until as seen
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded

_UNDER_WAY = {"dialing", "ringing", "in_progress"}
_ENDS = ("voice.call.completed", "voice.call.failed")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Embedded]:
    """A PostgreSQL that outlives the server and the process that calls."""
    server = await asyncio.to_thread(Embedded.start, tmp_path / "data")
    yield server
    await asyncio.to_thread(server.release)


async def test_calls_of_a_killed_process_end_once(
    database: Embedded, start: Start, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    """In each phase; what waited is dialled by the next server."""
    settings = {
        "DATABASE_URL": database.url, "MASTER_KEY": new_master_key(), "DATA": str(tmp_path / "own"),
    }  # fmt: skip
    serving = await start(**settings)
    business = await register(Client(session, serving.address))
    api = await business.client(*SCOPES)
    await _call_until(api, _UNDER_WAY)
    for pid in [serving.pid, *children(serving.pid)]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    killed_at = time.monotonic()
    again = await start(**settings)
    api = api.at(again.address)
    lost = {one["id"] for one in await _calls(api) if one["status"] in _UNDER_WAY}
    await _until_ended(api, lost)
    report(f"ended {time.monotonic() - killed_at:.1f} s after the kill")
    await _until_ended(api, {one["id"] for one in await _calls(api)})
    told = await _told(business, again.address)
    for one in await _calls(api):
        wanted = ("failed", "outcome_unknown") if one["id"] in lost else ("completed",)
        assert (one["status"], one["endedReason"])[: len(wanted)] == wanted, one
        assert (one["attempt"], len(one["attempts"])) == (1, 1)
        assert told.count(one["id"]) == 1
    assert [one["activeCalls"] for one in (await api.get(NUMBERS, status=200)).data] == [0, 0]


async def _call_until(api: Any, phases: set[str]) -> None:
    """Place calls until there is one in each of these phases."""
    # With slots for all of them, so that there are some that are dialled and some that talk.
    wanted = {
        "phone_number": "+15550110001", "label": "Line", "max_concurrent_calls": 50,
        "calls_per_second": 10, "calling_hours": None,
    }  # fmt: skip
    number = (await api.post(NUMBERS, wanted, status=201)).data
    [agent] = (await api.get(AGENTS, status=200)).data
    async with within():
        while not phases <= {one["status"] for one in await _calls(api)}:
            body = {
                "customer_phone": phone(), "purpose": "Confirm the order",
                "business_voice_number_id": number["id"], "ai_agent_id": agent["id"],
            }  # fmt: skip
            await api.post(CALLS, body, status=202)
            await asyncio.sleep(0.3)


async def _until_ended(api: Any, call_ids: set[str]) -> None:
    async def have_ended() -> bool:
        return all(one["endedAt"] for one in await _calls(api) if one["id"] in call_ids)

    await seen(have_ended)


async def _calls(api: Any) -> list[dict[str, Any]]:
    return (await api.get(f"{CALLS}?limit=100", status=200)).data


async def _told(business: Business, address: str) -> list[str]:
    """The calls whose end was told, as often as it was."""
    path = f"/v1/events/stream?events={','.join(_ENDS)}"
    owner = business.owner.at(address)  # type: ignore[attr-defined]
    headers = {"service-environment": "test"}
    return [one["data"]["callId"] for one in (await owner.get(path, headers=headers)).data]
