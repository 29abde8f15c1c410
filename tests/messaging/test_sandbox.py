"""Writing in the sandbox: sent at once, reported on a moment later, failing where it is to fail."""

from datetime import datetime

import asyncpg
import pytest

from tests.api import Api
from tests.kitchen.sale_rows import Kitchen
from tests.make import Business
from tests.messaging.whatsapp_business import NUMBERS, later
from tests.routes.rooms.messaging import active_number
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.messaging.jobs import kinds

TALKS = "/v1/conversations"


@pytest.fixture
async def api(business: Business) -> Api:
    """Somebody who may read and write, in a book that has its number."""
    await active_number(business)
    return await business.client("messaging:read", "messaging:write")


async def talk(api: Api, phone: str) -> str:
    """A conversation's messages."""
    begun = await api.post(TALKS, {"phone_number": phone}, status=201)
    return f"{TALKS}/{begun.data['id']}/messages"


async def finish(services: Services) -> None:
    """A worker reports all that there is to report."""
    await work(services, later(minutes=1))


async def work(services: Services, at: datetime) -> None:
    """A worker does what is due at a moment."""
    runner = JobRunner(services.pool, kinds(services), services.job_results)
    await runner.run_due(at)


@pytest.mark.parametrize(
    ("phone", "at_once", "in_the_end"),
    [
        ("+2348030000001", "sent", "delivered"),
        ("+15550100001", "failed", "failed"),
        ("+15550100002", "failed", "failed"),
        ("+15550100003", "sent", "sent"),
        ("+15550100004", "sent", "read"),
        ("+15550100005", "sent", "failed"),
    ],
)
async def test_the_number_decides(
    api: Api, business: Business, services: Services, phone: str, at_once: str, in_the_end: str
) -> None:
    """The fate of a message is documented, number by number."""
    path = await talk(api, phone)
    message = (await api.post(path, {"text": "Ready!"}, status=201)).data
    assert message["deliveryStatus"] == at_once
    assert (message["error"] is None) == (at_once == "sent")
    await finish(services)
    (shown,) = (await api.get(path, status=200)).data
    assert shown["deliveryStatus"] == in_the_end
    kitchen = await Kitchen.of(services, business)
    assert len(await kitchen.events("messaging.message.sent")) == 1
    told = [d["deliveryStatus"] for d in await kitchen.events("messaging.message.delivery_updated")]
    assert told == list(dict.fromkeys([at_once, in_the_end]))


async def test_a_report_takes_a_moment(api: Api, services: Services) -> None:
    """Before its time no worker tells it."""
    path = await talk(api, "+2348030000001")
    began = now()
    await api.post(path, {"text": "Ready!"}, status=201)
    await work(services, began)
    assert (await api.get(path, status=200)).data[0]["deliveryStatus"] == "sent"


async def test_a_person_is_named_a_program_is_not(api: Api, business: Business) -> None:
    """The author, when it was a person."""
    path = await talk(api, "+2348030000001")
    headers = {"service-environment": "test"}
    await business.owner.post(path, {"text": "By hand"}, headers=headers, status=201)
    await api.post(path, {"text": "By program"}, status=201)
    found = (await api.get(path, status=200)).data
    assert [one["sentById"] for one in found] == [None, business.user_id]
    assert [one["text"] for one in found] == ["By program", "By hand"]


async def test_a_message_is_a_text_or_a_template(api: Api) -> None:
    """Neither and both are refused, and every wrong field is named."""
    path = await talk(api, "+2348030000001")
    template = {"name": "order_ready", "language": "en", "parameters": ["Bola"]}
    answer = await api.post(path, {"template": template}, status=201)
    assert (answer.data["type"], answer.data["text"]) == ("template", "[order_ready] Bola")
    assert (await api.post(path, {}, status=422)).wrong_fields == {"text"}
    both = await api.post(path, {"text": "x", "template": template}, status=422)
    assert both.wrong_fields == {"template"}
    bad = {"text": "", "template": {"name": "No Good", "language": "english", "parameters": [""]}}
    answer = await api.post(path, bad, status=422)
    assert answer.wrong_fields == {
        "text", "template.name", "template.language", "template.parameters[0]",
    }  # fmt: skip


async def test_without_a_number_nothing_is_written(
    api: Api, business: Business, sql: asyncpg.Connection
) -> None:
    """400 that says what to do; nothing is kept."""
    path = await talk(api, "+2348030000001")
    await api.delete(f"{NUMBERS}/{await active_number(business)}", status=200)
    answer = await api.post(path, {"text": "Ready!"}, status=400)
    assert "POST /v1/messaging/numbers" in answer.json["message"]
    inbound = {"from": "+2348030000001", "text": "Hi"}
    await api.post("/v1/messaging/sandbox/inbound", inbound, status=400)
    assert (await api.get(path, status=200)).data == []
    await api.post(NUMBERS, {"provider": "sandbox"}, status=201)
    await api.post(path, {"text": "Ready!"}, status=201)
