"""Telling customers of stages, in the sandbox: every outcome of the contract, from real rows."""

import asyncio
from typing import Any
from uuid import UUID

import msgspec
import pytest

from tests.kitchen.sale_rows import PHONE, Kitchen
from tests.make import Business
from tests.routes.rooms.messaging import active_number
from tillhouse.access.process import Services
from tillhouse.kit.json import encode
from tillhouse.kitchen import actions
from tillhouse.kitchen.types import SaleFacts, Ticket

MESSAGES = "/v1/kitchen/stage-messages"
SENT = "messaging.message.sent"
MOVED = "messaging.message.delivery_updated"
FAILS = "+15550100001"


@pytest.fixture
async def kitchen(services: Services, business: Business) -> Kitchen:
    """A kitchen that tells customers when something is ready."""
    kitchen = await Kitchen.of(services, business)
    await active_number(business)
    await say(kitchen, "ready", "Hi {customer}, {code} is ready at {table}.")
    return kitchen


async def say(kitchen: Kitchen, stage: str, text: str, *, is_sent: bool = True) -> None:
    """Set what is told at a stage."""
    api = await kitchen.business.client("orders:write")
    message = {"stage": stage, "is_sent": is_sent, "text": text}
    await api.request("PUT", MESSAGES, {"messages": [message]}, status=200)


async def told(kitchen: Kitchen, ticket: Ticket, stage: str, sale: SaleFacts | None) -> Any:
    """The notification as the wire has it."""
    found = await kitchen.act(actions.tell, ticket, stage, sale)
    assert found.sending is None, "the sandbox needs no network"
    return msgspec.json.decode(encode(found.notification))


async def test_a_customer_is_told(kitchen: Kitchen) -> None:
    """The text is filled in; message, name and phone are named; both events tell of it."""
    sale, ticket = await kitchen.ticket()
    found = await told(kitchen, ticket, "ready", sale)
    assert found == {
        "status": "sent",
        "messageId": found["messageId"],
        "customerName": "Bola",
        "customerPhone": PHONE,
    }
    (sent,) = await kitchen.events(SENT)
    assert sent["messageId"] == found["messageId"]
    assert sent["text"] == f"Hi Bola, {sale.short_code} is ready at T4."
    (moved,) = await kitchen.events(MOVED)
    assert (moved["messageId"], moved["deliveryStatus"]) == (found["messageId"], "sent")
    assert moved["metaMessageId"].startswith("sandbox.")


async def test_a_stage_is_told_once(kitchen: Kitchen) -> None:
    """Also when the ticket comes back to it; another stage is another message."""
    sale, ticket = await kitchen.ticket()
    await say(kitchen, "served", "Enjoy!")
    assert (await told(kitchen, ticket, "ready", sale))["status"] == "sent"
    assert await told(kitchen, ticket, "ready", sale) == {
        "status": "skipped",
        "reason": "already_sent",
    }
    assert (await told(kitchen, ticket, "served", sale))["status"] == "sent"
    other_sale, other = await kitchen.ticket()
    assert (await told(kitchen, other, "ready", other_sale))["status"] == "sent"


async def test_two_at_once_tell_once(kitchen: Kitchen) -> None:
    """The database decides; the others hear that it was told."""
    sale, ticket = await kitchen.ticket()
    found = await asyncio.gather(*(told(kitchen, ticket, "ready", sale) for _ in range(8)))
    assert sum(one["status"] == "sent" for one in found) == 1
    assert [one.get("reason") for one in found].count("already_sent") == 7
    assert len(await kitchen.events(SENT)) == 1


async def test_each_reason_from_real_rows(kitchen: Kitchen) -> None:
    """The facts of the rule are those of the tables."""
    sale, ticket = await kitchen.ticket()
    bare = msgspec.structs.replace(sale, customer_phone=None)

    async def reason(stage: str, facts: SaleFacts | None) -> tuple[str, str]:
        found = await told(kitchen, ticket, stage, facts)
        return found["status"], found["reason"]

    assert await reason("preparing", sale) == ("skipped", "auto_send_disabled")
    await say(kitchen, "preparing", "Text", is_sent=False)
    assert await reason("preparing", sale) == ("skipped", "auto_send_disabled")
    assert await reason("ready", None) == ("skipped", "sale_not_found")
    assert await reason("ready", bare) == ("skipped", "missing_customer_phone")
    await say(kitchen, "queued", " ")
    assert await reason("queued", sale) == ("skipped", "empty_message")
    api = await kitchen.business.client("messaging:write")
    number_id = await active_number(kitchen.business)
    await api.delete(f"/v1/messaging/numbers/{number_id}", status=200)
    assert await reason("ready", sale) == ("skipped", "whatsapp_not_connected")
    unchanged = await kitchen.act(actions.tell, ticket, "ready", sale, is_changed=False)
    assert unchanged.notification.reason == "status_unchanged"
    assert await kitchen.events(SENT) == []


async def test_a_number_that_fails_is_told_of(kitchen: Kitchen) -> None:
    """Sending was tried and failed; nothing was told, so the next time it is tried again."""
    sale, ticket = await kitchen.ticket(customer_phone=FAILS)
    for _ in range(2):
        assert await told(kitchen, ticket, "ready", sale) == {
            "status": "failed",
            "reason": "whatsapp_send_failed",
        }
    moved = await kitchen.events(MOVED)
    assert [data["deliveryStatus"] for data in moved] == ["failed", "failed"]


async def test_a_customer_is_known_in_the_conversation(kitchen: Kitchen) -> None:
    """The message is kept where a person reads on."""
    customer_id = (await kitchen.business.customer(name="Bola Ahmed"))["id"]
    sale, ticket = await kitchen.ticket(customer_id=UUID(customer_id))
    await told(kitchen, ticket, "ready", sale)
    api = await kitchen.business.client("messaging:read")
    (talk,) = (await api.get("/v1/conversations", status=200)).data
    assert talk["customer"] == {"id": customer_id, "name": "Bola Ahmed"}
    assert talk["customerPhone"] == PHONE
    assert talk["lastMessage"]["text"].startswith("Hi Bola")
    assert talk["lastReceivedAt"] is None


async def test_what_rolls_back_told_nobody(kitchen: Kitchen) -> None:
    """Message, event and ticket are of one transaction."""
    sale, ticket = await kitchen.ticket()

    async def half(call: Any) -> None:
        await actions.move(call, ticket.id, "ready")
        await actions.tell(call, ticket, "ready", sale)
        raise RuntimeError("the power goes")

    with pytest.raises(RuntimeError):
        await kitchen.act(half)
    assert await kitchen.events(SENT) == []
    assert (await told(kitchen, ticket, "ready", sale))["status"] == "sent"
