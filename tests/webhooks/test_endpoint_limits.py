"""An app has eight active endpoints in its environment and no more, however many come at once."""

import asyncio
from typing import Any

from tests.webhooks.shop import ENDPOINTS, URL, Shop

MOST = 8


async def _make(shop: Shop, **fields: Any) -> int:
    body = {"name": "Hook", "url": URL, "environment": "test", "events": ["order.created"]}
    answer = await shop.owner.post(ENDPOINTS, {**body, **fields})
    assert answer.status == 201 or (answer.status, answer.error) == (409, "limit_reached"), answer
    return answer.status


async def _active(shop: Shop) -> int:
    endpoints = (await shop.owner.get(ENDPOINTS, status=200)).data
    return sum(endpoint["status"] == "active" for endpoint in endpoints)


async def test_the_ninth_endpoint_of_an_app_is_refused(quiet: Shop) -> None:
    """Another app and the other environment have limits of their own."""
    for _ in range(MOST):
        assert await _make(quiet) == 201
    assert await _make(quiet) == 409
    assert await _make(quiet, environment="live") == 201
    assert await _make(quiet, developer_app_id=await quiet.app_of()) == 201


async def test_disabled_and_deleted_endpoints_make_room(quiet: Shop) -> None:
    """Only active ones count; enabling counts them again."""
    made = [await quiet.endpoint() for _ in range(MOST)]
    await quiet.act(made[0]["id"], "disable")
    extra = await quiet.endpoint()
    path = f"{ENDPOINTS}/{made[0]['id']}/enable"
    assert (await quiet.owner.post(path, status=409)).error == "limit_reached"
    assert (await quiet.read(made[0]["id"]))["status"] == "disabled"
    await quiet.owner.delete(f"{ENDPOINTS}/{extra['id']}", status=200)
    assert (await quiet.act(made[0]["id"], "enable"))["status"] == "active"
    # To enable what is active is no addition.
    assert (await quiet.act(made[1]["id"], "enable"))["status"] == "active"


async def test_thirty_creations_at_once_make_eight(quiet: Shop) -> None:
    """The others are told of the limit."""
    statuses = await asyncio.gather(*(_make(quiet) for _ in range(30)))
    assert sorted(statuses) == [201] * MOST + [409] * 22
    assert await _active(quiet) == MOST


async def test_enabling_and_creating_at_once_stay_within_the_limit(quiet: Shop) -> None:
    """They stand in one line."""
    disabled = [(await quiet.endpoint())["id"] for _ in range(MOST)]
    for endpoint_id in disabled:
        await quiet.act(endpoint_id, "disable")
    enabling = [quiet.owner.post(f"{ENDPOINTS}/{one}/enable") for one in disabled]
    answers, made = await asyncio.gather(
        asyncio.gather(*enabling), asyncio.gather(*(_make(quiet) for _ in range(MOST)))
    )
    assert [answer.status for answer in answers].count(200) + made.count(201) == MOST
    assert {answer.status for answer in answers} <= {200, 409}
    assert await _active(quiet) == MOST
