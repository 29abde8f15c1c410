"""Payments of one business beside a flood of another's jobs: `turns` tells when a link is PAID.

The flood is one signed hook of WhatsApp with 48,000 messages, or 1,000 hooks of a payment provider
that takes ten seconds to answer whatever it is asked. A process serves, another one works.
"""

import argparse
import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import asyncpg
from rich.console import Console
from rich.table import Table

from bench import world
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey, BusinessId, new_id
from tillhouse.payins.connections import seal
from tillhouse.payins.inbox import store_event_once
from tillhouse.payins.store.connections import ConnectionRow, upsert_connection

PAID_WITHIN_S = 1.0
MESSAGES, HOOKS, HANGS_S, PAYMENTS = 48_000, 1_000, 10.0, 12
_LINKS = "/v1/payment-links/wallet/dynamic"
_NUMBER, _SECRET = "106540352242922", "app-secret"


def measure(_options: argparse.Namespace) -> None:
    """Pay a shop's links alone and beside each flood, and print how long each took."""
    console = Console()
    table = Table("beside", "first", "p50", "longest", "unpaid after a minute")
    longest: dict[str, float] = {}
    for name, flood in (
        ("nothing", _nothing),
        (f"a hook with {MESSAGES:,} messages", _messages),
        (f"{HOOKS:,} jobs that hang {HANGS_S:.0f} s", _hanging),
    ):
        with world.database() as url, _hangs() as slow, _running(url, slow) as port:
            times = asyncio.run(_pay(port, url, flood))
        taken = sorted(took for took in times if took is not None)
        longest[name] = taken[-1] if len(taken) == len(times) else float("inf")
        cells = (times[0] or float("inf"), taken[len(taken) // 2], taken[-1])
        console.print(f"beside {name}: PAID after {longest[name]:.2f} s at most")
        table.add_row(name, *(f"{s:.2f} s" for s in cells), str(len(times) - len(taken)))
    console.print(table)
    is_kept = max(longest.values()) <= PAID_WITHIN_S
    console.print(f"bar: PAID within {PAID_WITHIN_S:g} s, {'kept' if is_kept else 'MISSED'}")


@contextlib.contextmanager
def _running(url: str, slow: int) -> Iterator[int]:
    settings = {
        "rate_limit": "0", "log_level": "error",
        "provider_urls": f"paystack=http://127.0.0.1:{slow}",
    }  # fmt: skip
    with world.server("tillhouse", url, **settings) as port:
        worker = subprocess.Popen(
            [sys.executable, "-m", "tillhouse", "work"],
            env=world.environment(url, **settings),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield port
        finally:
            worker.terminate()
            worker.wait(30)


@contextlib.contextmanager
def _hangs() -> Iterator[int]:
    """A provider that takes each request and answers nothing until it is too late."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)

    def hold() -> None:
        with contextlib.suppress(OSError):
            while True:
                taken, _ = listener.accept()
                threading.Timer(HANGS_S, taken.close).start()

    threading.Thread(target=hold, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


async def _pay(port: int, url: str, flood: Callable[[int, str], Any]) -> list[float | None]:
    key = await asyncio.to_thread(world.api_key, port, ["payment_links:write"])
    connection = await asyncpg.connect(url)
    # The worker has come up once the first link is paid.
    await _paid_after(port, key, connection)
    await flood(port, url)
    times = [await _paid_after(port, key, connection) for _ in range(PAYMENTS)]
    await connection.close()
    return times


async def _paid_after(port: int, key: str, connection: asyncpg.Connection) -> float | None:
    """How long after its payment a link is PAID; None: not within a minute."""
    link = await asyncio.to_thread(
        world.call, port, "POST", _LINKS, {"title": "Hall", "amount": 9}, key
    )
    path = f"/pay/{link['reference']}"
    await asyncio.to_thread(world.fetch, port, path)
    began = time.perf_counter()
    await asyncio.to_thread(_post, port, f"{path}/simulate", b"case=exact", {})
    status = "SELECT status FROM payment_links WHERE reference = $1"
    while (took := time.perf_counter() - began) < 60:
        if await connection.fetchval(status, link["reference"]) == "PAID":
            return took
        await asyncio.sleep(0.01)
    return None


def _post(port: int, path: str, body: bytes, headers: dict[str, str]) -> None:
    url = f"http://127.0.0.1:{port}{path}"
    request = urllib.request.Request(url, method="POST", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own server
        answer.read()


async def _nothing(_port: int, _url: str) -> None:
    """No flood at all."""


async def _messages(port: int, _url: str) -> None:
    """One hook with very many messages, signed by the secret of the business's own app."""
    await asyncio.to_thread(_post_messages, port)


def _post_messages(port: int) -> None:
    key = world.api_key(port, ["messaging:read", "messaging:write"], environment="live")
    number = {
        "phone_number": "+2348030000000", "provider_number_id": _NUMBER,
        "access_token": "token", "app_secret": _SECRET, "verify_token": "verify-token",
    }  # fmt: skip
    path = world.call(port, "POST", "/v1/messaging/numbers", number, key)["hookPath"]
    messages = [
        {"from": f"23480{n:08d}", "id": f"w{n}", "type": "text", "text": {"body": "a"}}
        for n in range(MESSAGES)
    ]
    value = {"metadata": {"phone_number_id": _NUMBER}, "messages": messages}
    whole = {"entry": [{"changes": [{"field": "messages", "value": value}]}]}
    body = json.dumps(whole, separators=(",", ":")).encode()
    signature = "sha256=" + hmac.new(_SECRET.encode(), body, hashlib.sha256).hexdigest()
    _post(port, path, body, {"x-hub-signature-256": signature})


async def _hanging(_port: int, url: str) -> None:
    """Hooks about payments, for each of which the provider is asked."""
    async with world.services(url) as services:
        made = await world.business(services)
        business_id = BusinessId(UUID(str(made["id"])))
        async with services.pool.transaction() as db:
            find = "SELECT id FROM books WHERE business_id = $1 AND environment = 'live'"
            key = BookKey(await db.fetchval(find, business_id), new_id())
            secrets = {"secret_key": "sk_live_" + os.urandom(20).hex()}
            sealed = await seal(services.vault, db, business_id, key.id, secrets)
            row = ConnectionRow(
                provider="paystack", is_selected=True, credentials_sealed=sealed, hint="…"
            )
            await upsert_connection(db, key, row, now())
        for number in range(HOOKS):
            told = {"event": "charge.success", "data": {"reference": f"r{number}", "id": number}}
            body = json.dumps(told).encode()
            async with services.pool.writing_once() as db:
                await store_event_once(db, key.book_id, "paystack", body, now())
