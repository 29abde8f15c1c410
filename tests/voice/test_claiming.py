"""Turns of the dispatcher: a campaign, or many numbers that wait, delay no other call."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from tests.make import Make
from tests.voice.desk import Desk, phone
from tillhouse.access.process import Services
from tillhouse.app import App
from tillhouse.kit.clock import now
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.voice.dispatching.dispatcher import AT_ONCE, Dispatcher, HurriedClock


class StillClock(HurriedClock):
    """Time that nobody waits for."""

    async def sleep(self, seconds: float) -> None:
        """Return at once, in the same moment."""


class HeldClock(HurriedClock):
    """Time in which nothing goes on until it is released: calls don't end."""

    def __init__(self, begins: datetime) -> None:
        super().__init__(begins)
        self._released = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Return once it is released."""
        await self._released.wait()

    def go_on(self, time: timedelta) -> None:
        """Let time pass for everybody but those who sleep."""
        self._now += time

    def release(self) -> None:
        """Wake all who sleep."""
        self._released.set()


@pytest.fixture
async def services(network_app: App) -> AsyncIterator[Services]:
    """Those of the application whose calls are made, with connections that nothing else counts."""
    pool = await network_app.services.pool.beside(size=8, planner={})
    yield msgspec.structs.replace(network_app.services, pool=pool)
    await pool.close()


def _dispatcher(services: Services) -> Dispatcher:
    return Dispatcher(services, {"simulator": Simulator()}, StillClock(now()))


async def _queue(services: Services, like: UUID, number: str, calls: int, due_at: datetime) -> None:
    """Copies of a call that wait for a number."""
    async with services.pool.transaction() as db:
        await db.execute(
            """
            INSERT INTO voice_calls (book_id, id, status, due_at, expires_at, number_id, agent_id,
                provider, customer_phone, purpose, metadata, max_attempts, created_at, updated_at)
            SELECT book_id, new_id(now()), 'queued', $4::timestamptz,
                $4::timestamptz + interval '1 day', $2, agent_id, provider, customer_phone,
                purpose, metadata, 1, now(), now()
            FROM voice_calls CROSS JOIN generate_series(1, $3) WHERE id = $1
            """,
            like,
            UUID(number),
            calls,
            due_at,
        )


def _closed_now() -> dict[str, str]:
    """An hour in Lagos that is not this one."""
    hour = (now() + timedelta(hours=1)).hour
    return {"from": f"{(hour + 12) % 23:02}:00", "until": f"{(hour + 12) % 23:02}:30"}


async def test_a_campaign_at_night_delays_no_other(caller: Desk, services: Services) -> None:
    """Its calls are put off a hundred at a time, and another number has its turn meanwhile."""
    asleep = await caller.number(calling_hours=_closed_now())
    awake = await caller.number()
    at = now()
    model = await caller.place(scheduled_for="2120-01-01T00:00:00Z")
    await _queue(services, UUID(model["id"]), asleep["id"], 2_500, at)
    placed = await caller.place(customer_phone=phone(), business_voice_number_id=awake["id"])
    dispatcher = _dispatcher(services)
    before = services.pool.statements
    assert await dispatcher.claim(), "there is more"
    spent = services.pool.statements - before
    call = await caller.call(placed["id"])
    assert call["status"] != "queued"
    async with services.pool.reading() as db:
        waiting = await db.fetchval(
            "SELECT count(*) FROM voice_calls WHERE number_id = $1 AND due_at <= $2",
            UUID(asleep["id"]),
            at,
        )
    assert 0 < waiting < 2_500
    assert spent < 150, f"{spent} statements for {2_500 - waiting} calls"
    while await dispatcher.claim():
        pass
    reasons = [one["queueReason"] for one in await _listed(caller, asleep["id"])]
    assert set(reasons) == {"quiet_hours"}
    await dispatcher.stop()
    await _forget(services, caller)


async def test_calls_at_night_are_looked_at_once(caller: Desk, services: Services) -> None:
    """Where all that are due were put off, their number isn't asked for another one."""
    asleep = await caller.number(calling_hours=_closed_now())
    model = await caller.place(scheduled_for="2120-01-01T00:00:00Z")
    await _queue(services, UUID(model["id"]), asleep["id"], 5, now())
    dispatcher = _dispatcher(services)
    before = services.pool.statements
    assert not await dispatcher.claim()
    # The numbers that wait; the number, its next call, those beside it, and their new times.
    assert services.pool.statements - before <= 1 + 4
    reasons = [one["queueReason"] for one in await _listed(caller, asleep["id"])]
    assert reasons == ["quiet_hours"] * 5
    await dispatcher.stop()
    await _forget(services, caller)


async def test_a_call_behind_many_numbers_is_dialled_at_once(
    caller: Desk, services: Services
) -> None:
    """Numbers whose calls have time are passed by, however many they are."""
    model = await caller.place(scheduled_for="2120-01-01T00:00:00Z")
    async with services.pool.transaction() as db:
        rows = await db.fetch(
            """
            INSERT INTO voice_numbers (book_id, id, phone_number, label, provider, status,
                max_concurrent_calls, calls_per_second, created_at, updated_at)
            SELECT book_id, new_id(now()), '+1555777' || lpad(n::text, 4, '0'), 'Line', provider,
                'active', 1, 1, now(), now()
            FROM voice_numbers CROSS JOIN generate_series(1, 450) n WHERE id = $1
            RETURNING id
            """,
            UUID(caller.number_id),
        )
    later = now() + timedelta(days=30)
    for row in rows:
        await _queue(services, UUID(model["id"]), str(row["id"]), 1, later)
    last = await caller.number()
    placed = await caller.place(customer_phone=phone(), business_voice_number_id=last["id"])
    dispatcher = _dispatcher(services)
    for _ in range(5):
        # A worker begins its next round at once as long as there is more.
        if not await dispatcher.claim():
            break
    assert (await caller.call(placed["id"]))["status"] != "queued"
    await dispatcher.stop()
    await _forget(services, caller)


async def test_calls_are_dialled_at_the_pace_of_their_number(
    caller: Desk, services: Services
) -> None:
    """As soon as it allows the next one, and not at the dispatcher's own pace."""
    line = await caller.number(calls_per_second=20, max_concurrent_calls=100)
    model = await caller.place(scheduled_for="2120-01-01T00:00:00Z")
    await _queue(services, UUID(model["id"]), line["id"], 30, now())
    dispatcher = _dispatcher(services)
    assert not await dispatcher.claim(), "the pace allows no second call now: no second look"
    assert dispatcher.calls == 1
    assert 0 < dispatcher.rest_s <= 0.05
    await dispatcher.stop()
    await _forget(services, caller)


async def test_a_long_campaign_leaves_places_for_other_businesses(
    caller: Desk, services: Services, network_app: App
) -> None:
    """Two hundred calls of one that don't end: the one call of another is dialled all the same."""
    line = await caller.number(calls_per_second=100, max_concurrent_calls=500)
    model = await caller.place(scheduled_for="2120-01-01T00:00:00Z")
    clock = HeldClock(now())
    await _queue(services, UUID(model["id"]), line["id"], 200, clock.now())
    dispatcher = Dispatcher(services, {"simulator": Simulator()}, clock)
    calls = -1
    while dispatcher.calls > calls:
        calls = dispatcher.calls
        clock.go_on(timedelta(seconds=1))
        while await dispatcher.claim():
            pass
    assert AT_ONCE // 2 < calls < AT_ONCE
    other = await Desk.open(await Make(network_app, services).business())
    placed = await other.place()
    clock.go_on(timedelta(seconds=1))
    while await dispatcher.claim():
        pass
    assert (await other.call(placed["id"]))["status"] == "dialing"
    assert dispatcher.calls == calls + 1
    clock.release()
    await dispatcher.stop()
    await _forget(services, caller)


async def test_numbers_that_are_paused_cost_a_look_alone(caller: Desk, services: Services) -> None:
    """However many calls wait for them, no transaction is begun for any."""
    model = await caller.place(scheduled_for="2120-01-01T00:00:00Z")
    async with services.pool.transaction() as db:
        rows = await db.fetch(
            """
            INSERT INTO voice_numbers (book_id, id, phone_number, label, provider, status,
                max_concurrent_calls, calls_per_second, created_at, updated_at)
            SELECT book_id, new_id(now()), '+1555888' || lpad(n::text, 4, '0'), 'Line', provider,
                'paused', 1, 1, now(), now()
            FROM voice_numbers CROSS JOIN generate_series(1, 60) n WHERE id = $1
            RETURNING id
            """,
            UUID(caller.number_id),
        )
    for row in rows:
        await _queue(services, UUID(model["id"]), str(row["id"]), 1, now())
    dispatcher = _dispatcher(services)
    while await dispatcher.claim():
        pass
    before = services.pool.statements
    await dispatcher.claim()
    assert services.pool.statements - before < 20
    await dispatcher.stop()
    await _forget(services, caller)


async def _listed(caller: Desk, number_id: str) -> list[dict]:  # type: ignore[type-arg]
    path = f"/v1/voice/calls?business_voice_number_id={number_id}&limit=100"
    return (await caller.api.get(path, status=200)).data


async def _forget(services: Services, caller: Desk) -> None:
    """Let nothing wait that another test would have to make."""
    async with services.pool.transaction() as db:
        await db.execute(
            """
            UPDATE voice_calls SET status = 'cancelled', ended_at = now(), lease_until = NULL
            WHERE status = 'queued' AND book_id = (
                SELECT book_id FROM voice_numbers WHERE id = $1)
            """,
            UUID(caller.number_id),
        )
