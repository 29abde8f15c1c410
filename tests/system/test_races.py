"""Two processes on one database decide as one."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import asyncpg

from tests.api import Response
from tests.make import Business
from tests.system.client import Client, register

KEYS = "/api/developer/api-keys"
HEALTH = "/v1/voice/health"
BUSINESSES = 5
RACES = 1000
AT_ONCE = 8


async def race(user: Client, change: Any, refusal: int, tally: Counter[str]) -> Response:
    """Use a key at the second process while the change is made at the first.

    Tallies what was accepted before the change was answered, and after: that would be stale.
    """
    changed = asyncio.Event()

    async def use() -> None:
        is_late = False
        while not is_late:
            is_late = changed.is_set()
            answer = await user.get(HEALTH)
            assert answer.status in (200, refusal), answer
            if answer.status == 200:
                tally["stale" if is_late else "accepted"] += 1

    users = asyncio.gather(use(), use())
    answer = await change
    changed.set()
    await users
    tally["races"] += 1
    return answer


async def race_one_key(business: Business, there: str, place: str, tally: Counter[str]) -> None:
    """Ten changes that each end what the key could do before."""
    owner = business.owner
    body = {"name": "race", "environment": place, "scopes": ["voice:read"]}
    key = (await owner.post(KEYS, body, status=201)).data
    path, secret = f"{KEYS}/{key['id']}", key["secret"]
    for _ in range(5):
        user = business.anybody.at(there).as_bearer(secret)
        rotated = await race(user, owner.post(f"{path}/rotate", status=200), 401, tally)
        secret = rotated.data["secret"]
    user = business.anybody.at(there).as_bearer(secret)
    for _ in range(4):
        await race(user, owner.patch(path, {"scopes": ["orders:read"]}, status=200), 403, tally)
        await owner.patch(path, {"scopes": ["voice:read"]}, status=200)
    if place == "test":
        await race(user, owner.post(f"{path}/revoke", status=200), 401, tally)
    else:
        await race(user, owner.delete(path, status=200), 401, tally)


async def race_keys(
    places: Iterator[tuple[int, Business, str]], there: str, tally: Counter[str]
) -> None:
    """Race one key after the other, as long as there are some."""
    for _, business, place in places:
        await race_one_key(business, there, place, tally)


async def test_a_change_holds_on_the_next_request_everywhere(here: Client, there: str) -> None:
    """Revoke, rotate, change and delete: no stale accept in a thousand races."""
    tally: Counter[str] = Counter()
    businesses = [await register(here) for _ in range(BUSINESSES)]
    places = itertools.product(range(10), businesses, ("test", "live"))
    # Few at once: the sooner a request follows on a change, the shorter a lapse it finds.
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(race_keys(places, there, tally))
    assert tally["races"] == RACES
    assert tally["accepted"] >= RACES
    assert tally["stale"] == 0


async def test_one_idempotency_key_is_one_effect(
    owned: Business, there: str, sql: asyncpg.Connection
) -> None:
    """Fifty at once in two processes: one creates, 49 replay; another body is refused."""
    once = {"idempotency-key": "fifty"}
    body = {"name": "Once only", "environment": "test"}
    callers = [owned.owner, owned.owner.at(there)] * 25
    answers = await asyncio.gather(
        *(c.post("/api/developer/apps", body, headers=once, status=201) for c in callers)
    )
    assert len({answer.body for answer in answers}) == 1
    assert sum("idempotent-replayed" in answer.headers for answer in answers) == 49
    query = "SELECT count(*) FROM developer_apps WHERE name = $1 AND id = $2"
    assert await sql.fetchval(query, "Once only", answers[0].data["id"]) == 1
    query = "SELECT count(*) FROM audit_events WHERE business_id = $1 AND event_type = $2"
    assert await sql.fetchval(query, owned.id, "developer_app.created") == 1
    other = {"name": "Something else", "environment": "test"}
    refused = await owned.owner.at(there).post("/api/developer/apps", other, headers=once)
    assert (refused.status, refused.error) == (422, "idempotency_key_reused")


async def test_no_more_than_ten_keys(owned: Business, there: str, sql: asyncpg.Connection) -> None:
    """Fifty creations at once in two processes: ten keys in each environment, no more."""
    for environment in ("test", "live"):
        body = {"name": "many", "environment": environment, "scopes": ["voice:read"]}
        callers = [owned.owner, owned.owner.at(there)] * 25
        answers = await asyncio.gather(*(caller.post(KEYS, body) for caller in callers))
        outcomes = Counter(
            (answer.status, answer.error if answer.status == 409 else "") for answer in answers
        )
        assert outcomes == {(201, ""): 10, (409, "limit_reached"): 40}
    query = """SELECT count(*) FROM api_keys k JOIN books b ON b.id = k.book_id
        WHERE b.business_id = $1 AND k.revoked_at IS NULL"""
    assert await sql.fetchval(query, owned.id) == 20
