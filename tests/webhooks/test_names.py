"""Name servers that never answer cost the endpoints of their own names, and nobody else."""

import asyncio
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest

from tests.waiting import HUNG_S, ended, within
from tests.webhooks.receiver import Receiver
from tests.webhooks.tls import Authority
from tillhouse.providers.names import (
    HANGS_AFTER_S,
    THREADS_HANGING,
    THREADS_NEW,
    THREADS_SILENT,
    Names,
    NoAnswer,
)
from tillhouse.webhooks.sender.attempt import AttemptOutcome, attempt
from tillhouse.webhooks.sender.client import WebhookClient

pytestmark = pytest.mark.proof

HEALTHY = "hooks.example.com"
PATIENCE_S = 1.5
# Far longer than a test may take: what has so long ends for another reason.
NEVER_S = 3600.0
# Waited for in full where nobody answers, and enough for dozens of threads to be told the answer.
LITTLE_PATIENCE_S = 0.8


class SilentServer:
    """A name server that takes questions and answers none until it is released."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.setblocking(False)
        self._asked: list[str] = []
        self._waiting: list[Any] = []
        self._is_released = False

    def ask(self, host: str, port: int) -> list[tuple[int, Any]]:
        """As the system's resolver asks: it blocks; names of example.com it knows itself."""
        if not host.endswith(".example.com"):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as question:
                question.settimeout(NEVER_S)
                question.connect(self._socket.getsockname())
                question.send(host.encode())
                question.recv(1)
        return [(socket.AF_INET, ("127.0.0.1", port))]

    def asked(self) -> list[str]:
        """Every name that it was asked for so far, in order."""
        while True:
            try:
                question, sender = self._socket.recvfrom(300)
            except BlockingIOError:
                return self._asked
            self._asked.append(question.decode())
            self._waiting.append(sender)
            if self._is_released:
                self.release()

    async def until(self, count: int, within_s: float = HUNG_S) -> list[str]:
        """Wait until it was asked so often."""
        async with within(within_s):
            while len(self.asked()) < count:  # noqa: ASYNC110 - the resolver's socket is blocking
                await asyncio.sleep(0.01)
        return self._asked

    def release(self) -> None:
        """Answer what was asked; from now on with every look."""
        self._is_released = True
        waiting, self._waiting = self._waiting, []
        for sender in waiting:
            self._socket.sendto(b".", sender)

    def hold(self) -> None:
        """Answer nothing again."""
        self._is_released = False

    def close(self) -> None:
        """Let go of every thread that waits."""
        self.asked()
        self.release()
        self._socket.close()


@pytest.fixture
async def server() -> AsyncIterator[SilentServer]:
    """A name server that hangs."""
    server = SilentServer()
    yield server
    server.close()


@pytest.fixture
async def named(authority: Authority) -> AsyncIterator[Receiver]:
    """A healthy receiver that goes by a name."""
    receiver = await Receiver().start(authority.server((HEALTHY,)))
    receiver.url = receiver.url.replace("127.0.0.1", HEALTHY)
    yield receiver
    await receiver.stop()


@pytest.fixture
async def client(authority: Authority, server: SilentServer) -> AsyncIterator[WebhookClient]:
    """A client as the sender has it, less patient with names."""
    client = WebhookClient([ip_network("127.0.0.1")], authority.ca_file, server.ask, PATIENCE_S)
    yield client
    await client.close()


async def _try(client: WebhookClient, url: str) -> AttemptOutcome:
    return await attempt(client, url, b"{}", {}, within_s=NEVER_S)


async def test_dead_names_hold_up_no_other(
    authority: Authority, server: SilentServer, named: Receiver
) -> None:
    """A hundred of them hang; one that nothing is known of yet is found while they do."""
    client = WebhookClient([ip_network("127.0.0.1")], authority.ca_file, server.ask, NEVER_S)
    dead = [
        asyncio.create_task(_try(client, f"https://shop{number}.dead.test/hook"))
        for number in range(100)
    ]
    await server.until(100)
    assert (await ended(_try(client, named.url))).is_delivered
    assert not any(one.done() for one in dead)
    for one in dead:
        one.cancel()
    await asyncio.gather(*dead, return_exceptions=True)
    await client.close()


async def test_an_attempt_on_a_dead_name_ends_before_its_time(
    client: WebhookClient, server: SilentServer
) -> None:
    """Each of a hundred gives up the name, in whose time the attempt's own is far from over."""
    tried = [_try(client, f"https://shop{number}.dead.test/hook") for number in range(100)]
    assert {one.error for one in await ended(asyncio.gather(*tried))} == {"dns_failed"}
    assert len(await server.until(100)) == 100


async def test_hundreds_of_dead_names_hold_up_a_new_one_for_a_moment(server: SilentServer) -> None:
    """More than have threads at once: those that hang soon count apart."""
    names = Names(server.ask, NEVER_S)
    count = 3 * THREADS_NEW
    dead = [
        asyncio.create_task(names.find(f"shop{number}.dead.test", 443)) for number in range(count)
    ]
    await server.until(THREADS_NEW)
    # Behind all that came before it, whose places become free one group after the other, though
    # none of them ends.
    assert await ended(names.find(HEALTHY, 443))
    assert not any(one.done() for one in dead)
    # The last group's threads may be about to ask.
    assert len(await server.until(count)) == count
    server.release()
    assert all(await asyncio.gather(*dead))
    names.close()


async def test_only_so_many_hang(server: SilentServer) -> None:
    """Then names that nothing is known of wait, and are told so; known ones do not."""
    # Four times the time in which all of them get their threads, one group after the other.
    names = Names(server.ask, 4 * HANGS_AFTER_S * THREADS_HANGING / THREADS_NEW)
    assert await names.find(HEALTHY, 443)
    most = THREADS_HANGING + THREADS_NEW
    dead = [
        asyncio.create_task(names.find(f"shop{number}.dead.test", 443)) for number in range(most)
    ]
    await server.until(most)
    with pytest.raises(NoAnswer):
        await names.find("new.example.com", 443)
    assert await names.find(HEALTHY, 443)
    server.release()
    await asyncio.gather(*dead, return_exceptions=True)
    assert await names.find("new.example.com", 443)
    names.close()


async def test_a_name_is_asked_for_once_at_a_time(
    client: WebhookClient, server: SilentServer
) -> None:
    """For every port; also by callers that come after the first gave up."""
    for _ in range(2):
        urls = [f"https://shop.dead.test:{port}/hook" for port in range(8000, 8020)]
        tried = await asyncio.gather(*(_try(client, url) for url in urls))
        assert {outcome.error for outcome in tried} == {"dns_failed"}
    assert server.asked() == ["shop.dead.test"]


async def test_names_that_were_silent_get_few_threads(server: SilentServer) -> None:
    """For a while after, so that they can't take those of names that nothing is known of."""
    names = Names(server.ask, LITTLE_PATIENCE_S)
    hosts = [f"shop{number}.dead.test" for number in range(40)]

    async def find(host: str) -> bool:
        try:
            await names.find(host, 443)
        except NoAnswer:
            return False
        return True

    for _ in range(2):
        assert not any(await asyncio.gather(*(find(host) for host in hosts)))
    assert len(await server.until(40)) == 40
    server.release()
    # These share the late answers, which end the threads; the names are as suspect as before.
    assert all(await asyncio.gather(*(find(host) for host in hosts)))
    server.hold()
    assert not any(await asyncio.gather(*(find(host) for host in hosts)))
    assert len(await server.until(40 + THREADS_SILENT)) == 40 + THREADS_SILENT
    assert await find(HEALTHY)
    names.close()


async def test_a_name_that_answers_again_is_trusted_again(server: SilentServer) -> None:
    """Its first answer in time is enough."""
    names = Names(server.ask, LITTLE_PATIENCE_S)
    with pytest.raises(NoAnswer):
        await names.find("shop.dead.test", 443)
    await server.until(1)
    server.release()
    answers = await names.find("shop.dead.test", 443)
    assert answers == [(socket.AF_INET, ("127.0.0.1", 443))]
    names.close()
