"""The inbox of a small and of a large book: every filter alone, and some together."""

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
MEMBERS = 20
INBOX = "/v1/conversations"
_USUAL_MS_MAX, _FILTER_MS_MAX = 50.0, 200.0


def measure(options: argparse.Namespace) -> None:
    """Measure both books one after the other, and print a table."""
    found: dict[int, dict[str, Timing]] = {}
    for rows in sorted({SMALL, options.rows or SMALL}):
        with (
            kept_book(Path(options.books), PLAN, rows) as book,
            world.server("tillhouse", book.url, **book.settings) as port,
        ):
            client = Client(port, book.token)
            found[rows] = {name: client.time(INBOX, q) for name, q in _queries(client).items()}
    report(Console(width=140), found, _most)


def _most(name: str) -> float:
    """The bar of a query."""
    return _USUAL_MS_MAX if name == "the newest 50" else _FILTER_MS_MAX


def _queries(client: Client) -> dict[str, dict[str, Any]]:
    """Queries by name; their values are taken from conversations of the book."""
    first = client.get(f"{INBOX}?limit=100")
    pages = math.ceil(first["meta"]["total"] / 50)
    some = client.get(f"{INBOX}?limit=100&page={pages // 4}")["data"]
    one = next(talk for talk in some if talk["customer"] and talk["assignee"])
    often = one["assignee"]["id"]
    seldom = first["data"][0]["assignee"]["id"]
    name = one["customer"]["name"]
    return {
        "the newest 50": {}, "limit 100": {"limit": 100},
        **{f"status={status}": {"status": status} for status in ("open", "snoozed", "closed")},
        "unread": {"unread": "true"}, "read": {"unread": "false"},
        "unassigned": {"assigned": "false"}, "assigned": {"assigned": "true"},
        "of a member": {"assignee_id": often}, "of a member who seldom answers": {
            "assignee_id": seldom},
        "open + unassigned": {"status": "open", "assigned": "false"},
        "open + unread + unassigned": {"status": "open", "unread": "true", "assigned": "false"},
        "closed + unassigned": {"status": "closed", "assigned": "false"},
        "closed + unread": {"status": "closed", "unread": "true"},
        "snoozed + unread": {"status": "snoozed", "unread": "true"},
        "open + unread + a member": {"status": "open", "unread": "true", "assignee_id": often},
        "closed + a seldom member": {"status": "closed", "assignee_id": seldom},
        "of a customer": {"customer_id": one["customer"]["id"]},
        "by number": {"search": one["customerPhone"]},
        "by address": {"search": "customer5@example.com"},
        "whole name": {"search": name}, "first name": {"search": name.split()[0]},
        "first name + open": {"search": name.split()[0], "status": "open"},
        "two names": {"search": " ".join(name.split()[:2])},
        "a letter": {"search": name[0]}, "no such word": {"search": "zzzz"},
        "middle page": {"page": max(1, pages // 2)}, "last page": {"page": pages},
        "middle page of closed": {"status": "closed", "page": max(1, pages // 3)},
        "middle page of read": {"unread": "false", "page": max(1, pages // 3)},
        "middle page of a member": {"assignee_id": often, "page": max(1, pages // 60)},
    }  # fmt: skip


async def _fill(connection: asyncpg.Connection, book_id: UUID, rows: int) -> None:
    """Conversations of two years, the latest of today; a tenth is open."""
    await connection.execute(_USERS, MEMBERS)
    await connection.execute(_MEMBERS, book_id)
    await connection.execute(_CUSTOMERS, book_id, rows)
    await connection.execute(_CONVERSATIONS, book_id, rows)
    await connection.execute(_TALLIES, book_id)
    await connection.execute(_MESSAGES, book_id)


_USERS = """
    INSERT INTO users (id, email, name, password_hash, created_at, password_changed_at)
    SELECT new_id(now()), 'member' || n || '@example.com', 'Member ' || lpad(n::text, 2, '0'), '-',
        now(), now()
    FROM generate_series(1, $1::integer) n
"""
_MEMBERS = """
    INSERT INTO members (business_id, user_id, role, created_at)
    SELECT b.business_id, u.id, 'manager', now() FROM books b CROSS JOIN users u
    WHERE b.id = $1 AND u.name LIKE 'Member %'
"""
_CUSTOMERS = """
    INSERT INTO customers (book_id, id, name, phone_number, email, created_at, updated_at)
    SELECT $1, new_id(now()),
        (ARRAY['Ada', 'Bola', 'Chidi', 'Dayo', 'Emeka', 'Fatima', 'Grace', 'Halima', 'Ife',
            'Jide'])[1 + n % 10] || ' '
            || (ARRAY['Ahmed', 'Bello', 'Cole', 'Danjuma', 'Eze', 'Falana', 'Garba', 'Hassan',
            'Idowu', 'Johnson'])[1 + n / 10 % 10] || ' ' || substr(md5(n::text), 1, 5),
        '+234803' || lpad(n::text, 7, '0'), 'customer' || n || '@example.com', now(), now()
    FROM generate_series(1, $2::integer) n
"""
# Nine in ten are with known customers. The last member has a thousandth and the latest, a fifth has
# nobody.
_CONVERSATIONS = """
    WITH staff AS (
        SELECT array_agg(u.id ORDER BY u.name) AS ids FROM users u WHERE u.name LIKE 'Member %'
    ), drawn AS (
        SELECT n, hashint8(n) & 1048575 AS chance, hashint8(n * 7) & 1048575 AS other,
            now() - interval '2 years' * ((($2)::integer - n)::float8 / $2) AS at
        FROM generate_series(1, $2) n
    ), told AS (
        SELECT d.*, CASE WHEN d.chance % 1000 < 850 THEN 'closed'
                WHEN d.chance % 1000 < 900 THEN 'snoozed' ELSE 'open' END AS status,
            CASE WHEN d.n = $2 OR d.other % 1000 = 0 THEN s.ids[cardinality(s.ids)]
                WHEN d.other % 5 > 0 THEN s.ids[1 + d.other % (cardinality(s.ids) - 1)] END
                AS assignee_id
        FROM drawn d CROSS JOIN staff s
    )
    INSERT INTO conversations (book_id, id, customer_phone, customer_id, assignee_id, assigned_at,
        last_message_at, last_received_at, status, snoozed_until, unread_count, created_at,
        updated_at)
    SELECT $1, new_id(d.at), '+234803' || lpad(d.n::text, 7, '0'), c.id, d.assignee_id,
        CASE WHEN d.assignee_id IS NOT NULL THEN d.at END, d.at, d.at, d.status,
        CASE d.status WHEN 'snoozed' THEN d.at + interval '10 years' END,
        CASE WHEN d.status = 'open' AND d.other % 3 = 0 THEN 1 + d.other % 4 ELSE 0 END, d.at, d.at
    FROM told d
    LEFT JOIN customers c ON c.book_id = $1 AND d.chance % 10 > 0
        AND c.phone_number = '+234803' || lpad(d.n::text, 7, '0')
"""
_TALLIES = """
    INSERT INTO conversation_tallies (book_id, status, assignee_id, is_unread, conversations)
    SELECT book_id, status, assignee_id, unread_count > 0, count(*)
    FROM conversations WHERE book_id = $1 GROUP BY 1, 2, 3, 4
"""
_MESSAGES = """
    INSERT INTO messages (book_id, id, conversation_id, direction, type, text, provider, number_id,
        provider_message_id, created_at, updated_at)
    SELECT c.book_id, new_id(c.last_message_at), c.id, 'inbound', 'text', 'Are you open on Sunday?',
        'sandbox', n.id, 'in-' || c.customer_phone, c.last_message_at, c.last_message_at
    FROM conversations c JOIN messaging_numbers n ON n.book_id = c.book_id AND n.status = 'active'
    WHERE c.book_id = $1
"""
PLAN = Plan("inbox", ("messaging:read",), _fill)
