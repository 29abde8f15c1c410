"""Calls: which answers mean which of the three failures, and how each reads."""

import asyncio

import pytest

from tillhouse.providers.payments.calling import (
    BadKey,
    Caller,
    ProviderAnswer,
    ProviderRequest,
    settle,
)
from tillhouse.providers.payments.paystack_answers import words
from tillhouse.providers.payments.provider import (
    NotReached,
    ProviderRefused,
    Unclear,
    Unknown,
    in_words,
)

NO = b'{"status": false, "message": "No", "code": "a_code"}'


@pytest.mark.parametrize(
    ("status", "body", "of_a_question", "of_a_change"),
    [
        (400, NO, ProviderRefused, ProviderRefused),
        (401, NO, BadKey, BadKey),
        (403, NO, BadKey, BadKey),
        (404, NO, Unknown, ProviderRefused),
        (408, NO, NotReached, Unclear),
        (409, NO, ProviderRefused, ProviderRefused),
        (429, NO, NotReached, NotReached),
        # Something in between refuses: the provider never heard of it.
        (403, b"<html>", NotReached, NotReached),
        (404, b"", NotReached, NotReached),
        (413, b'{"error": "no"}', NotReached, NotReached),
        (101, b"", NotReached, Unclear),
        (302, NO, NotReached, Unclear),
        (500, NO, NotReached, Unclear),
        (502, b"", NotReached, Unclear),
        (503, NO, NotReached, Unclear),
        (599, NO, NotReached, Unclear),
    ],
)
def test_statuses(
    status: int, body: bytes, of_a_question: type[Exception], of_a_change: type[Exception]
) -> None:
    """A change that may have happened is never refused."""
    for changes, expected in ((False, of_a_question), (True, of_a_change)):
        with pytest.raises(Exception, match=r".*") as caught:
            settle(ProviderAnswer(status, body, changes), words)
        assert type(caught.value) is expected
        if isinstance(caught.value, ProviderRefused):
            assert str(caught.value) == "a_code: No"


def test_a_long_refusal_is_cut() -> None:
    """Its words go into rows and pages."""
    body = b'{"status": false, "message": "' + b"x" * 100_000 + b'"}'
    with pytest.raises(ProviderRefused) as caught:
        settle(ProviderAnswer(400, body, True), words)
    assert len(str(caught.value)) == 300


async def _close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.close()


async def _chat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"220 smtp.example ready\r\n")
    await writer.drain()
    writer.close()


async def _failure(address: str, *, changes: bool = False) -> str:
    with pytest.raises((NotReached, Unclear)) as caught:
        await Caller(address, timeout_s=5).call(
            ProviderRequest(path="/v1", headers={}, changes=changes)
        )
    return in_words(caught.value)


async def test_a_connection_that_fails_is_told_in_words() -> None:
    """No class of an exception is: an operator reads it."""
    servers = [await asyncio.start_server(of, "127.0.0.1", 0) for of in (_close, _chat)]
    closing, chatting = (f"http://127.0.0.1:{one.sockets[0].getsockname()[1]}" for one in servers)
    assert await _failure("http://nowhere.invalid") == "not reached: its address is not found (DNS)"
    closed = "it closed the connection before it answered"
    assert await _failure(closing) == f"not reached: {closed}"
    assert await _failure(closing, changes=True) == f"no clear answer: {closed}"
    assert "no HTTP" in await _failure(chatting)
    for one in servers:
        one.close()
        await one.wait_closed()
    assert await _failure(closing, changes=True) == "not reached: it takes no connection"
