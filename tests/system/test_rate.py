"""The rate limit is one limit, however many processes there are."""

import asyncio
import time
from collections import Counter

import aiohttp

from tests.system.client import Client, register
from tests.system.conftest import Start

RATE, BURST = 50, 100
SECONDS = 3.0


async def test_the_limit_is_exact_across_processes(
    start: Start, session: aiohttp.ClientSession, database_url: str, master_key: str
) -> None:
    """Accepted = burst + rate x time within 5 %, and the headers say so."""
    settings = {
        "DATABASE_URL": database_url,
        "MASTER_KEY": master_key,
        "RATE_LIMIT": str(RATE),
        "LOG_LEVEL": "warning",
    }
    servers = await asyncio.gather(start(**settings), start(**settings))
    business = await register(Client(session, servers[0].address))
    secret = (await business.key("voice:read"))["secret"]
    users = [Client(session, server.address).as_bearer(secret) for server in servers]
    counts: Counter[int] = Counter()
    refused = []
    began = time.monotonic()

    async def use(user: Client) -> None:
        while time.monotonic() - began < SECONDS:
            answer = await user.get("/v1/voice/health")
            counts[answer.status] += 1
            assert answer.headers["ratelimit-policy"] == f'"default";q={BURST};w=2'
            assert answer.headers["ratelimit"].startswith('"default";r=')
            if answer.status == 429:
                refused.append(answer)
            await asyncio.sleep(0.02)

    await asyncio.gather(*(use(user) for user in users * 4))
    expected = BURST + RATE * (time.monotonic() - began)
    assert set(counts) == {200, 429}
    assert abs(counts[200] - expected) <= 0.05 * expected, (counts, expected)
    assert {answer.error for answer in refused} == {"rate_limit_exceeded"}
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    assert all(";r=0;" in answer.headers["ratelimit"] for answer in refused)
