"""Receivers that mean harm cost ten seconds each, no memory, and nobody else anything."""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from ipaddress import ip_network

import psutil
import pytest

from tests.system.serving import report
from tests.waiting import ended
from tests.webhooks import hostile_receivers
from tests.webhooks.receiver import Receiver
from tests.webhooks.shop import Shop
from tests.webhooks.tls import Authority
from tillhouse.webhooks.sender.attempt import TIMEOUT_S, AttemptOutcome, attempt
from tillhouse.webhooks.sender.client import WebhookClient

pytestmark = pytest.mark.proof

# Far longer than a test may take: an attempt that has so long ends for another reason.
NEVER_S = 3600.0
# Events of a healthy endpoint, and those of them that come while every attempt hangs that may.
ROUNDS, ROUNDS_BESIDE = 20, 3

# trick → (what is noted of it, whether it takes the whole time).
COSTS: dict[str, tuple[str | None, bool]] = {
    "silence": ("timeout", True),
    "drip_head": ("timeout", True),
    "drip_body": (None, True),
    "drip_error": ("http_500", True),
    "endless_body": (None, False),
    "endless_chunk_size": (None, False),
    "endless_trailers": (None, False),
    "large_body": (None, False),
    "gzip_bomb": (None, False),
    "large_header": ("bad_response", False),
    "many_headers": ("bad_response", False),
    "long_status_line": ("bad_response", False),
    "early_hints": ("bad_response", False),
    "redirect": ("http_302", False),
    "switch": ("http_101", False),
    "cut_body": (None, False),
    "broken_chunks": (None, False),
    "nonsense": ("bad_response", False),
    "hang_up": ("connection_lost", False),
    "mute": ("timeout", True),
    "reset": ("tls_reset", False),
    "reset_handshake": ("tls_reset", False),
    "flood_handshake": ("tls_failed", False),
    "other_version": ("tls_version", False),
    "half_close": ("tls_reset", False),
    "speak_plainly": ("tls_missing", False),
    "endless_continue": ("bad_response", False),
    "drip_continue": ("bad_response", False),
    "some_continue": (None, False),
    "empty_lines": ("bad_response", False),
    "long_extensions": (None, False),
    "tiny_chunks": (None, False),
    "tiny_records": ("bad_response", False),
    "stray_bytes": (None, False),
    "body_of_no_content": (None, False),
    "two_lengths": (None, False),
    "half_head": ("connection_lost", False),
}


@pytest.fixture
async def client(authority: Authority) -> AsyncIterator[WebhookClient]:
    """A client as the sender has it."""
    client = WebhookClient([ip_network("127.0.0.1")], authority.ca_file)
    yield client
    await client.close()


@pytest.fixture
async def tricksters(authority: Authority) -> AsyncIterator[dict[str, str]]:
    """Where each trick is played, in a process of its own: its memory is not ours."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.webhooks.hostile_receivers", str(authority.pem()),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    yield json.loads(await ended(process.stdout.readline()))
    process.stdin.close()
    await ended(process.wait())


async def _try(
    client: WebhookClient, url: str, within_s: float = NEVER_S
) -> tuple[AttemptOutcome, float]:
    """The result of an attempt, and its duration."""
    began = time.perf_counter()
    headers = {"Content-Type": "application/json"}
    outcome = await ended(attempt(client, url, b"{}" * 1000, headers, within_s=within_s))
    return outcome, time.perf_counter() - began


async def _healthy(shop: Shop, receiver: Receiver, rounds: int) -> None:
    """The same business's healthy endpoint gets its events, one after the other."""
    for _ in range(rounds):
        count = len(receiver.received)
        await shop.emit()
        await receiver.until(count + 1)
        await shop.deliveries()


async def test_hostile_receivers_cost_time_and_nothing_else(
    client: WebhookClient,
    tricksters: dict[str, str],
    sender: Shop,
    receiver: Receiver,
) -> None:
    """All at once: each attempt ends with a word for it, memory stays flat.

    Those that take their whole time hang until a healthy endpoint has got its events. The others
    have an hour, and end by themselves.
    """
    await sender.endpoint(receiver.url)
    await _healthy(sender, receiver, 3)
    # Others' work adds to the memory of a process: the best of three says what the attempts take.
    for left in (2, 1, 0):
        before = psutil.Process().memory_info().rss
        tried = {
            name: asyncio.create_task(_try(client, url, TIMEOUT_S if COSTS[name][1] else NEVER_S))
            for name, url in tricksters.items()
        }
        await _healthy(sender, receiver, ROUNDS_BESIDE)
        assert not any(one.done() for name, one in tried.items() if COSTS[name][1])
        await _healthy(sender, receiver, ROUNDS - ROUNDS_BESIDE)
        results = {name: await one for name, one in tried.items()}
        _check(results)
        grown = psutil.Process().memory_info().rss - before
        longest_s = max(took for _, took in results.values())
        report(f"the longest attempt took {longest_s:.2f} s; memory grew by {grown >> 20} MiB")
        if grown < 30_000_000:
            return
        assert left, grown


# Each once held the loop for seconds, or took hundreds of milliseconds of the processor.
FLOODS = (
    "endless_continue", "early_hints", "empty_lines", "endless_chunk_size", "long_extensions",
    "tiny_chunks", "tiny_records", "flood_handshake",
)  # fmt: skip
FLOODS_AT_ONCE = 8
FLOOD_TIMES_MAX = 8.0


@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_costs_the_processor_little_more_than_an_honest_answer(
    client: WebhookClient, tricksters: dict[str, str], name: str
) -> None:
    """Eight at once: what is read of each is bounded, and so is the work for it."""

    async def cost(trick: str) -> float:
        began = time.process_time()
        await asyncio.gather(*(_try(client, tricksters[trick]) for _ in range(FLOODS_AT_ONCE)))
        return time.process_time() - began

    # Others' work on the machine adds to either; the best of three says what it takes.
    costs = [(await cost(name), await cost("hang_up")) for _ in range(3)]
    assert min(flood for flood, _ in costs) < FLOOD_TIMES_MAX * min(own for _, own in costs), costs


def _check(results: dict[str, tuple[AttemptOutcome, float]]) -> None:
    """Each has its word, and takes no less than its time."""
    assert {name: outcome.error for name, (outcome, _) in results.items()} == {
        name: error for name, (error, _) in COSTS.items()
    }
    for name, (outcome, took) in results.items():
        assert outcome.is_delivered == (outcome.error is None), name
        assert outcome.address == "127.0.0.1", name
        assert took > 9 or not COSTS[name][1], (name, took)
        assert len(outcome.response or "") <= 500


@pytest.mark.parametrize("name", ["expired", "of another host", "signed by itself"])
async def test_certificates_are_checked(
    client: WebhookClient, authority: Authority, name: str
) -> None:
    """A receiver without a valid certificate gets no payload."""
    context = {
        "expired": authority.server(lasts=-timedelta(days=1)),
        "of another host": authority.server(("example.com", "127.0.0.2")),
        "signed by itself": authority.server(is_self_signed=True),
    }[name]
    async with hostile_receivers.serving(hostile_receivers.redirect, context) as url:
        outcome, _ = await _try(client, url)
    assert (outcome.is_delivered, outcome.error) == (False, "tls_certificate")


async def test_a_kept_connection_that_was_closed_is_no_failure(
    client: WebhookClient, authority: Authority
) -> None:
    """A receiver that closes after each answer gets each attempt on a new connection."""
    answered = 0

    async def answer(reader: hostile_receivers.Reader, writer: hostile_receivers.Writer) -> None:
        nonlocal answered
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"{}{}")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            answered += 1

    async with hostile_receivers.serving(answer, authority.server()) as url:
        for number in range(5):
            outcome = await attempt(client, url, b"{}{}", {})
            assert outcome.is_delivered, outcome
            assert answered == number + 1
