"""Messages are found by their words, in all conversations, the latest first."""

from collections.abc import Sequence
from urllib.parse import quote

import asyncpg
import pytest

from tests.make import Business, Make
from tests.messaging.inbox_desk import Inbox
from tillhouse.access.process import Services

MESSAGES = "/v1/messages"


@pytest.fixture
async def inbox(services: Services, business: Business) -> Inbox:
    """A book whose customers write."""
    return await Inbox.open(services, business)


async def _texts(inbox: Inbox, search: str, more: str = "") -> Sequence[str]:
    answer = await inbox.api.get(f"{MESSAGES}?search={quote(search)}{more}", status=200)
    assert answer.json["meta"]["total"] == len(answer.data)
    return [message["text"] for message in answer.data]


async def test_messages_are_found_by_the_beginnings_of_their_words(inbox: Inbox) -> None:
    """Of both directions; every word has to be there."""
    talk = await inbox.hear(1, "Where is my invoice?")
    other = await inbox.hear(2, "The INVOICES of May, please")
    path = f"/v1/conversations/{talk}/messages"
    await inbox.api.post(path, {"text": "Your invoice: see www.example.com/may"}, status=201)
    assert await _texts(inbox, "invoice") == [
        "Your invoice: see www.example.com/may",
        "The INVOICES of May, please",
        "Where is my invoice?",
    ]
    assert await _texts(inbox, "may inv", f"&conversation_id={other}") == [
        "The INVOICES of May, please"
    ]
    assert await _texts(inbox, "voice") == []
    assert await _texts(inbox, "?!&") == []


async def test_a_search_of_many_messages_finds_the_newest_thousand(
    inbox: Inbox, sql: asyncpg.Connection
) -> None:
    """Of a frequent word the newest, of a rare one those that there are, however old."""
    talk = await inbox.hear(1, "A needle")
    await sql.execute(
        """
        INSERT INTO messages (book_id, id, conversation_id, direction, type, text, provider,
            number_id, created_at, updated_at)
        SELECT m.book_id, new_id(now() + n * interval '1 ms'), m.conversation_id, 'inbound',
            'text', 'Hay ' || n, m.provider, m.number_id, now(), now()
        FROM messages m, generate_series(1, 3000) n WHERE m.conversation_id::text = $1
        """,
        talk,
    )
    found = await inbox.api.get(f"{MESSAGES}?search=hay&limit=2", status=200)
    assert [message["text"] for message in found.data] == ["Hay 3000", "Hay 2999"]
    assert found.json["meta"]["total"] == 1000
    everything = await inbox.api.get(f"{MESSAGES}?limit=1&page=1000", status=200)
    assert [message["text"] for message in everything.data] == ["Hay 2001"]
    assert await _texts(inbox, "needle") == ["A needle"]
    assert await _texts(inbox, "hay 77", "&limit=100") == [
        *(f"Hay {n}" for n in range(779, 769, -1)), "Hay 77",
    ]  # fmt: skip


async def test_nobody_finds_messages_of_another_book(inbox: Inbox, make: Make) -> None:
    """Neither by its words nor by the id of its conversation."""
    talk = await inbox.hear(1, "A secret")
    stranger = await (await make.business()).client("messaging:read")
    for query in ("search=secret", f"search=secret&conversation_id={talk}", ""):
        assert (await stranger.get(f"{MESSAGES}?{query}", status=200)).data == []
