"""Kills the API, the worker and PostgreSQL at random, and looks what was lost: `make chaos`.

Clients queue test events with an Idempotency-Key and repeat each request until it is answered,
as integrators are told to. The oracle: every acknowledged event was received, each request had
one effect, and every delivery ended delivered.
"""

import argparse
import asyncio
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import asyncpg
import msgspec

from tests.cli.command import COMMAND, environment
from tests.make import PASSWORD
from tests.system.serving import until
from tests.waiting import HUNG_S
from tests.webhooks.receiver import Receiver
from tests.webhooks.tls import Authority
from tillhouse.db.embedded import Embedded

CLIENTS = 4
PAUSE_S = 0.05
BETWEEN_KILLS_S = (0.3, 2.0)
SETTLED_WITHIN_S = 90.0
VICTIMS = ("api", "worker", "postgres")


class Report(msgspec.Struct):
    """The counts and findings of a run."""

    kills: Counter[str]
    acknowledged: int
    received: int
    lost: int
    twice: int
    events: int
    undelivered: int
    seconds: float

    def __str__(self) -> str:
        killed = ", ".join(f"{name} {count}" for name, count in sorted(self.kills.items()))
        return (
            f"{sum(self.kills.values())} kills ({killed}) in {self.seconds:.0f} s: "
            f"{self.acknowledged} events acknowledged, {self.lost} lost, {self.events} written, "
            f"{self.undelivered} undelivered; {self.twice} received more than once"
        )


class Chaos:
    """One installation under fire."""

    def __init__(self, folder: Path, port: int, receiver: Receiver, ca_file: Path) -> None:
        self._data = folder / "data"
        self._port = port
        self._receiver = receiver
        self._log = (folder / "log").open("ab")
        self._environment = environment(
            DATA=str(self._data),
            PORT=str(port),
            RATE_LIMIT="0",
            REGISTRATION_LIMIT="0",
            LOG_LEVEL="error",
            WEBHOOK_ALLOW_TARGETS="127.0.0.1",
            WEBHOOK_CA_FILE=str(ca_file),
            WEBHOOK_RETRY_BASE_S="0.5",
            WEBHOOK_RETRY_FACTOR="1",
            WEBHOOK_LEASE_S="2",
        )
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._acknowledged: set[str] = set()
        self._done = asyncio.Event()

    async def run(self, kills: int, seed: int) -> Report:
        """Kill so many times under load, then wait until all is quiet and count."""
        began = time.monotonic()
        chance = random.Random(seed)  # noqa: S311 - to repeat a run
        self._start("api")
        async with aiohttp.ClientSession(f"http://127.0.0.1:{self._port}") as session:
            token = await self._register(session)
            endpoint = await self._endpoint(session, token)
            self._start("worker")
            clients = [
                asyncio.create_task(self._client(session, token, endpoint)) for _ in range(CLIENTS)
            ]
            killed: Counter[str] = Counter()
            for number, victim in enumerate(_victims(kills, chance)):
                await asyncio.sleep(chance.uniform(*BETWEEN_KILLS_S))
                self._revive()
                if number % len(VICTIMS) == 0:
                    # A slow machine would be killed faster than it starts, and answer nothing.
                    await self._answer_some()
                self._kill(victim)
                killed[victim] += 1
            self._done.set()
            await self._settled(clients)
        await self._settle()
        return await self._report(killed, time.monotonic() - began)

    def stop(self) -> None:
        """End what still runs, as an operator does."""
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            process.wait(HUNG_S)
        self._log.close()

    def _start(self, name: str) -> None:
        args = ["serve", "--no-work"] if name == "api" else ["work"]
        self._processes[name] = subprocess.Popen(
            [*COMMAND, *args],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
        )

    def _revive(self) -> None:
        """Start again what ended by itself, as every process manager does."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                self._start(name)

    def _kill(self, victim: str) -> None:
        if victim == "postgres":
            # `serve` sees it and starts it again.
            with contextlib.suppress(OSError, ValueError, IndexError, ProcessLookupError):
                status = (self._data / "postgres" / "postmaster.pid").read_text()
                subprocess.run(["kill", "-9", status.split()[0]], check=False)  # noqa: S607
            return
        self._processes[victim].kill()
        self._processes[victim].wait()
        self._start(victim)

    async def _client(self, session: aiohttp.ClientSession, token: str, endpoint: str) -> None:
        while not self._done.is_set():
            await self._queue_one(session, token, endpoint)
            await asyncio.sleep(PAUSE_S)

    async def _queue_one(self, session: aiohttp.ClientSession, token: str, endpoint: str) -> None:
        """One test event, asked for until it is acknowledged."""
        path = f"/api/developer/webhook-endpoints/{endpoint}/test"
        key = {"Idempotency-Key": str(uuid4())}
        answer = await self._insist(session, path, None, {**_bearer(token), **key}, 202)
        self._acknowledged.add(answer["eventId"])

    async def _insist(
        self,
        session: aiohttp.ClientSession,
        path: str,
        body: object,
        headers: dict[str, str],
        status: int,
    ) -> Any:
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while time.monotonic() < deadline:
            with contextlib.suppress(aiohttp.ClientError, OSError):
                async with session.post(path, json=body, headers=headers) as answer:
                    if answer.status == status:
                        return (await answer.json())["data"]
                    text = await answer.text()
                    assert answer.status in (409, 503), f"{answer.status} {text}"
            await asyncio.sleep(0.05)
        raise AssertionError(f"{path} was not answered in time")

    async def _register(self, session: aiohttp.ClientSession) -> str:
        body = {
            "name": "Ada Owner",
            "email": f"{uuid4()}@example.com",
            "password": PASSWORD,
            "business_name": "Ada's",
        }
        return (await self._insist(session, "/api/auth/register", body, {}, 201))["accessToken"]

    async def _endpoint(self, session: aiohttp.ClientSession, token: str) -> str:
        body = {
            "name": "Hook",
            "url": self._receiver.url,
            "environment": "test",
            "events": ["order.created"],
        }
        path = "/api/developer/webhook-endpoints"
        return (await self._insist(session, path, body, _bearer(token), 201))["id"]

    async def _answer_some(self) -> None:
        """Wait until one more request was answered."""
        before = len(self._acknowledged)

        def is_answered() -> bool:
            self._revive()
            return len(self._acknowledged) > before

        await until(is_answered, "a request was answered", HUNG_S)

    async def _settled(self, clients: list[asyncio.Task[None]]) -> None:
        """Let the clients end, and keep alive what answers them."""

        def have_ended() -> bool:
            self._revive()
            return all(client.done() for client in clients)

        await until(have_ended, "the clients were answered", SETTLED_WITHIN_S)
        await asyncio.gather(*clients)

    async def _settle(self) -> None:
        """Wait until everything acknowledged came, or long enough."""

        def is_quiet() -> bool:
            self._revive()
            return not self._acknowledged - self._received()

        with contextlib.suppress(AssertionError):
            await until(is_quiet, "everything was received", SETTLED_WITHIN_S)

    def _received(self) -> set[str]:
        return {received.event_id for received in self._receiver.received}

    async def _report(self, killed: Counter[str], seconds: float) -> Report:
        server = await asyncio.to_thread(Embedded.start, self._data)
        try:
            connection = await asyncpg.connect(server.url)
            deadline = time.monotonic() + SETTLED_WITHIN_S
            while await connection.fetchval("SELECT count(*) FROM webhook_queue"):
                if time.monotonic() > deadline:
                    break
                await asyncio.sleep(0.1)
            row = await connection.fetchrow(
                """
                SELECT (SELECT count(*) FROM webhook_events) AS events,
                    (SELECT count(*) FROM webhook_deliveries WHERE status <> 'delivered')
                        AS undelivered
                """
            )
            assert row is not None
            await connection.close()
        finally:
            await asyncio.to_thread(server.release)
        times = Counter(received.event_id for received in self._receiver.received)
        return Report(
            kills=killed,
            acknowledged=len(self._acknowledged),
            received=len(times),
            lost=len(self._acknowledged - times.keys()),
            twice=sum(1 for count in times.values() if count > 1),
            events=row["events"],
            undelivered=row["undelivered"],
            seconds=seconds,
        )


def _victims(kills: int, chance: random.Random) -> list[str]:
    """Each as often as the others, in no order."""
    victims = [VICTIMS[number % len(VICTIMS)] for number in range(kills)]
    chance.shuffle(victims)
    return victims


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def chaos(folder: Path, port: int, kills: int, seed: int) -> Report:
    """Run it in a folder of its own."""
    authority = Authority(folder)
    receiver = await Receiver().start(authority.server())
    installation = Chaos(folder, port, receiver, authority.ca_file)
    try:
        return await installation.run(kills, seed)
    finally:
        await asyncio.to_thread(installation.stop)
        await receiver.stop()


def main() -> None:
    """The long form, from the command line."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tillhouse-chaos-") as folder:
        report = asyncio.run(chaos(Path(folder), options.port, options.kills, options.seed))
    sys.stdout.write(f"{report} (seed {options.seed})\n")
    sys.exit(bool(report.lost or report.undelivered or report.events != report.acknowledged))


if __name__ == "__main__":
    main()
