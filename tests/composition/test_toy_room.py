"""One more room in the composition, and every part of the product knows what it brings."""

import asyncio
import json

import asyncpg
import pytest
from story.recording import read

from tests.api import Api
from tests.composition.toys import TOYS
from tests.make import Business
from tests.waiting import within
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import PORTAL, Shop
from tests.webhooks.tls import Authority
from tests.wire.test_recorded_answers import RECORDED
from tillhouse.app import App, compose
from tillhouse.reference.openapi import describe


@pytest.fixture
async def shop(toy_app: App) -> Shop:
    """A business at the product with toys."""
    return await Shop.open(toy_app)


async def test_its_scopes_are_shown_and_guard_its_routes(shop: Shop) -> None:
    """A key may have them, needs them, and is refused one that no room declares."""
    shown = {each["name"]: each for each in (await shop.owner.get(f"{PORTAL}/scopes")).data}
    assert shown["toys:write"] == {
        "name": "toys:write", "label": "Change toys", "group": "Toys", "risk": "low", "grants": [],
    }  # fmt: skip
    reader = await shop.business.client("toys:read")
    writer = await shop.business.client("toys:write")
    assert (await reader.get("/v1/toys", status=200)).data == []
    await reader.post("/v1/toys", {"name": "Kite"}, status=403)
    toy = (await writer.post("/v1/toys", {"name": "Kite"}, status=201)).data
    assert [each["id"] for each in (await reader.get("/v1/toys")).data] == [toy["id"]]
    body = {"name": "Till", "environment": "test", "scopes": ["toys:read", "toys:sell"]}
    refused = await shop.owner.post(f"{PORTAL}/api-keys", body, status=422)
    assert refused.wrong_fields == {"scopes[1]"}


async def test_a_role_has_them_by_rule_or_because_the_scope_says_so(
    shop: Shop, toys_url: str
) -> None:
    """A developer reads, a manager does all, a cashier has what names it, others nothing."""
    connection = await asyncpg.connect(toys_url)
    sql = "UPDATE members SET role = $2 WHERE business_id = $1::text::uuid"
    allowed: dict[str, list[int]] = {}
    for role in ("manager", "developer", "cashier", "kitchen", "front_desk", "housekeeping"):
        await connection.execute(sql, shop.business.id, role)
        read = await shop.owner.get("/v1/toys")
        live = {"service-environment": "live"}
        made = await shop.owner.post("/v1/toys", {"name": f"Toy of {role}"}, headers=live)
        allowed[role] = [read.status, made.status]
    await connection.close()
    assert allowed == {
        "manager": [200, 201], "developer": [200, 403], "cashier": [200, 403],
        "kitchen": [403, 403], "front_desk": [403, 403], "housekeeping": [403, 403],
    }  # fmt: skip


async def test_its_constraint_answers_in_its_own_words(shop: Shop) -> None:
    """As a refusal, and a repetition with the same key still replays the first answer."""
    client = await shop.business.client("toys:write")
    headers = {"idempotency-key": "first"}
    first = await client.post("/v1/toys", {"name": "Kite"}, headers=headers, status=201)
    refused = await client.post("/v1/toys", {"name": "Kite"}, status=409)
    assert refused.json["message"] == "There is a toy of this name already: choose another."
    again = await client.post("/v1/toys", {"name": "Kite"}, headers=headers, status=201)
    assert again.data == first.data


async def test_its_event_is_in_the_catalogue_streamed_and_delivered(
    shop: Shop, authority: Authority
) -> None:
    """With a schema, a sample and a signature, like every other."""
    shown = {e["type"]: e for e in (await shop.owner.get(f"{PORTAL}/webhook-events")).data}
    assert shown["toy.made"]["label"] == "A toy was made"
    assert set(shown["toy.made"]["schema"]["properties"]) == {"toyId", "name"}
    assert set(shown["toy.made"]["sample"]) == {"toyId", "name"}
    receiver = await Receiver().start(authority.server())
    await shop.endpoint(receiver.url, events=["toy.made"])
    client = await shop.business.client("toys:write", "events:read")
    toy = (await client.post("/v1/toys", {"name": "Kite"}, status=201)).data
    [received] = await receiver.until(1)
    await receiver.stop()
    assert received.headers["Service-Webhook-Event"] == "toy.made"
    [event] = (await client.get("/v1/events/stream?events=toy.made", status=200)).data
    assert event["id"] == received.event_id
    assert event["data"] == {"toyId": toy["id"], "name": "Kite"}
    wrong = await client.get("/v1/events/stream?events=toy.lost", status=422)
    assert wrong.wrong_fields == {"events"}


async def test_its_worker_and_its_chore_run(shop: Shop, toys_url: str) -> None:
    """In the process that works, without anybody who asks."""
    client = await shop.business.client("toys:read", "toys:write")
    await client.post("/v1/toys", {"name": "Kite"}, status=201)
    async with within():
        while not (await client.get("/v1/toys")).data[0]["isPainted"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    connection = await asyncpg.connect(toys_url)
    async with within():
        while not await connection.fetchval("SELECT count(*) FROM toy_counts"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await connection.close()


async def test_its_page_is_served(toy_app: App, shop: Shop) -> None:
    """Beside those of the other rooms."""
    assert shop
    page = await Api(toy_app).get("/toys/window", status=200)
    assert page.body.endswith(b" toys")


def test_its_operations_and_its_event_are_described() -> None:
    """In the document of the product that has it, in a group of their own."""
    document = describe(compose(TOYS), read(RECORDED), "1")
    operation = document["paths"]["/v1/toys"]["post"]
    assert operation["tags"] == ["Toys"]
    assert document["tags"][-1]["description"] == "What children play with."
    assert "`toys:write`" in operation["description"]
    assert "toy.made" in document["webhooks"]
    words = json.dumps(document["components"]["schemas"])
    assert '"toys:write"' in words
    assert '"toy.made"' in words


async def test_the_product_without_it_knows_none_of_it(business: Business) -> None:
    """Nothing is registered by an import: another application beside it stays as it was."""
    await business.step_up()
    assert "toys:write" not in str((await business.owner.get(f"{PORTAL}/scopes")).data)
    assert "toy.made" not in str((await business.owner.get(f"{PORTAL}/webhook-events")).data)
    await business.owner.get("/v1/toys", status=404)
    body = {"name": "Till", "environment": "test", "scopes": ["toys:read"]}
    refused = await business.owner.post(f"{PORTAL}/api-keys", body, status=422)
    assert refused.wrong_fields == {"scopes[0]"}
