"""The list of calls of a small and of a large book: every filter alone, and some together."""

import argparse
import math
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
from rich.console import Console

from bench import world
from bench.kept import Plan, kept_book
from bench.lists import Client, Timing, report

SMALL = 10_000
CALLS = "/v1/voice/calls"
_MS_MAX = 25.0
# Far from the newest, what no key is for, and searches.
_OTHER_MS_MAX = 200.0


def measure(options: argparse.Namespace) -> None:
    """Measure both books one after the other, and print a table."""
    found: dict[int, dict[str, Timing]] = {}
    for rows in sorted({SMALL, options.rows or SMALL}):
        with (
            kept_book(Path(options.books), _PLAN, rows) as book,
            world.server("tillhouse", book.url, **book.settings) as port,
        ):
            client = Client(port, book.token)
            found[rows] = {name: client.time(CALLS, q) for name, q in _queries(client).items()}
    report(Console(width=140), found, _most)


def _most(name: str) -> float:
    """The bar of a query."""
    is_other = any(word in name for word in ("page", " + ", "name"))
    return _OTHER_MS_MAX if is_other else _MS_MAX


def _queries(client: Client) -> dict[str, dict[str, Any]]:
    """Queries by name; their values are taken from calls of the book."""
    first = client.get(f"{CALLS}?limit=100")
    pages = math.ceil(first["meta"]["total"] / 50)
    some = client.get(f"{CALLS}?limit=100&page={pages // 4}")["data"]
    one = next(call for call in some if call["customer"]["id"])
    agent, number = one["agent"]["id"], one["voiceNumber"]["id"]
    year = int(first["data"][0]["createdAt"][:4])
    month = {"start_date": f"{year - 1}-03-01", "end_date": f"{year - 1}-03-31"}
    name = one["customer"]["name"]
    return {
        "the newest 50": {}, "limit 100": {"limit": 100},
        **{f"status={status}": {"status": status} for status in (
            "queued", "in_progress", "completed", "failed", "missed", "cancelled",
            "failed,missed")},
        "direction": {"direction": "outbound"},
        "of an agent": {"ai_agent_id": agent},
        "from a number": {"business_voice_number_id": number},
        "to a telephone": {"customer_phone": one["customer"]["phoneNumber"]},
        "to a customer": {"customer_id": one["customer"]["id"]},
        "a month": month, "a year": {
            "start_date": f"{year - 1}-01-01", "end_date": f"{year - 1}-12-31"},
        "since a moment": {"start_date": f"{year - 2}-06-15T10:30:00Z"},
        "frequent reason": {"ended_reason": "agent_hangup"},
        "rare reason": {"ended_reason": "codec"},
        "whole name": {"search": name}, "first name": {"search": name.split()[0]},
        "rare word of a purpose": {"search": "refund"}, "no such word": {"search": "zzzz"},
        "agent + status": {"ai_agent_id": agent, "status": "failed"},
        "number + rare reason": {"business_voice_number_id": number, "ended_reason": "codec"},
        "agent + number + a month": {
            "ai_agent_id": agent, "business_voice_number_id": number, **month},
        "first name + status": {"search": name.split()[0], "status": "missed"},
        "middle page": {"page": max(1, pages // 2)}, "last page": {"page": pages},
        "middle page of completed": {"status": "completed", "page": max(1, pages // 3)},
        "middle page of an agent": {"ai_agent_id": agent, "page": max(1, pages // 10)},
        "common word": {"search": "confirm"}, "a common letter": {"search": "c"},
        "common word + a month": {"search": "confirm", **month},
    }  # fmt: skip


async def _fill(connection: asyncpg.Connection, book_id: UUID, rows: int) -> None:
    """Calls of three years, the newest of today; a hundredth waits."""
    for statement in _FILLING:
        await connection.execute(statement, book_id, rows)


_MORE_AGENTS = """
    INSERT INTO voice_agents (book_id, id, name, status, language, tone, script, tools, disclosure,
        is_recording, voicemail_action, max_duration_s, ring_timeout_s, silence_timeout_s,
        max_attempts, retry_delay_s, created_at, updated_at)
    SELECT a.book_id, new_id(now()), 'Agent ' || n, 'active', 'en', 'warm', a.script, a.tools,
        a.disclosure, true, 'hang_up', 600, 30, 10, 1, 300, now(), now()
    FROM voice_agents a CROSS JOIN generate_series(2, 6) n WHERE a.book_id = $1 AND $2 > 0
"""
_MORE_NUMBERS = """
    INSERT INTO voice_numbers (book_id, id, phone_number, label, provider, status,
        max_concurrent_calls, calls_per_second, created_at, updated_at)
    SELECT n.book_id, new_id(now()), '+1555012000' || i, 'Line ' || i, 'simulator', 'active', 1, 1,
        now(), now()
    FROM voice_numbers n CROSS JOIN generate_series(1, 4) i WHERE n.book_id = $1 AND $2 > 0
"""
_CUSTOMERS = """
    INSERT INTO customers (book_id, id, name, phone_number, created_at, updated_at)
    SELECT $1, new_id(now()),
        (ARRAY['Ada', 'Bola', 'Chidi', 'Dayo', 'Emeka', 'Fatima', 'Grace', 'Halima', 'Ife',
            'Jide'])[1 + n % 10] || ' '
            || (ARRAY['Ahmed', 'Bello', 'Cole', 'Danjuma', 'Eze', 'Falana', 'Garba', 'Hassan',
            'Idowu', 'Johnson'])[1 + n / 10 % 10] || ' ' || substr(md5(n::text), 1, 5),
        '+234803' || lpad(n::text, 7, '0'), now(), now()
    FROM generate_series(1, $2::integer / 50) n
"""
_CALLS = """
    WITH kinds AS (
        SELECT array_agg(id ORDER BY id) AS ids,
            (SELECT array_agg(id ORDER BY id) FROM voice_numbers WHERE book_id = $1) AS number_ids
        FROM voice_agents WHERE book_id = $1
    ), people AS (
        SELECT id, name, phone_number, row_number() OVER (ORDER BY phone_number) AS place
        FROM customers WHERE book_id = $1
    ), drawn AS (
        SELECT n, hashint8(n) & 1023 AS chance, hashint8(n * 7) & 65535 AS other,
            now() - interval '3 years' * ((($2)::integer - n)::float8 / $2) AS at
        FROM generate_series(1, ($2)::integer) n
    ), ended AS (
        SELECT d.*, CASE
            WHEN chance < 10 AND n > $2 * 0.98 THEN 'queued' WHEN chance < 500 THEN 'agent_hangup'
            WHEN chance < 700 THEN 'customer_hangup' WHEN chance < 750 THEN 'voicemail'
            WHEN chance < 850 THEN 'no_answer' WHEN chance < 920 THEN 'busy'
            WHEN chance < 950 THEN 'declined' WHEN chance < 980 THEN 'provider_unavailable'
            WHEN chance < 1000 THEN 'invalid_destination' WHEN chance < 1010 THEN 'media_lost'
            WHEN chance < 1015 THEN 'cancelled' WHEN other < 60 THEN 'codec' ELSE 'expired' END
            AS reason
        FROM drawn d
    )
    INSERT INTO voice_calls (book_id, id, status, queue_reason, due_at, expires_at, number_id,
        agent_id, provider, customer_id, customer_name, customer_phone, purpose, context, metadata,
        attempt, max_attempts, dialed_at, answered_at, ended_at, duration_seconds, ended_reason,
        ended_by, answered_by, outcome_code, outcome, created_at, updated_at)
    SELECT $1, new_id(e.at), s.status, CASE s.status WHEN 'queued' THEN 'scheduled' END,
        e.at + interval '1000 years', e.at + interval '1001 years',
        k.number_ids[1 + e.other % 5], k.ids[1 + e.other % 6], 'simulator', p.id, p.name,
        p.phone_number, (ARRAY['Confirm the order of tomorrow', 'Confirm the reservation',
            'Remind of the payment that is owed', 'Ask how the delivery went'])[1 + e.other % 4]
            || CASE WHEN e.other < 20 THEN ', and of the refund' ELSE '' END,
        'Two cakes at 10:00', '{}', 1, 1, e.at, CASE s.status WHEN 'completed' THEN e.at END,
        CASE WHEN s.status <> 'queued' THEN e.at + interval '1 minute' END,
        CASE s.status WHEN 'completed' THEN 30 ELSE 0 END,
        CASE WHEN s.status <> 'queued' THEN e.reason END,
        CASE WHEN s.status <> 'queued' THEN 'agent' END,
        CASE s.status WHEN 'completed' THEN 'human' END,
        CASE s.status WHEN 'completed' THEN 'agreed' END,
        CASE s.status WHEN 'completed' THEN '{"agrees": "yes"}'::jsonb END, e.at, e.at
    FROM ended e CROSS JOIN kinds k
    CROSS JOIN LATERAL (SELECT CASE
        WHEN e.reason = 'queued' THEN 'queued'
        WHEN e.reason IN ('agent_hangup', 'customer_hangup', 'voicemail') THEN 'completed'
        WHEN e.reason IN ('no_answer', 'busy', 'declined') THEN 'missed'
        WHEN e.reason = 'cancelled' THEN 'cancelled' ELSE 'failed' END AS status) s
    LEFT JOIN people p ON p.place = 1 + e.other % greatest(1, ($2)::integer / 50)
"""
_ATTEMPTS = """
    INSERT INTO voice_attempts (book_id, call_id, number, id, started_at, ended_at, result,
        ended_by)
    SELECT book_id, id, 1, new_id(created_at), created_at, ended_at, 'hung_up', 'agent'
    FROM voice_calls WHERE book_id = $1 AND ended_at IS NOT NULL AND $2 > 0
"""
_TALLIES = """
    INSERT INTO voice_call_tallies (book_id, period, day, status, number_id, agent_id,
        ended_reason, slot, calls)
    SELECT c.book_id, p.period, p.day, c.status, c.number_id, c.agent_id,
        coalesce(c.ended_reason, ''),
        CASE c.status WHEN 'queued' THEN c.attempt % 4 ELSE 0 END, count(*)
    FROM voice_calls c
    CROSS JOIN LATERAL (VALUES ('ever', date '0001-01-01'),
        ('month', date_trunc('month', c.created_at AT TIME ZONE 'UTC')::date),
        ('day', (c.created_at AT TIME ZONE 'UTC')::date)) p (period, day)
    WHERE c.book_id = $1 AND $2 > 0 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
    -- As the days went by.
    ORDER BY 3, 2
"""
_FILLING = (_MORE_AGENTS, _MORE_NUMBERS, _CUSTOMERS, _CALLS, _ATTEMPTS, _TALLIES)
_PLAN = Plan("calls", ("voice:read", "voice:calls:read"), _fill)
