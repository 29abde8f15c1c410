"""Searches of calls find the newest that fit, whether many have the words or few."""

from typing import Any
from urllib.parse import quote
from uuid import UUID

import pytest

from tests.lists import read_all
from tests.voice.desk import CALLS, Desk
from tillhouse.access.process import Services
from tillhouse.db.word_search import FOUND_MAX, SAMPLE

pytestmark = pytest.mark.proof

_CALLS = 3 * SAMPLE
# The words of the call that was placed as the nth, and the calls that have them.
_HAVE: dict[str, Any] = {
    "confirm": lambda n: n % 2 == 0,
    "conf tab": lambda n: n % 2 == 0,
    "refund": lambda n: n % 500 == 7,
    "latest": lambda n: n > _CALLS - SAMPLE // 2,
    "former": lambda n: n < _CALLS - SAMPLE,
    "straße": lambda n: n % 3 == 0,
    "ADA": lambda n: n % 5 == 0,
    "ada refund": lambda n: n % 5 == 0 and n % 500 == 7,
    "zzzz": lambda _: False,
}
_FILL = """
    INSERT INTO voice_calls (book_id, id, status, due_at, expires_at, number_id, agent_id,
        provider, customer_name, customer_phone, purpose, metadata, max_attempts, created_at,
        updated_at)
    SELECT a.book_id, new_id(m.at), 'queued', m.at + interval '2 days', m.at + interval '3 days',
        $1, a.id, 'simulator', CASE WHEN n % 5 = 0 THEN 'Ada' ELSE 'Bola' END, '+2348030000000',
        n || CASE WHEN n % 2 = 0 THEN ' confirm the table' ELSE ' remind' END
            || CASE WHEN n % 500 = 7 THEN ' refund' ELSE '' END
            || CASE WHEN n > $3::integer - $4::integer / 2 THEN ', latest' ELSE '' END
            || CASE WHEN n < $3 - $4 THEN ' (former)' ELSE '' END
            || CASE WHEN n % 3 = 0 THEN ' Große Straße' ELSE '' END,
        '{}', 1, m.at, m.at
    FROM voice_agents a CROSS JOIN generate_series(1, $3) n
    CROSS JOIN LATERAL (SELECT now() - interval '1 second' * ($3 - n) AS at) m
    WHERE a.id = $2
"""


@pytest.fixture
async def campaign(desk: Desk, services: Services) -> Desk:
    """A business with many calls."""
    async with services.pool.transaction() as db:
        await db.execute(_FILL, UUID(desk.number_id), UUID(desk.agent_id), _CALLS, SAMPLE)
    return desk


async def test_a_search_finds_the_newest(campaign: Desk) -> None:
    """Of frequent words and of rare ones, of recent and of former ones; a thousand at most."""
    for words, has in _HAVE.items():
        fitting = [n for n in range(_CALLS, 0, -1) if has(n)][:FOUND_MAX]
        search = f"search={quote(words)}"
        assert await _found(campaign, search) == fitting, words
        assert await _found(campaign, f"{search}&status=queued,failed") == fitting, words
        assert await _found(campaign, f"{search}&status=queued") == fitting, words
        assert await _found(campaign, f"{search}&status=failed") == [], words


async def test_pages_are_found_from_both_ends(campaign: Desk) -> None:
    """Each call is on one page, the newest on the first, also where the last isn't full."""
    await campaign.place(purpose=f"{_CALLS + 1} is the last")
    everything = list(range(_CALLS + 1, 0, -1))
    assert await _found(campaign, "") == everything
    assert await _found(campaign, "status=queued") == everything
    assert await _found(campaign, f"ai_agent_id={campaign.agent_id}") == everything


async def _found(desk: Desk, query: str) -> list[int]:
    """The calls that a query finds, by their numbers."""
    calls = await read_all(desk.api, f"{CALLS}?{query}")
    return [int(one["purpose"].split()[0]) for one in calls]
