"""Campaigns on the simulated network, and what must be true of all their calls afterwards."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
import msgspec

from tillhouse.access.process import Services
from tillhouse.kit.ids import new_id
from tillhouse.voice.dispatching.rules import zones_of

_FIRST = UUID(int=0)
_FINAL = {"completed", "failed", "missed", "cancelled"}
_ENDINGS = ("0100", "0101", "0102", "0103", "0104", "0105", "0106", "0107", "0108", "0109",
            "0110", "0111", "0112", "0113", "0114", "0115")  # fmt: skip
# Of several zones, and of one without daylight saving; three digits and the ending follow.
_PREFIXES = ("+1212", "+1310", "+234803", "+44207", "+81312")


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Many calls to be made."""

    calls: int
    numbers: int = 5
    at_once: int = 8
    seed: int = 1
    # Due within so long.
    hours: float = 48


class Callers(msgspec.Struct, frozen=True):
    """The agents and the numbers of a campaign."""

    agent_ids: list[UUID]
    number_ids: list[UUID]


async def callers(services: Services, book_id: UUID, load: Load, at: datetime) -> Callers:
    """Agents with all scripts, and numbers with hours of calling."""
    agent_ids = await _agents(services, book_id, at)
    return Callers(agent_ids, await _numbers(services, book_id, load, at))


async def fill(
    services: Services, book_id: UUID, load: Load, at: datetime, made_by: Callers | None = None
) -> UUID:
    """Queue calls of every kind; all their ids and those of their events are above this one."""
    before = new_id()
    chance = random.Random(load.seed)  # noqa: S311 - the same calls each time
    made_by = made_by or await callers(services, book_id, load, at)
    agent_ids, number_ids = made_by.agent_ids, made_by.number_ids
    async with services.pool.transaction() as db:
        for begin in range(0, load.calls, 5_000):
            rows = [
                (
                    new_id(),
                    chance.choice(number_ids),
                    chance.choice(agent_ids),
                    _phone(chance),
                    at + timedelta(seconds=chance.randrange(round(load.hours * 3_600))),
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
    return before


def _phone(chance: random.Random) -> str:
    return chance.choice(_PREFIXES) + f"{chance.randrange(200, 1000)}" + chance.choice(_ENDINGS)


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


async def faults(services: Services, book_id: UUID, after: UUID = _FIRST) -> list[str]:
    """Everything that is not as it must be once all calls have ended; of those after an id."""
    async with services.pool.reading() as db:
        calls = {row["id"]: row for row in await db.fetch(_CALLS, book_id, after)}
        attempts = await db.fetch(_ATTEMPTS, book_id, after)
        events = await db.fetch(_EVENTS, book_id, after)
        late = await db.fetchval(_DIALLED_THOUGH_SUPPRESSED, book_id, after)
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
    found += [f"{late} calls of people who are not called"] * bool(late)
    return [*found, *_of_hours(attempts)]


async def tally_faults(services: Services, book_id: UUID) -> list[str]:
    """The kinds of calls whose tallies differ from what a scan of all calls counts."""
    async with services.pool.reading() as db:
        untallied = await db.fetchval(_UNTALLIED, book_id)
    return [f"{untallied} kinds of calls that the tallies don't know"] * bool(untallied)


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
    FROM voice_calls WHERE book_id = $1 AND id > $2
"""
_ATTEMPTS = """
    SELECT a.call_id, a.number, a.started_at, a.ended_at, a.result, c.number_id,
        c.customer_phone, n.max_concurrent_calls, n.calls_per_second, b.time_zone
    FROM voice_attempts a
    JOIN voice_calls c ON c.book_id = a.book_id AND c.id = a.call_id
    JOIN voice_numbers n ON n.book_id = c.book_id AND n.id = c.number_id
    JOIN books k ON k.id = a.book_id JOIN businesses b ON b.id = k.business_id
    WHERE a.book_id = $1 AND a.call_id > $2 ORDER BY a.call_id, a.number
"""
_EVENTS = """
    SELECT type, payload::jsonb -> 'data' ->> 'callId' AS call_id FROM webhook_events
    WHERE book_id = $1 AND id > $2 AND type LIKE 'voice.call.%' ORDER BY id
"""


_DIALLED_THOUGH_SUPPRESSED = """
    SELECT count(*) FROM voice_attempts a
    JOIN voice_calls c ON c.book_id = a.book_id AND c.id = a.call_id
    JOIN voice_suppressions s ON s.book_id = c.book_id AND s.phone_number = c.customer_phone
    JOIN voice_calls said ON said.book_id = s.book_id AND said.id = s.call_id
    WHERE a.book_id = $1 AND a.call_id > $2 AND a.started_at > said.ended_at
"""
_UNTALLIED = """
    SELECT count(*) FROM (
        SELECT p.period, status, number_id, agent_id, ended_reason, count(*) AS calls
        FROM voice_calls CROSS JOIN unnest('{ever,month,day}'::text[]) p (period)
        WHERE book_id = $1 GROUP BY 1, 2, 3, 4, 5
    ) c FULL JOIN (
        SELECT period, status, number_id, agent_id, ended_reason, sum(calls) AS calls
        FROM voice_call_tallies WHERE book_id = $1 GROUP BY 1, 2, 3, 4, 5
    ) t USING (period, status, number_id, agent_id, ended_reason)
    WHERE coalesce(c.calls, 0) <> coalesce(t.calls, 0)
"""


async def results(services: Services, book_id: UUID, after: UUID = _FIRST) -> Mapping[str, int]:
    """How many calls ended how; of those after an id."""
    async with services.pool.reading() as db:
        rows = await db.fetch(
            """
            SELECT status || ' ' || ended_reason AS how, count(*) AS calls FROM voice_calls
            WHERE book_id = $1 AND id > $2 GROUP BY 1
            """,
            book_id,
            after,
        )
    return Counter({row["how"]: row["calls"] for row in rows})
