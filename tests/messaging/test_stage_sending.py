"""The kitchen tells customers by WhatsApp: kept in the transaction, sent after the commit."""

from typing import Any

import asyncpg
import msgspec

from tests.kitchen.sale_rows import PHONE
from tests.messaging.whatsapp_business import Line, later
from tillhouse.access.call import Call
from tillhouse.access.callers import SystemCaller
from tillhouse.kit.json import encode
from tillhouse.kitchen import actions
from tillhouse.kitchen.types import CustomerNotice, SaleFacts, Ticket

MESSAGES = "/v1/kitchen/stage-messages"


async def kept(line: Line, **fields: Any) -> tuple[SaleFacts, Ticket, CustomerNotice]:
    """A customer who is to be told that it is ready."""
    message = {"stage": "ready", "is_sent": True, "text": "{customer}: {code}!", **fields}
    await line.api.request("PUT", MESSAGES, {"messages": [message]}, status=200)
    sale, ticket = await line.kitchen.ticket()
    return sale, ticket, await line.kitchen.act(actions.tell, ticket, "ready", sale)


async def after(line: Line, told: CustomerNotice) -> dict[str, Any]:
    """The answer to the caller once the provider was asked."""
    assert told.sending is not None
    return msgspec.json.decode(encode(await actions.send(line.services, told.sending)))


async def test_it_is_sent_after_the_commit(line: Line) -> None:
    """In the transaction nobody is asked; after it, once."""
    sale, ticket, told = await kept(line)
    message_id = str(told.notification.message_id)
    assert await line.sent_to(message_id) == []
    assert await after(line, told) == {
        "status": "sent",
        "messageId": message_id,
        "customerName": "Bola",
        "customerPhone": PHONE,
    }
    (asked,) = await line.sent_to(message_id)
    assert asked["text"]["body"] == f"Bola: {sale.short_code}!"
    again = await line.kitchen.act(actions.tell, ticket, "ready", sale)
    assert (again.notification.reason, again.sending) == ("already_sent", None)


async def test_a_refusal_is_a_failed_notification(line: Line) -> None:
    """whatsapp_send_failed; nobody was told, so the next time it is tried again."""
    sale, ticket, told = await kept(line)
    line.meta.refuse(131047, "Re-engagement message")
    assert await after(line, told) == {"status": "failed", "reason": "whatsapp_send_failed"}
    line.meta.mood = "accepts"
    again = await line.kitchen.act(actions.tell, ticket, "ready", sale)
    assert (await after(line, again))["status"] == "sent"


async def test_silence_is_an_error_and_not_repeated(line: Line) -> None:
    """notification_error: the customer may have been told, so nobody tells again."""
    sale, ticket, told = await kept(line)
    line.meta.mood = "resets"
    assert await after(line, told) == {"status": "failed", "reason": "notification_error"}
    line.meta.mood = "accepts"
    again = await line.kitchen.act(actions.tell, ticket, "ready", sale)
    assert again.notification.reason == "already_sent"


async def test_a_crash_after_the_commit_tells_all_the_same(
    line: Line, sql: asyncpg.Connection
) -> None:
    """Nobody came to send it: a worker does, in its time."""
    _, _, told = await kept(line)
    message_id = str(told.notification.message_id)
    assert told.notification.status == "sent", "it is kept, so it will be"
    await line.work()
    assert await line.sent_to(message_id) == [], "whoever kept it goes first"
    await line.work(later(minutes=1))
    assert len(await line.sent_to(message_id)) == 1
    await after(line, told)
    assert len(await line.sent_to(message_id)) == 1


async def test_a_workers_message_is_sent_at_once(line: Line) -> None:
    """No request is there to send it after the commit, so nobody is waited for."""
    message = {"stage": "ready", "is_sent": True, "text": "{customer}: {code}!"}
    await line.api.request("PUT", MESSAGES, {"messages": [message]}, status=200)
    sale, ticket = await line.kitchen.ticket()

    async def tell(call: Call) -> CustomerNotice:
        by_itself = msgspec.structs.replace(call, caller=SystemCaller())
        return await actions.tell(by_itself, ticket, "ready", sale)

    told = await line.kitchen.act(tell)
    await line.work()
    assert len(await line.sent_to(str(told.notification.message_id))) == 1


async def test_a_template_speaks_where_free_text_may_not(line: Line) -> None:
    """Outside the window the template goes out, with the placeholders' values; within, the text."""
    template = {"name": "order_ready", "language": "en"}
    sale, _, told = await kept(line, template=template)
    await after(line, told)
    (asked,) = await line.sent_to(str(told.notification.message_id))
    assert asked["template"]["name"] == "order_ready"
    parameters = asked["template"]["components"][0]["parameters"]
    assert [one["text"] for one in parameters] == ["Bola", sale.short_code]
    await line.hear()
    sale, _, told = await kept(line, template=template)
    await after(line, told)
    (asked,) = await line.sent_to(str(told.notification.message_id))
    assert asked["text"]["body"] == f"Bola: {sale.short_code}!"
