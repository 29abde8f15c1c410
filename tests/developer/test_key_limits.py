"""Ten active keys per environment, and what counts as active."""

import asyncio
from datetime import timedelta

import asyncpg

from tests.api import Response
from tests.make import Business, Make
from tillhouse.kit.clock import iso, now

KEYS = "/api/developer/api-keys"


async def create(business: Business, environment: str = "test") -> Response:
    """Try to make a key."""
    body = {"name": "Till", "environment": environment, "scopes": ["voice:read"]}
    return await business.owner.post(KEYS, body)


async def fill_up(business: Business, environment: str = "test") -> list[str]:
    """Make as many keys as there may be."""
    await business.step_up()
    return [(await create(business, environment)).data["id"] for _ in range(10)]


async def expire(sql: asyncpg.Connection, key_id: str) -> None:
    """Let a key's time run out."""
    await sql.execute(
        "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1::text::uuid",
        key_id,
    )


async def test_ten_keys_per_environment(business: Business) -> None:
    """The eleventh is 409 limit_reached; the other environment counts apart."""
    await fill_up(business)
    answer = await create(business)
    assert (answer.status, answer.error) == (409, "limit_reached")
    assert "10" in answer.json["message"]
    await fill_up(business, "live")
    assert (await create(business, "live")).status == 409
    assert len((await business.owner.get(KEYS, status=200)).data) == 20


async def test_other_businesses_count_apart(business: Business, make: Make) -> None:
    """A neighbour's keys take no place."""
    await fill_up(business)
    other = await (await make.business()).step_up()
    assert (await create(other)).status == 201


async def test_fifty_at_once_are_ten(business: Business) -> None:
    """Counting and adding are one step."""
    await business.step_up()
    answers = await asyncio.gather(*(create(business) for _ in range(50)))
    statuses = [answer.status for answer in answers]
    assert (statuses.count(201), statuses.count(409)) == (10, 40)
    assert len((await business.owner.get(KEYS, status=200)).data) == 10


async def test_revoked_and_deleted_keys_make_room(business: Business) -> None:
    """Each gives back one place."""
    ids = await fill_up(business)
    await business.owner.post(f"{KEYS}/{ids[0]}/revoke", status=200)
    await business.owner.delete(f"{KEYS}/{ids[1]}", status=200)
    assert [(await create(business)).status for _ in range(3)] == [201, 201, 409]


async def test_an_expired_key_is_refused_and_makes_room(
    business: Business, sql: asyncpg.Connection
) -> None:
    """It reads as expired, opens nothing, and gives back its place."""
    await fill_up(business)
    keys = (await business.owner.get(KEYS, status=200)).data
    secret = await business.owner.post(f"{KEYS}/{keys[0]['id']}/view-secret", status=200)
    client = business.anybody.as_bearer(secret.data["secret"])
    await client.get("/v1/voice/health", status=200)
    await expire(sql, keys[0]["id"])
    await client.get("/v1/voice/health", status=401)
    shown = await business.owner.get(f"{KEYS}/{keys[0]['id']}", status=200)
    assert shown.data["status"] == "expired"
    assert [(await create(business)).status for _ in range(2)] == [201, 409]


async def test_a_key_that_comes_back_counts_again(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Prolonging an expired key is refused while ten others are active."""
    ids = await fill_up(business)
    path = f"{KEYS}/{ids[0]}"
    await expire(sql, ids[0])
    await create(business)
    for expires_at in (None, iso(now() + timedelta(days=1))):
        answer = await business.owner.patch(path, {"expires_at": expires_at}, status=409)
        assert answer.error == "limit_reached"
    await business.owner.patch(path, {"name": "Old"}, status=200)
    await business.owner.delete(f"{KEYS}/{ids[1]}", status=200)
    back = await business.owner.patch(path, {"expires_at": None}, status=200)
    assert back.data["status"] == "active"
    assert (await create(business)).status == 409


async def test_changing_an_active_key_needs_no_free_place(business: Business) -> None:
    """At the limit of keys, some can still be removed."""
    ids = await fill_up(business)
    for body in ({"name": "Other"}, {"expires_at": "2199-01-01"}, {"expires_at": None}):
        await business.owner.patch(f"{KEYS}/{ids[0]}", body, status=200)
    await business.owner.post(f"{KEYS}/{ids[0]}/rotate", status=200)


async def test_returning_keys_at_once_keep_the_limit(
    business: Business, sql: asyncpg.Connection
) -> None:
    """Of ten expired keys that come back beside eight active ones, two do."""
    ids = await fill_up(business)
    for key_id in ids:
        await expire(sql, key_id)
    for _ in range(8):
        assert (await create(business)).status == 201
    answers = await asyncio.gather(
        *(business.owner.patch(f"{KEYS}/{key_id}", {"expires_at": None}) for key_id in ids)
    )
    assert sorted(answer.status for answer in answers) == [200, 200, *[409] * 8]
