"""Simulated calls in virtual time, and what must be true of all of them afterwards.

`python -m tests.voice.virtual --calls 100000` makes as many and prints how long it took.
"""

import argparse
import asyncio
import heapq
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
import msgspec

from tests.waiting import within
from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.access.store.audit import open_chain
from tillhouse.access.vault import new_master_key
from tillhouse.app import compose
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId, new_id
from tillhouse.providers.telephony.provider import Telephone
from tillhouse.providers.telephony.simulator.telephone import Simulator
from tillhouse.settings import from_env
from tillhouse.voice.dispatching.dispatcher import Dispatcher
from tillhouse.voice.dispatching.rules import zones_of

_CLAIMS_APART = timedelta(milliseconds=200)
_WATCHES_APART = timedelta(seconds=1)
_FINAL = {"completed", "failed", "missed", "cancelled"}
_ENDINGS = ("0100", "0101", "0102", "0103", "0104", "0105", "0106", "0107", "0108", "0109",
            "0110", "0111", "0112", "0113", "0114", "0115")  # fmt: skip
# Of several zones, and of one without daylight saving.
_PREFIXES = ("+1212555", "+1310555", "+23480300", "+44207946", "+81312340")


class VirtualClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, begins: datetime) -> None:
        self._now = begins
        self._sleeping: list[tuple[datetime, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        """This moment."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Return once the clock has gone on so far."""
        woken = asyncio.get_running_loop().create_future()
        self._count += 1
        at = self._now + timedelta(seconds=max(0.0, seconds))
        heapq.heappush(self._sleeping, (at, self._count, woken))
        await woken

    @property
    def sleeping(self) -> int:
        """How many wait."""
        return len(self._sleeping)

    def go_on(self) -> None:
        """Go to the next moment for which somebody waits."""
        at = self._sleeping[0][0]
        self._now = max(self._now, at)
        while self._sleeping and self._sleeping[0][0] <= at:
            woken = heapq.heappop(self._sleeping)[2]
            if not woken.done():
                woken.set_result(None)

    def jump(self, at: datetime) -> None:
        """Go to a moment at which nobody is woken."""
        self._now = max(self._now, at)


class Network:
    """A dispatcher on a virtual clock."""

    def __init__(
        self, services: Services, clock: VirtualClock, telephone: Telephone | None = None
    ) -> None:
        self._services = services
        self.clock = clock
        self.dispatcher = Dispatcher(services, {"simulator": telephone or Simulator()}, clock)

    async def run(self) -> None:
        """Let time pass until every call has ended."""
        claimed_at = watched_at = self.clock.now() - _WATCHES_APART
        while True:
            at = self.clock.now()
            if at - claimed_at >= _CLAIMS_APART:
                while await self.dispatcher.claim():
                    pass
                claimed_at = at
            if at - watched_at >= _WATCHES_APART:
                await self.dispatcher.watch()
                while await self.dispatcher.reconcile():
                    pass
                watched_at = at
            await self._settle()
            if self.clock.sleeping:
                self.clock.go_on()
            elif not await self._jump(at):
                return

    async def _settle(self) -> None:
        """Wait until each call sleeps, or has ended."""
        while self.dispatcher.calls > self.clock.sleeping:  # noqa: ASYNC110 - they wait for a server
            await asyncio.sleep(0.0005)

    async def _jump(self, at: datetime) -> bool:
        """Go to the moment at which the next call is due; False when none is left."""
        async with self._services.pool.reading() as db:
            due_at = await db.fetchval(
                """
                SELECT min(at) FROM (
                    SELECT least(greatest(c.due_at, n.next_dial_at), c.expires_at) AS at
                    FROM voice_calls c
                    JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
                    WHERE c.status = 'queued' AND n.status = 'active'
                    UNION ALL
                    SELECT lease_until FROM voice_calls WHERE lease_until IS NOT NULL
                ) moments
                """
            )
        if due_at is None:
            return False
        self.clock.jump(max(due_at, at + _CLAIMS_APART))
        return True


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Many calls to be made."""

    calls: int
    numbers: int = 5
    at_once: int = 8
    seed: int = 1


async def fill(services: Services, book_id: UUID, load: Load, at: datetime) -> None:
    """Queue calls of every kind, over two days, from numbers with hours of their own."""
    chance = random.Random(load.seed)  # noqa: S311 - the same calls each time
    agent_ids = await _agents(services, book_id, at)
    number_ids = await _numbers(services, book_id, load, at)
    async with services.pool.transaction() as db:
        for begin in range(0, load.calls, 5_000):
            rows = [
                (
                    new_id(),
                    chance.choice(number_ids),
                    chance.choice(agent_ids),
                    _phone(chance),
                    at + timedelta(seconds=chance.randrange(2 * 86_400)),
                    chance.randrange(1, 4),
                )
                for _ in range(begin, min(begin + 5_000, load.calls))
            ]
            await db.execute(
                """
                INSERT INTO voice_calls (book_id, id, status, queue_reason, due_at, expires_at,
                    number_id, agent_id, provider, customer_phone, purpose, metadata,
                    max_attempts, created_at, updated_at)
                SELECT $1, id, 'queued', 'scheduled', due_at, due_at + interval '2 days', number_id,
                    agent_id, 'simulator', phone, 'Confirm the order', '{}', attempts, $8, $8
                FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::timestamptz[],
                    $7::integer[]) q (id, number_id, agent_id, phone, due_at, attempts)
                """,
                book_id,
                *(list(column) for column in zip(*rows, strict=True)),
                at,
            )


def _phone(chance: random.Random) -> str:
    prefix = chance.choice(_PREFIXES)
    return prefix + chance.choice(_ENDINGS)


async def _agents(services: Services, book_id: UUID, at: datetime) -> list[UUID]:
    scripts = ("payment_reminder", "order_confirmation", "reservation_confirmation", "feedback")
    async with services.pool.transaction() as db:
        rows = await db.fetch(
            """
            INSERT INTO voice_agents (book_id, id, name, status, language, tone, script, tools,
                disclosure, is_recording, voicemail_action, max_duration_s, ring_timeout_s,
                silence_timeout_s, max_attempts, retry_delay_s, created_at, updated_at)
            SELECT $1, new_id($3), script, 'active', 'en', 'warm', script, '{find_order}',
                'This is an automated call.', false, 'leave_message', 120, 20, 4, 3, 600, $3, $3
            FROM unnest($2::text[]) script RETURNING id
            """,
            book_id,
            list(scripts),
            at,
        )
    return [row["id"] for row in rows]


async def _numbers(services: Services, book_id: UUID, load: Load, at: datetime) -> list[UUID]:
    async with services.pool.transaction() as db:
        rows = await db.fetch(
            """
            INSERT INTO voice_numbers (book_id, id, phone_number, label, provider, status,
                max_concurrent_calls, calls_per_second, calls_from, calls_until, created_at,
                updated_at)
            SELECT $1, new_id($2), '+1555020' || lpad(n::text, 4, '0'), 'Line', 'simulator',
                'active', $4, 1 + n % 3, '08:00', '21:00', $2, $2
            FROM generate_series(1, $3) n RETURNING id
            """,
            book_id,
            at,
            load.numbers,
            load.at_once,
        )
    return [row["id"] for row in rows]


async def faults(services: Services, book_id: UUID) -> list[str]:
    """Everything that is not as it must be once all calls have ended."""
    async with services.pool.reading() as db:
        calls = {row["id"]: row for row in await db.fetch(_CALLS, book_id)}
        attempts = await db.fetch(_ATTEMPTS, book_id)
        events = await db.fetch(_EVENTS, book_id)
    of_call: dict[UUID, list[asyncpg.Record]] = defaultdict(list)
    of_number: dict[UUID, list[asyncpg.Record]] = defaultdict(list)
    for attempt in attempts:
        of_call[attempt["call_id"]].append(attempt)
        of_number[attempt["number_id"]].append(attempt)
    told: dict[UUID, list[asyncpg.Record]] = defaultdict(list)
    for event in events:
        told[UUID(event["call_id"])].append(event)
    found: list[str] = []
    for call_id, call in calls.items():
        found += _of_call(call, of_call[call_id], told[call_id])
    for made in of_number.values():
        found += [*_of_slots(made), *_of_pace(made)]
    return [*found, *_of_hours(attempts)]


def _of_call(
    call: asyncpg.Record, attempts: Sequence[asyncpg.Record], told: Sequence[asyncpg.Record]
) -> Iterator[str]:
    name = f"call {call['id']} ({call['customer_phone'][-4:]})"
    if call["status"] not in _FINAL or call["lease_until"] is not None:
        yield f"{name}: is {call['status']}, its lease {call['lease_until']}"
    numbers = [attempt["number"] for attempt in attempts]
    if numbers != list(range(1, call["attempt"] + 1)) or len(numbers) > call["max_attempts"]:
        yield f"{name}: attempts {numbers} of {call['max_attempts']}"
    for earlier, later in pairwise(attempts):
        if later["started_at"] < earlier["ended_at"] + timedelta(seconds=600):
            yield f"{name}: tried again too early"
        if earlier["result"] in ("hung_up", "declined", "max_duration", "media_lost", "unwanted"):
            yield f"{name}: tried again after {earlier['result']}"
    types = [event["type"].removeprefix("voice.") for event in told]
    wanted = ["call.started"] if call["answered_at"] is not None else []
    wanted += ["call.completed" if call["status"] == "completed" else "call.failed"]
    if types != wanted:
        yield f"{name}: told {types}, not {wanted}"


def _of_slots(made: Sequence[asyncpg.Record]) -> Iterator[str]:
    """The ends come first: a slot that is freed is taken in the same moment."""
    moments = sorted(
        [(one["ended_at"], -1) for one in made] + [(one["started_at"], 1) for one in made]
    )
    busy = 0
    for at, change in moments:
        busy += change
        if busy > made[0]["max_concurrent_calls"]:
            yield f"number {made[0]['number_id']}: {busy} calls at {at}"


def _of_pace(made: Sequence[asyncpg.Record]) -> Iterator[str]:
    apart = timedelta(milliseconds=1000 // made[0]["calls_per_second"])
    starts = sorted(one["started_at"] for one in made)
    for earlier, later in pairwise(starts):
        if later - earlier < apart:
            yield f"number {made[0]['number_id']}: dialled {later - earlier} apart"


def _of_hours(attempts: Sequence[asyncpg.Record]) -> Iterator[str]:
    for one in attempts:
        for zone in zones_of(one["customer_phone"], one["time_zone"]):
            local = one["started_at"].astimezone(ZoneInfo(zone)).strftime("%H:%M")
            if not "08:00" <= local < "21:00":
                yield f"{one['customer_phone']}: called at {local} of {zone}"


_CALLS = """
    SELECT id, status, lease_until, attempt, max_attempts, answered_at, customer_phone
    FROM voice_calls WHERE book_id = $1
"""
_ATTEMPTS = """
    SELECT a.call_id, a.number, a.started_at, a.ended_at, a.result, c.number_id,
        c.customer_phone, n.max_concurrent_calls, n.calls_per_second, b.time_zone
    FROM voice_attempts a
    JOIN voice_calls c ON c.book_id = a.book_id AND c.id = a.call_id
    JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
    JOIN books k ON k.id = a.book_id JOIN businesses b ON b.id = k.business_id
    WHERE a.book_id = $1 ORDER BY a.call_id, a.number
"""
_EVENTS = """
    SELECT type, payload::jsonb -> 'data' ->> 'callId' AS call_id FROM webhook_events
    WHERE book_id = $1 AND type LIKE 'voice.call.%' ORDER BY id
"""


async def results(services: Services, book_id: UUID) -> Mapping[str, int]:
    """How many calls ended how."""
    async with services.pool.reading() as db:
        rows = await db.fetch(
            """
            SELECT status || ' ' || ended_reason AS how, count(*) AS calls FROM voice_calls
            WHERE book_id = $1 GROUP BY 1
            """,
            book_id,
        )
    return Counter({row["how"]: row["calls"] for row in rows})


async def _main(calls: int) -> int:
    with tempfile.TemporaryDirectory(prefix="tillhouse-virtual-") as folder:
        server = Embedded.start(Path(folder) / "db")
        try:
            return await _measure(server.url, Path(folder), calls)
        finally:
            server.release()


async def _measure(url: str, folder: Path, calls: int) -> int:
    connection = await asyncpg.connect(url)
    await migrate(connection)
    await connection.close()
    settings = msgspec.structs.replace(from_env({}), data=folder)
    services = await connect_services(settings, compose().declared, url, new_master_key())
    book_id = await _book(services)
    clock = VirtualClock(now())
    load = Load(calls=calls, numbers=25, at_once=10)
    await fill(services, book_id, load, clock.now())
    network = Network(services, clock)
    began_s, began = time.monotonic(), clock.now()
    async with within(24 * 3600):
        await network.run()
    took_s = time.monotonic() - began_s
    wrong = await faults(services, book_id)
    out = sys.stdout.write
    out(f"{calls} calls, {clock.now() - began} of virtual time, in {took_s:.0f} s\n")
    for how, count in sorted((await results(services, book_id)).items()):
        out(f"  {count:>7} {how}\n")
    out("\n".join([f"{len(wrong)} faults", *wrong[:20]]) + "\n")
    await close_services(services)
    return bool(wrong)


async def _book(services: Services) -> UUID:
    business_id, test, live = new_id(), new_id(), new_id()
    async with services.pool.transaction() as db:
        await db.execute(
            """
            WITH business AS (
                INSERT INTO businesses (id, name, type, currency, time_zone, country,
                    master_version, wrapped_data_key, created_at, updated_at)
                VALUES ($1, 'Virtual', 'retail', 'USD', 'UTC', 'US', $4, $5, now(), now())
            )
            INSERT INTO books (id, business_id, environment)
            VALUES ($2, $1, 'test'), ($3, $1, 'live')
            """,
            business_id,
            test,
            live,
            services.vault.master_version,
            services.vault.new_data_key(BusinessId(business_id)),
        )
        await open_chain(db, BusinessId(business_id))
    return test


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.voice.virtual", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    sys.exit(asyncio.run(_main(parser.parse_args().calls)))
