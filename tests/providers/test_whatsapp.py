"""WhatsApp's Cloud API: what is sent, and what each kind of answer is taken for."""

import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.providers.whatsapp_server import NUMBER_ID, TOKEN, Meta
from tillhouse.kit.ids import new_id
from tillhouse.providers.messaging import whatsapp_media
from tillhouse.providers.messaging.provider import (
    Fetched,
    MessagingAccount,
    OutgoingMessage,
    SendOutcome,
    Template,
)
from tillhouse.providers.messaging.whatsapp import WhatsApp, judge

ACCOUNT = MessagingAccount(NUMBER_ID, TOKEN)


@pytest.fixture
async def meta() -> AsyncIterator[Meta]:
    """A server of this test's own."""
    meta = await Meta().start()
    yield meta
    await meta.stop()


def text(to: str = "+2348030000001") -> OutgoingMessage:
    """A plain message."""
    return OutgoingMessage(message_id=new_id(), to=to, text="Your order is ready.")


async def send(
    meta: Meta, message: OutgoingMessage, account: MessagingAccount = ACCOUNT
) -> SendOutcome:
    """Send it to this server."""
    return await WhatsApp(meta.url, timeout_s=30).send(account, message)


async def test_a_text_is_sent_as_documented(meta: Meta) -> None:
    """Path, bearer token and body are those of the documentation; our id travels along."""
    message = text()
    outcome = await send(meta, message)
    assert outcome == SendOutcome("sent", f"wamid.{message.message_id}")
    assert meta.paths == [f"/v23.0/{NUMBER_ID}/messages"]
    assert meta.taken == [
        {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": "+2348030000001",
            "biz_opaque_callback_data": str(message.message_id),
            "type": "text",
            "text": {"body": "Your order is ready.", "preview_url": False},
        }
    ]


async def test_a_template_is_sent_with_its_parameters(meta: Meta) -> None:
    """It stands in the place of the text; without parameters it has no components."""
    for parameters, components in (
        (["Bola", "7KQ4"], [{"type": "text", "text": "Bola"}, {"type": "text", "text": "7KQ4"}]),
        ([], None),
    ):
        template = Template("order_ready", "en_US", parameters)
        message = OutgoingMessage(
            message_id=new_id(), to="+2348030000001", text="x", template=template
        )
        await send(meta, message)
        expected: dict[str, Any] = {"name": "order_ready", "language": {"code": "en_US"}}
        if components:
            expected["components"] = [{"type": "body", "parameters": components}]
        assert meta.taken[-1]["type"] == "template"
        assert meta.taken[-1]["template"] == expected
        assert "text" not in meta.taken[-1]


async def test_a_person_without_a_number_is_written_to_by_id(meta: Meta) -> None:
    """A customer with a hidden number has an id, which goes into another field."""
    await send(meta, text(to="NG.13491208655302741918"))
    assert meta.taken[0]["recipient"] == "NG.13491208655302741918"
    assert "to" not in meta.taken[0]


@pytest.mark.parametrize("code", [131026, 131047, 131048, 131050, 132000, 132001, 100])
async def test_a_refusal_is_final(meta: Meta, code: int) -> None:
    """With the code and the words of the provider."""
    meta.refuse(code, "No")
    assert await send(meta, text()) == SendOutcome("failed", error=f"{code}: No")


@pytest.mark.parametrize(
    ("code", "status"),
    [(4, 400), (80007, 400), (130429, 429), (131000, 500), (131016, 503), (131056, 400)],
)
async def test_a_refusal_that_passes_is_tried_again(meta: Meta, code: int, status: int) -> None:
    """Too fast, too much, or briefly down: it was not taken, so a later attempt is safe."""
    meta.refuse(code, "Slow down", status)
    assert await send(meta, text()) == SendOutcome("later", error=f"{code}: Slow down")


async def test_a_wrong_token_is_final(meta: Meta) -> None:
    """Nothing is gained by trying again."""
    outcome = await send(meta, text(), MessagingAccount(NUMBER_ID, "another"))
    assert outcome.result == "failed"
    assert "190" in str(outcome.error)


@pytest.mark.parametrize("mood", ["hangs", "resets"])
async def test_silence_after_the_question_is_unknown(meta: Meta, mood: str) -> None:
    """It may have been taken, so it must not be sent again."""
    meta.mood = mood
    # Longer and longer: a busy machine may not get through to the question in so short a time.
    for timeout_s in (0.3, 3, 30):
        message = text()
        outcome = await WhatsApp(meta.url, timeout_s=timeout_s).send(ACCOUNT, message)
        asked = [one["biz_opaque_callback_data"] for one in meta.taken]
        if str(message.message_id) in asked:
            break
    assert outcome.result == "unknown"
    assert asked.count(str(message.message_id)) == 1


async def test_nobody_there_means_later(meta: Meta) -> None:
    """An unreachable provider has taken nothing."""
    with socket.socket() as deaf:
        # Bound and not listening: nobody else can open the port meanwhile.
        deaf.bind(("127.0.0.1", 0))
        meta.url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        assert (await send(meta, text())).result == "later"
    assert meta.taken == []


@pytest.mark.parametrize(
    ("status", "body", "result"),
    [
        (200, b"", "unknown"),
        (200, b"<html>", "unknown"),
        (200, b"{}", "unknown"),
        (200, b'{"messages": []}', "unknown"),
        (200, b'{"messages": [{"id": ""}]}', "unknown"),
        (200, b'{"messages": [{"id": 5}]}', "unknown"),
        (200, b'{"messages": [{"id": "wamid.1"}]}', "sent"),
        (200, b"\xff" * 100_000, "unknown"),
        (302, b"", "unknown"),
        (400, b"nonsense", "failed"),
        (400, b'{"error": "no"}', "failed"),
        (403, b'{"error": {"code": "x"}}', "failed"),
        (408, b"", "unknown"),
        (429, b"", "later"),
        (500, b"<html>", "unknown"),
        (502, b"", "unknown"),
        (503, b'{"error": {"code": 2, "message": "down"}}', "failed"),
    ],
)
async def test_odd_answers(meta: Meta, status: int, body: bytes, result: str) -> None:
    """No answer whatsoever raises, and only what names a message counts as sent."""
    meta.answer(status, body)
    assert (await send(meta, text())).result == result
    assert judge(status, body).result == result


def test_a_token_is_in_no_text() -> None:
    """An account that is printed into a log tells no secret."""
    assert TOKEN not in repr(ACCOUNT)


async def test_a_host_of_files_that_leads_inwards_is_not_asked(meta: Meta) -> None:
    """A trusted name with an address of this network is refused where it would be dialled."""
    meta.elsewhere["media.inside"] = "https://localhost/media.inside"
    hosts = (".localhost",)
    fetched = await whatsapp_media.fetch(meta.url, ACCOUNT, "media.inside", 1000, hosts)
    assert fetched == Fetched("failed", error="the file lies at a foreign address")
