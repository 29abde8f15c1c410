"""Events of providers that wait are bounded, and their bytes go once they were used."""

import json

import pytest

from tests.payins.collecting import Collecting
from tillhouse.kit.errors import Limited
from tillhouse.payins.inbox import WAITING_MAX

_WAITS = """
    INSERT INTO provider_events (book_id, id, provider, fingerprint, body, received_at)
    SELECT $1, new_id(now()), 'sandbox', sha256(convert_to(n::text, 'UTF8')),
        convert_to(repeat('a', $3), 'UTF8'), now()
    FROM generate_series(1, $2) n
"""


def told(number: int) -> bytes:
    """A hook that tells of nothing."""
    return json.dumps({"event": "ping", "data": {"id": str(number)}}).encode()


@pytest.mark.parametrize(("events", "size"), [(WAITING_MAX[0], 1), (1, WAITING_MAX[1])])
async def test_so_much_may_wait(till: Collecting, events: int, size: int) -> None:
    """Then nothing more is stored until some of it was looked up."""
    await till.sql.execute(_WAITS, till.book.id, events, size)
    with pytest.raises(Limited):
        await till.hook(told(1))
    count = "SELECT count(*) FROM provider_events WHERE book_id = $1"
    assert await till.sql.fetchval(count, till.book.id) == events
    done = "UPDATE provider_events SET processed_at = now() WHERE book_id = $1"
    await till.sql.execute(done, till.book.id)
    assert await till.hook(told(1))


async def test_the_bytes_go_once_they_were_used(till: Collecting) -> None:
    """Their outcome stays, and a repetition is known."""
    assert await till.hook(told(2))
    await till.work()
    query = "SELECT octet_length(body) AS bytes, outcome FROM provider_events WHERE book_id = $1"
    (row,) = await till.sql.fetch(query, till.book.id)
    assert (row["bytes"], row["outcome"] is not None) == (0, True)
    assert not await till.hook(told(2))
