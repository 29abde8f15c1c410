"""Hooks of payment providers: `hooks` measures how fast they are accepted."""

import argparse
import asyncio
import hashlib
import hmac
import itertools
import os
import statistics
import uuid
from typing import Any

from rich.console import Console
from rich.table import Table

from bench import client, world
from tillhouse.access.vault import open_vault
from tillhouse.db.pool import Pool
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId
from tillhouse.payins.connections import sandbox_credentials
from tillhouse.payins.inbox import store_event_once
from tillhouse.payins.sandbox.rules import HOOK_SECRET
from tillhouse.payins.store.connections import find_book

CLIENTS = 8
RATIO_MIN = 0.6
P99_MS_MAX = 25.0
# The book and the secret of the bare handler: `tillhouse` refuses no name that begins so.
_GIVEN = "TEST_HOOK"
_HEADER = "x-sandbox-signature"


def measure(options: argparse.Namespace) -> None:
    """Take turns: each round measures both servers."""
    with world.database() as url, world.server("tillhouse", url, rate_limit="0") as tillhouse:
        book, secret = asyncio.run(_book(url, _business(tillhouse)))
        with world.server("hook", url, **{_GIVEN.lower(): f"{book}:{secret}"}) as bare:
            servers = {"bare handler": bare, "Tillhouse": tillhouse}
            runs: dict[str, list[client.Result]] = {name: [] for name in servers}
            for number in range(options.rounds):
                for name, port in servers.items():
                    request = _requests(f"{name} {number}", book, secret)
                    found = client.run(port, request, clients=CLIENTS, seconds=options.seconds)
                    runs[name].append(found)
    _report(runs)


def _business(port: int) -> uuid.UUID:
    new = {
        "name": "Ada Bench",
        "email": f"{os.urandom(8).hex()}@example.com",
        "password": world.PASSWORD,
        "business_name": "Bench",
    }
    return uuid.UUID(world.call(port, "POST", "/api/auth/register", new)["businessId"])


async def _book(url: str, business_id: uuid.UUID) -> tuple[uuid.UUID, str]:
    """The test book of a business, and the secret of its hooks."""
    pool = await Pool.open(url, size=1)
    vault = await open_vault(pool, world.environment(url)["TILLHOUSE_MASTER_KEY"])
    async with pool.reading() as db:
        query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'"
        book_id = await db.fetchval(query, business_id)
    await pool.close()
    return book_id, sandbox_credentials(vault, book_id).secrets[HOOK_SECRET]


def _requests(run: str, book: uuid.UUID, secret: str) -> client.Request:
    """A hook that nobody has sent yet, each time; it tells of nothing that is looked up."""
    numbers = itertools.count()

    def make() -> bytes:
        body = b'{"event":"ping","data":{"id":"%s %d"}}' % (run.encode(), next(numbers))
        signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        return client.post(f"/hooks/sandbox/{book}", [f"{_HEADER}: {signature}"], body)

    return make


def _report(runs: dict[str, list[client.Result]]) -> None:
    table = Table("hook of a provider", "hooks/s", "of bare", "p50 ms", "p99 ms", "failures")
    rate = {name: statistics.median(r.per_second for r in found) for name, found in runs.items()}
    p99 = {name: statistics.median(r.p99_ms for r in found) for name, found in runs.items()}
    for name, found in runs.items():
        table.add_row(
            name,
            f"{rate[name]:,.0f}",
            f"{rate[name] / rate['bare handler']:.0%}",
            f"{statistics.median(r.p50_ms for r in found):.2f}",
            f"{p99[name]:.2f}",
            str(sum(r.failures for r in found)),
        )
    console = Console()
    console.print(table)
    ratio = rate["Tillhouse"] / rate["bare handler"]
    is_kept = ratio >= RATIO_MIN and p99["Tillhouse"] <= P99_MS_MAX
    console.print(
        f"bars: {RATIO_MIN:.0%} of bare, p99 {P99_MS_MAX:.0f} ms, "
        f"{'kept' if is_kept else 'MISSED'}; {CLIENTS} clients, medians of rounds"
    )


class BareHook:
    """An ASGI function that reads the book, checks a signature, stores the event with its job.

    Its secret is given to it: that of the sandbox is derived, not stored.
    """

    def __init__(self) -> None:
        book, _, secret = os.environ[f"TILLHOUSE_{_GIVEN}"].partition(":")
        self._book = uuid.UUID(book)
        self._secret = secret.encode()
        self._pool: Pool | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one hook."""
        if scope["type"] != "http":
            return
        if self._pool is None:
            self._pool = await Pool.open(os.environ["TILLHOUSE_DATABASE_URL"], size=16)
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        given = dict(scope["headers"]).get(_HEADER.encode(), b"").decode()
        wanted = hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        is_signed = hmac.compare_digest(given, wanted)
        async with self._pool.reading() as db:
            is_known = await find_book(db, BookId(self._book)) is not None
        if is_signed and is_known:
            async with self._pool.writing_once() as db:
                await store_event_once(db, self._book, "sandbox", body, now())
        status = 200 if is_signed and is_known else 401
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
