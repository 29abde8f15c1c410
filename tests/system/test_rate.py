"""The rate limit is one limit, however many processes there are."""

import asyncio
import time

import aiohttp

from tests.api import Response
from tests.system.client import Client, register
from tests.system.conftest import Start

RATE, BURST = 20, 40
SECONDS = 2.0

# When a request was sent, when it was answered, and how.
Used = tuple[float, float, Response]


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
    servers = await asyncio.gather(start("--no-work", **settings), start("--no-work", **settings))
    business = await register(Client(session, servers[0].address))
    secret = (await business.key("voice:read"))["secret"]
    users = [Client(session, server.address).as_bearer(secret) for server in servers]
    used: list[Used] = []
    refused: list[Response] = []
    began = time.monotonic()

    async def use(user: Client) -> None:
        while not refused or time.monotonic() - began < SECONDS:
            sent = time.monotonic()
            answer = await user.get("/v1/voice/health")
            used.append((sent, time.monotonic(), answer))
            assert answer.headers["ratelimit-policy"] == f'"default";q={BURST};w=2'
            assert answer.headers["ratelimit"].startswith('"default";r=')
            if answer.status == 429:
                refused.append(answer)

    await asyncio.gather(*(use(user) for user in users * 4))
    assert {answer.status for _, _, answer in used} == {200, 429}
    check_exact(used)
    assert {answer.error for answer in refused} == {"rate_limit_exceeded"}
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in refused)
    assert all(";r=0;" in answer.headers["ratelimit"] for answer in refused)


def check_exact(used: list[Used]) -> None:
    """Never more was accepted than there was, and whoever was refused found nothing left.

    Counted by the requests' own moments, so that it holds however slow the machine is.
    """
    accepted = [(sent, answered) for sent, answered, answer in used if answer.status == 200]
    lasted = max(answered for _, answered, _ in used) - min(sent for sent, _, _ in used)
    assert len(accepted) <= BURST + RATE * lasted + 1, (len(accepted), lasted)
    sent, answered = max((one[0], one[1]) for one in used if one[2].status == 429)
    before = sum(1 for one, _ in accepted if one < answered)
    there = BURST + RATE * (sent - min(answered for _, answered in accepted))
    assert before >= 0.95 * there - 1, (before, there)
