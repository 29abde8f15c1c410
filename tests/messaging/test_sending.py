"""Sending by WhatsApp: after the commit, or by a worker; twice never."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.messaging.whatsapp_business import NUMBERS, Line, later, said
from tests.waiting import within
from tillhouse.jobs.runner import JobRunner
from tillhouse.messaging import sending
from tillhouse.messaging.jobs import kinds
from tillhouse.messaging.types import QueuedMessage
from tillhouse.providers.messaging.whatsapp import WhatsApp

MOVED = "messaging.message.delivery_updated"


async def queued(line: Line, sql: asyncpg.Connection) -> str:
    """A message that was queued, and whose process was killed before it was sent."""
    talk = await line.hear()
    message = (await line.write(talk, {"text": "Ready!"}, status=201)).data
    line.meta.taken.clear()
    await sql.execute(
        """
        WITH undone AS (
            UPDATE messages SET delivery_status = 'queued', provider_message_id = NULL
            WHERE id = $1::text::uuid RETURNING book_id, id
        )
        INSERT INTO jobs (book_id, id, kind, subject_id, due_at, created_at)
        SELECT book_id, gen_random_uuid(), 'message', id, now(), now() FROM undone
        """,
        message["id"],
    )
    return message["id"]


async def status_of(sql: asyncpg.Connection, message_id: str) -> str:
    """How far a message got."""
    rows = await sql.fetch(
        "SELECT delivery_status FROM messages WHERE id = $1::text::uuid", message_id
    )
    return rows[0]["delivery_status"]


async def test_the_answer_tells_what_whatsapp_said(line: Line) -> None:
    """The commit comes first, then the question; a replay tells the same and asks nobody."""
    talk = await line.hear()
    headers = {"idempotency-key": str(uuid4())}
    first = await line.write(talk, {"text": "Ready!"}, headers=headers, status=201)
    assert first.data["deliveryStatus"] == "sent"
    assert first.data["providerMessageId"] == f"wamid.{first.data['id']}"
    again = await line.write(talk, {"text": "Ready!"}, headers=headers, status=201)
    assert again.json == first.json
    (asked,) = await line.sent_to(first.data["id"])
    assert asked["text"]["body"] == "Ready!"
    assert asked["to"] == "+2348030000001"
    (moved,) = await line.kitchen.events(MOVED)
    assert (moved["deliveryStatus"], moved["metaMessageId"]) == (
        "sent",
        first.data["providerMessageId"],
    )


async def test_a_refusal_is_told_and_kept(line: Line) -> None:
    """201: the message is kept, and says that it failed."""
    talk = await line.hear()
    line.meta.refuse(131026, "Message undeliverable")
    message = (await line.write(talk, {"text": "Ready!"}, status=201)).data
    assert message["deliveryStatus"] == "failed"
    assert message["error"] == "131026: Message undeliverable"
    await line.work(later(days=1))
    assert len(await line.sent_to(message["id"])) == 1


async def test_what_is_slowed_down_is_sent_later(line: Line, sql: asyncpg.Connection) -> None:
    """It was not taken, so it waits in the queue, and a worker sends it."""
    talk = await line.hear()
    line.meta.refuse(130429, "Rate limit hit", 429)
    message = (await line.write(talk, {"text": "Ready!"}, status=201)).data
    assert message["deliveryStatus"] == "queued"
    await line.work()
    assert len(await line.sent_to(message["id"])) == 1, "not before its time"
    line.meta.mood = "accepts"
    await line.work(later(hours=1))
    assert await status_of(sql, message["id"]) == "sent"
    assert len(await line.sent_to(message["id"])) == 2


async def test_who_is_always_slowed_down_gives_up(line: Line, sql: asyncpg.Connection) -> None:
    """After some attempts it has failed."""
    talk = await line.hear()
    line.meta.refuse(130429, "Rate limit hit", 429)
    message = (await line.write(talk, {"text": "Ready!"}, status=201)).data
    for hours in range(1, 10):
        await line.work(later(hours=hours))
    assert await status_of(sql, message["id"]) == "failed"
    assert len(await line.sent_to(message["id"])) == sending.ATTEMPTS_MAX


@pytest.mark.parametrize("mood", ["resets", "babbles"])
async def test_silence_is_unknown_and_never_repeated(
    line: Line, sql: asyncpg.Connection, mood: str
) -> None:
    """A customer who may have been told is not told again, until WhatsApp says how it went."""
    talk = await line.hear()
    line.meta.mood = mood
    message = (await line.write(talk, {"text": "Ready!"}, status=201)).data
    assert message["deliveryStatus"] == "unknown"
    line.meta.mood = "accepts"
    await line.work(later(days=1))
    assert len(await line.sent_to(message["id"])) == 1
    report = {
        "id": "wamid.found",
        "status": "delivered",
        "biz_opaque_callback_data": message["id"],
    }
    await line.post(statuses=[report])
    shown = (await line.read(talk))[-1]
    assert (shown["deliveryStatus"], shown["providerMessageId"]) == ("delivered", "wamid.found")
    assert await status_of(sql, message["id"]) == "delivered"


async def test_an_id_that_is_given_twice_is_believed_once(line: Line) -> None:
    """The second message is unknown, and the caller hears so; nothing breaks."""
    talk = await line.hear()
    line.meta.answer(200, b'{"messages": [{"id": "wamid.twice"}]}')
    first = (await line.write(talk, {"text": "One"}, status=201)).data
    second = (await line.write(talk, {"text": "Two"}, status=201)).data
    assert (first["deliveryStatus"], first["providerMessageId"]) == ("sent", "wamid.twice")
    assert (second["deliveryStatus"], second["providerMessageId"]) == ("unknown", None)


async def test_a_postman_works_by_himself(line: Line, sql: asyncpg.Connection) -> None:
    """The worker sends due messages by itself, and ends when it is told to."""
    message_id = await queued(line, sql)
    jobs = kinds(line.services)
    worker = JobRunner(line.services.pool, jobs, line.services.job_results).worker("jobs")
    worker.start()
    async with within():
        while await status_of(sql, message_id) != "sent":  # noqa: ASYNC110 - no notification comes
            await asyncio.sleep(0.02)
        await worker.stop()


async def test_a_crash_before_sending_loses_nothing(line: Line, sql: asyncpg.Connection) -> None:
    """A worker finds what was queued and sends it, once."""
    message_id = await queued(line, sql)
    await line.work(later(minutes=1))
    assert await status_of(sql, message_id) == "sent"
    await line.work(later(days=1))
    assert len(await line.sent_to(message_id)) == 1


async def test_a_crash_while_sending_sends_nothing_twice(
    line: Line, sql: asyncpg.Connection
) -> None:
    """When the lease ends it is unknown what became of it, and stays unsent."""
    message_id = await queued(line, sql)
    line.meta.mood = "hangs"
    line.meta.asked.clear()
    patient = WhatsApp(line.meta.url, timeout_s=30)
    place = QueuedMessage(line.kitchen.book.id, UUID(message_id))
    task = asyncio.create_task(sending.send(line.services, place, lambda _provider: patient))
    await line.meta.asked.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    line.meta.mood = "accepts"
    await line.work()
    assert await status_of(sql, message_id) == "sending", "its lease holds"
    await line.work(later(seconds=sending.LEASE.total_seconds() + 1))
    assert await status_of(sql, message_id) == "unknown"
    await line.work(later(days=1))
    assert len(await line.sent_to(message_id)) == 1


async def test_many_senders_at_once_send_once(line: Line, sql: asyncpg.Connection) -> None:
    """Workers and the request itself: one takes it, the others leave it."""
    message_id = await queued(line, sql)
    # Due for the workers, and well before the lease of whoever takes it ends.
    place = QueuedMessage(line.kitchen.book.id, UUID(message_id))
    found = await asyncio.gather(
        *(sending.send(line.services, place) for _ in range(5)),
        *(line.work(later(seconds=30)) for _ in range(5)),
    )
    assert len(await line.sent_to(message_id)) == 1
    assert await status_of(sql, message_id) == "sent"
    assert {one for one in found if one} <= {"sent", "sending"}


async def test_a_number_that_is_gone_sends_no_more(line: Line, sql: asyncpg.Connection) -> None:
    """Messages queued for it fail, and say why."""
    message_id = await queued(line, sql)
    await line.api.delete(f"{NUMBERS}/{line.number['id']}", status=200)
    await line.work(later(minutes=1))
    assert await status_of(sql, message_id) == "failed"
    assert await line.sent_to(message_id) == []


async def test_free_text_needs_an_open_window(line: Line) -> None:
    """Within 24 hours of the customer's last message, by WhatsApp's clock; else a template."""
    talk = await line.talk()
    template: dict[str, Any] = {"name": "hello", "language": "en", "parameters": []}

    async def may_write() -> bool:
        answer = await line.write(talk, {"text": "Ready!"})
        if answer.status != 201:
            assert (answer.status, answer.error) == (400, "request_failed")
            assert "template" in answer.json["message"]
        await line.write(talk, {"template": template}, status=201)
        return answer.status == 201

    assert not await may_write()
    await line.post(messages=[said("Old", at=later(hours=-24.1))])
    assert not await may_write()
    await line.post(messages=[said("Newer", at=later(hours=-23.9))])
    assert await may_write()
    await line.post(messages=[said("Late", at=later(hours=-30))])
    assert await may_write(), "an older message that comes late closes nothing"
