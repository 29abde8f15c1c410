"""A search of the inbox by names finds the latest thousand, and all where there are fewer."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from tests.lists import read_all
from tests.make import Business
from tests.messaging.inbox_desk import TALKS, Inbox
from tillhouse.access.process import Services
from tillhouse.kit.ids import BookId
from tillhouse.messaging.store.conversations import ConversationQuery
from tillhouse.messaging.store.searching import CONVERSATION_SEARCH as SEARCH

MANY = 2_600
ADA = ConversationQuery(words="'ada':*", letters=["ada"])


@pytest.fixture
async def inbox(services: Services, business: Business, sql: asyncpg.Connection) -> Inbox:
    """Half of the conversations are with somebody called Ada, seven old ones with a Zuri."""
    opened = await Inbox.open(services, business)
    book_id = await _book_id(sql, business)
    await sql.execute(_CUSTOMERS, book_id, MANY)
    await sql.execute(_CONVERSATIONS, book_id)
    await sql.execute("ANALYZE customers")
    await sql.execute("ANALYZE conversations")
    return opened


async def _book_id(sql: asyncpg.Connection, business: Business) -> BookId:
    return await sql.fetchval(
        "SELECT id FROM books WHERE business_id::text = $1 AND environment = 'test'", business.id
    )


async def _named(sql: asyncpg.Connection, business: Business, **fields: Any) -> list[str]:
    """The conversations with somebody of a name, the latest first: a plain look at all of them."""
    rows = await sql.fetch(
        """
        SELECT c.id FROM conversations c
        JOIN customers n ON n.book_id = c.book_id AND n.id = c.customer_id
        WHERE c.book_id = $1 AND n.name ILIKE $2 AND c.status = coalesce($3, c.status)
        ORDER BY c.last_message_at DESC, c.id DESC
        """,
        await _book_id(sql, business), f"%{fields['name']}%", fields.get("status"),
    )  # fmt: skip
    return [str(row["id"]) for row in rows]


async def _found(inbox: Inbox, query: str) -> list[str]:
    return [talk["id"] for talk in await read_all(inbox.api, f"{TALKS}?{query}")]


async def test_frequent_words_find_the_latest_thousand(
    inbox: Inbox, business: Business, sql: asyncpg.Connection
) -> None:
    """Of all, and of those that fit otherwise."""
    every = await _named(sql, business, name="ada")
    assert len(every) == MANY / 2
    assert await _found(inbox, "search=ada") == every[:1000]
    snoozed = await _named(sql, business, name="ada", status="snoozed")
    assert 1000 > len(snoozed) > 500
    assert await _found(inbox, "search=Ada&status=snoozed") == snoozed
    assert await _found(inbox, "search=ada+o&status=open") == (
        await _named(sql, business, name="ada o", status="open")
    )


async def test_rare_words_find_all(
    inbox: Inbox, business: Business, sql: asyncpg.Connection
) -> None:
    """Also where none of the latest conversations has them."""
    every = await _named(sql, business, name="zuri")
    assert len(every) == 7
    assert await _found(inbox, "search=zuri") == every
    assert await _found(inbox, "search=zuri&unread=false") == every
    assert await _found(inbox, "search=zuri&unread=true") == []
    assert await _found(inbox, "search=nobody") == []
    assert await _found(inbox, "search=%27%E2%82%AC%27") == []


async def test_both_ways_find_the_same(
    inbox: Inbox, business: Business, services: Services, sql: asyncpg.Connection
) -> None:
    """By the words, and in the order of the list."""
    wanted = [UUID(one) for one in await _named(sql, business, name="ada")][:1000]
    async with services.pool.reading() as db:
        for find in (SEARCH.find_among_newest, SEARCH.find_by_words):
            assert await find(db, await _book_id(sql, business), ADA) == wanted


_CUSTOMERS = """
    INSERT INTO customers (book_id, id, name, phone_number, created_at, updated_at)
    SELECT $1, new_id(now()), CASE WHEN n % 2 = 0 THEN 'Ada' WHEN n < 14 THEN 'Zuri' ELSE 'Bola' END
            || CASE WHEN n % 3 = 0 THEN ' Obi' ELSE ' Eze' END,
        '+234701' || lpad(n::text, 7, '0'), now(), now()
    FROM generate_series(1, $2::integer) n
"""
_CONVERSATIONS = """
    INSERT INTO conversations (book_id, id, customer_phone, customer_id, last_message_at, status,
        snoozed_until, created_at, updated_at)
    SELECT c.book_id, new_id(now()), c.phone_number, c.id,
        now() - interval '1 minute' * (5000 - right(c.phone_number, 4)::integer),
        CASE WHEN right(c.phone_number, 4)::integer % 4 < 2 THEN 'open' ELSE 'snoozed' END,
        CASE WHEN right(c.phone_number, 4)::integer % 4 >= 2 THEN now() + interval '1 day' END,
        now(), now()
    FROM customers c WHERE c.book_id = $1 AND c.phone_number LIKE '+234701%'
"""
