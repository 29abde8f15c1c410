"""A dispatcher is wanted while there are calls, and leaves a while after the last one."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Make
from tests.voice.desk import Desk
from tests.waiting import ended
from tillhouse.app import App
from tillhouse.kit.clock import iso, now
from tillhouse.voice.dispatching.waiting import has_calls, until_idle, until_there_are_calls


@pytest.fixture
async def alone(server_url: str, master_key: str) -> AsyncIterator[App]:
    """An application that makes no calls, on a database of its own."""
    async with (
        fresh_database(server_url, "tillhouse_waiting") as url,
        running(SETTINGS, url, master_key) as app,
    ):
        yield app


async def test_it_is_wanted_while_a_call_waits(alone: App) -> None:
    """From the moment that one is placed, also one of tomorrow, until it is over."""
    services = alone.services
    wanted = asyncio.create_task(until_there_are_calls(services)())
    assert not await has_calls(services)
    desk = await Desk.open(await Make(alone, services).business(currency="NGN", country="NG"))
    assert not wanted.done()
    call = await desk.place(scheduled_for=iso(now() + timedelta(hours=20)))
    await ended(wanted)
    looked = asyncio.Event()
    idle = asyncio.create_task(until_idle(services, 0.1, 0.01))
    asyncio.get_running_loop().call_later(0.5, looked.set)
    await looked.wait()
    assert not idle.done()
    await desk.api.post(f"/v1/voice/calls/{call['id']}/cancel", status=200)
    await ended(idle)
    assert not await has_calls(services)
