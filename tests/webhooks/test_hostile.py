"""Receivers that mean harm cost ten seconds each, no memory, and nobody else anything."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_network

import aiohttp
import psutil
import pytest

from tests.webhooks import hostile
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop
from tests.webhooks.tls import Authority
from tillhouse.webhooks.sender.attempt import Outcome, attempt
from tillhouse.webhooks.sender.guard import session

# trick → (what is noted of it, whether it takes the whole time).
TRICKS: dict[str, tuple[hostile.Trick, str | None, bool]] = {
    "never answers": (hostile.silence, "timeout", True),
    "drips its headers": (hostile.drip_head, "timeout", True),
    "drips the body of a 200": (hostile.drip_body, None, True),
    "drips the body of a 500": (hostile.drip_error, "http_500", True),
    "sends a body without end": (hostile.endless_body, None, False),
    "sends a chunk size without end": (hostile.endless_chunk_size, None, False),
    "sends trailers without end": (hostile.endless_trailers, None, False),
    "sends ten megabytes": (hostile.large_body, None, False),
    "sends a gzip bomb": (hostile.gzip_bomb, None, False),
    "sends a header of a megabyte": (hostile.large_header, "bad_response", False),
    "sends headers without end": (hostile.many_headers, "bad_response", False),
    "sends a status line without end": (hostile.long_status_line, "bad_response", False),
    "sends interim answers without end": (hostile.early_hints, "timeout", True),
    "redirects to itself": (hostile.redirect, "http_302", False),
    "switches protocols": (hostile.switch, "http_101", False),
    "cuts its body short": (hostile.cut_body, None, False),
    "breaks its chunks": (hostile.broken_chunks, None, False),
    "speaks another protocol": (hostile.nonsense, "bad_response", False),
    "hangs up": (hostile.hang_up, "connection_lost", False),
}
PLAIN_TRICKS: dict[str, tuple[hostile.Trick, str, bool]] = {
    "takes the handshake and is silent": (hostile.mute, "timeout", True),
    "resets the connection": (hostile.reset, "connection_lost", False),
    "half-closes the handshake": (hostile.half_close, "connection_lost", False),
    "speaks no TLS": (hostile.speak_plainly, "tls_failed", False),
}


@pytest.fixture
async def client(authority: Authority) -> AsyncIterator[aiohttp.ClientSession]:
    """A client as the sender has it."""
    client = session([ip_network("127.0.0.1")], authority.ca_file)
    yield client
    await client.close()


async def _try(
    client: aiohttp.ClientSession, trick: hostile.Trick, context: ssl.SSLContext | None
) -> tuple[Outcome, float]:
    """What an attempt at this trickster comes to, and how long it takes."""
    async with hostile.serving(trick, context) as url:
        began = time.perf_counter()
        outcome = await attempt(client, url, b"{}" * 1000, {"Content-Type": "application/json"})
        return outcome, time.perf_counter() - began


async def _healthy(shop: Shop, receiver: Receiver, rounds: int) -> list[float]:
    """How long the same business's healthy endpoint waits for its events meanwhile."""
    took: list[float] = []
    for number in range(rounds):
        began = time.perf_counter()
        await shop.emit()
        await receiver.until(number + 1)
        took.append(time.perf_counter() - began)
        await asyncio.wait([asyncio.ensure_future(shop.deliveries())])
    return took


async def test_hostile_receivers_cost_time_and_nothing_else(
    client: aiohttp.ClientSession, authority: Authority, sender: Shop, receiver: Receiver
) -> None:
    """All at once: each attempt ends in time with a word for it, memory stays flat."""
    await sender.endpoint(receiver.url)
    context = authority.server()
    tricks = [(name, *rest, context) for name, rest in TRICKS.items()]
    tricks += [(name, *rest, None) for name, rest in PLAIN_TRICKS.items()]
    await _healthy(sender, receiver, 3)
    receiver.received.clear()
    process = psutil.Process()
    before = process.memory_info().rss
    tried = asyncio.gather(*(_try(client, trick, tls) for _, trick, _, _, tls in tricks))
    waits = await _healthy(sender, receiver, 20)
    results = await tried
    grown = process.memory_info().rss - before
    assert grown < 30_000_000, grown
    assert sorted(waits)[-2] < 1.0, waits
    for (name, _, error, is_long, _), (outcome, took) in zip(tricks, results, strict=True):
        assert (name, outcome.error) == (name, error)
        assert outcome.is_delivered == (error is None), name
        assert took < 10.5, (name, took)
        assert (took > 9) == is_long, (name, took)
        assert len(outcome.response or "") <= 500


@pytest.mark.parametrize("name", ["expired", "of another host", "signed by itself"])
async def test_certificates_are_checked(
    client: aiohttp.ClientSession, authority: Authority, name: str
) -> None:
    """Whoever can't prove who it is gets no payload."""
    context = {
        "expired": authority.server(lasts=-timedelta(days=1)),
        "of another host": authority.server(("example.com", "127.0.0.2")),
        "signed by itself": authority.server(is_self_signed=True),
    }[name]
    outcome, took = await _try(client, hostile.redirect, context)
    assert (outcome.is_delivered, outcome.error) == (False, "tls_certificate")
    assert took < 5


async def test_a_kept_connection_that_was_closed_is_no_failure(
    client: aiohttp.ClientSession, authority: Authority
) -> None:
    """A receiver that closes after each answer gets each attempt on a new connection."""
    answered = 0

    async def answer(reader: hostile.Reader, writer: hostile.Writer) -> None:
        nonlocal answered
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"{}{}")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            answered += 1

    async with hostile.serving(answer, authority.server()) as url:
        for number in range(5):
            outcome = await attempt(client, url, b"{}{}", {})
            assert outcome.is_delivered, outcome
            assert answered == number + 1
