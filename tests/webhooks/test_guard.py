"""The dialled addresses: with an empty allow list, no connection to any forbidden one."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest

from tests.webhooks import hostile_receivers
from tests.webhooks.forbidden_hosts import ODD_4, literals, names
from tests.webhooks.tls import Authority
from tillhouse.outgoing.guard import ForbiddenTarget, Guard
from tillhouse.providers.names import LookUp
from tillhouse.webhooks.sender.attempt import AttemptOutcome, attempt
from tillhouse.webhooks.sender.client import WebhookClient

Answers = list[tuple[int, Any]]


class Trap:
    """Listens on every address of this machine and counts who comes."""

    def __init__(self) -> None:
        self.accepted = 0
        self.port = 0
        self._servers: list[asyncio.Server] = []

    async def start(self) -> "Trap":
        """Listen on one port of both families."""
        self._servers.append(await asyncio.start_server(self._count, "0.0.0.0", 0))  # noqa: S104
        self.port = self._servers[0].sockets[0].getsockname()[1]
        with contextlib.suppress(OSError):
            self._servers.append(await asyncio.start_server(self._count, "::", self.port))
        return self

    async def stop(self) -> None:
        """Listen no more."""
        for server in self._servers:
            server.close()
            await server.wait_closed()

    async def _count(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        writer.transport.abort()


@pytest.fixture
async def trap() -> AsyncIterator[Trap]:
    """Somebody who would notice."""
    trap = await Trap().start()
    yield trap
    await trap.stop()


def _sockaddr(text: str, port: int = 443) -> tuple[int, Any]:
    if ":" in text:
        return socket.AF_INET6, (text, port, 0, 0)
    return socket.AF_INET, (text, port)


def _answering(*texts: str) -> LookUp:
    """A name server that answers with these addresses, whatever it is asked."""

    def ask(host: str, port: int) -> Answers:
        return [_sockaddr(text, port) for text in texts]

    return ask


async def _send(url: str, ask: LookUp | None = None, allowed: str | None = None) -> AttemptOutcome:
    networks = [ip_network(allowed)] if allowed else []
    client = WebhookClient(networks, None, ask) if ask else WebhookClient(networks, None)
    try:
        return await attempt(client, url, b"{}", {})
    finally:
        await client.close()


async def test_no_literal_is_dialled(trap: Trap) -> None:
    """Not even one that was saved before the rules knew it."""
    client = WebhookClient([], None)
    hosts = [*literals(), *ODD_4]
    urls = [f"https://{host}:{trap.port}/hook" for host in hosts]
    outcomes = await asyncio.gather(*(attempt(client, url, b"{}", {}) for url in urls))
    await client.close()
    assert trap.accepted == 0
    errors = {host: outcome.error for host, outcome in zip(hosts, outcomes, strict=True)}
    assert {host: errors[host] for host in literals()} == dict.fromkeys(
        literals(), "forbidden_target"
    )
    assert set(errors.values()) <= {"forbidden_target", "dns_failed", "bad_url"}


@pytest.mark.parametrize(
    "answers",
    [
        ("127.0.0.1",), ("::1",), ("10.0.0.1",), ("169.254.169.254",), ("fd00:ec2::254",),
        ("::ffff:127.0.0.1",), ("64:ff9b::7f00:1",), ("2002:7f00:1::1",), ("fe80::1%1",),
        ("8.8.8.8", "127.0.0.1"), ("127.0.0.1", "8.8.8.8"), ("2606:4700::1111", "::1"),
        ("0.0.0.0",), ("not an address",),  # noqa: S104 - an answer, no address to bind
    ],
)  # fmt: skip
async def test_no_name_leads_inwards(trap: Trap, answers: tuple[str, ...]) -> None:
    """However a name server gives it, alone or among public answers."""
    url = f"https://hooks.example.com:{trap.port}/"
    outcome = await _send(url, _answering(*answers))
    assert outcome.error == "forbidden_target"
    assert trap.accepted == 0


async def test_local_names_lead_nowhere(trap: Trap) -> None:
    """A name server of this machine may know them all: 127.0.0.1."""
    client = WebhookClient([], None, _answering("127.0.0.1"))
    for name in names():
        outcome = await attempt(client, f"https://{name}:{trap.port}/", b"{}", {})
        assert outcome.error in ("forbidden_target", "bad_url", "dns_failed"), name
    await client.close()
    outcome = await _send(f"https://localhost:{trap.port}/")
    assert outcome.error == "forbidden_target"
    assert trap.accepted == 0


class Turning(tuple[Any, ...]):
    """An address that is public when it is checked first and loopback ever after."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        if index != 0:
            return super().__getitem__(index)
        self.looks += 1
        return "8.8.8.8" if self.looks == 1 else "127.0.0.1"


async def test_the_check_sits_where_the_dial_is(trap: Trap) -> None:
    """An answer that is another one by the time of the dial is refused there."""
    turning = Turning(("8.8.8.8", trap.port))

    def ask(host: str, port: int) -> Answers:
        return [(socket.AF_INET, turning)]

    outcome = await _send(f"https://hooks.example.com:{trap.port}/", ask)
    assert outcome.error == "forbidden_target"
    assert turning.looks >= 2
    assert trap.accepted == 0


def test_sockets_are_made_for_public_addresses_alone() -> None:
    """For every caller."""
    guard = Guard([])
    for text in ("127.0.0.1", "::1", "10.0.0.1", "fe80::1%eth0", "64:ff9b::10.0.0.1", "nowhere"):
        family, sockaddr = _sockaddr(text)
        with pytest.raises(ForbiddenTarget):
            guard.open_socket(family, sockaddr[0])
    family, sockaddr = _sockaddr("8.8.8.8")
    guard.open_socket(family, sockaddr[0]).close()


async def test_a_name_that_is_rebound_is_refused_from_then_on(authority: Authority) -> None:
    """Where it led before does not matter; kept look-ups end with the client that kept them."""
    answers = iter(["127.0.0.1", "127.0.0.2"])

    def ask(host: str, port: int) -> Answers:
        return [_sockaddr(next(answers), port)]

    context = authority.server(("hooks.example.com",))
    async with hostile_receivers.serving(hostile_receivers.redirect, context) as url:
        named = url.replace("127.0.0.1", "hooks.example.com")
        for error in ("http_302", "forbidden_target"):
            client = WebhookClient([ip_network("127.0.0.1")], authority.ca_file, ask)
            assert (await attempt(client, named, b"{}", {})).error == error
            await client.close()


async def test_one_name_is_asked_for_once_at_a_time() -> None:
    """A hundred attempts at once are one question."""
    asked: list[str] = []

    def ask(host: str, port: int) -> Answers:
        asked.append(host)
        return [_sockaddr("10.0.0.1", port)]

    client = WebhookClient([], None, ask)
    url = "https://hooks.example.com/"
    outcomes = await asyncio.gather(*(attempt(client, url, b"{}", {}) for _ in range(100)))
    await client.close()
    assert {outcome.error for outcome in outcomes} == {"forbidden_target"}
    assert len(asked) <= 2
