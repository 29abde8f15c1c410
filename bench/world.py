"""The set-up of a run: a throwaway database, server processes, a business with a key."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import asyncpg
import msgspec

from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.access.vault import new_master_key
from tillhouse.accounts.actions import open_business
from tillhouse.accounts.types import NewAccount
from tillhouse.app import PRODUCT
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate
from tillhouse.kit.clock import now
from tillhouse.kit.values import Email, Name, NewPassword
from tillhouse.settings import from_env

PASSWORD = "correct horse battery"  # noqa: S105 - of a business that lives for a minute


@contextlib.contextmanager
def database() -> Iterator[str]:
    """A migrated PostgreSQL of this run's own."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-bench-") as folder:
        server = Embedded.start(Path(folder))
        try:
            asyncio.run(_migrate(server.url))
            yield server.url
        finally:
            server.release()


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate(connection)
    await connection.close()


def environment(database_url: str | None, **settings: str) -> dict[str, str]:
    """The environment of a child process with these settings."""
    found = dict(os.environ)
    if database_url:
        found |= {"TILLHOUSE_DATABASE_URL": database_url, "TILLHOUSE_MASTER_KEY": _MASTER_KEY}
    return found | {f"TILLHOUSE_{k.upper()}": v for k, v in settings.items()}


@contextlib.contextmanager
def server(name: str, database_url: str | None = None, **settings: str) -> Iterator[int]:
    """One of `bench.servers` in a process of its own; its port."""
    with server_process(name, database_url, **settings) as (port, _):
        yield port


@contextlib.contextmanager
def server_process(
    name: str, database_url: str | None = None, **settings: str
) -> Iterator[tuple[int, int]]:
    """The same, with the id of its process."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.servers", name, str(listener.fileno())],
        pass_fds=[listener.fileno()],
        env=environment(database_url, **settings),
        stderr=subprocess.DEVNULL,
    )
    port = listener.getsockname()[1]
    listener.close()
    try:
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(20)


_MASTER_KEY = new_master_key()


def call(port: int, method: str, path: str, body: object = None, token: str = "") -> Any:
    """One request on the way to the world of the run; it waits where a rate limit says so."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        method=method,
        data=None if body is None else msgspec.json.encode(body),
        headers={"content-type": "application/json", "authorization": f"Bearer {token}"},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own server
                return msgspec.json.decode(answer.read())["data"]
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.TOO_MANY_REQUESTS:
                raise
            time.sleep(int(error.headers["Retry-After"]))


def fetch(port: int, path: str) -> bytes:
    """A page."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return answer.read()


def api_key(port: int, scopes: Sequence[str] = ("voice:read",), environment: str = "test") -> str:
    """The secret of a key of the test book, or of another, made through the API."""
    email = f"{os.urandom(8).hex()}@example.com"
    new = {"name": "Ada Bench", "email": email, "password": PASSWORD, "business_name": "Bench"}
    token = call(port, "POST", "/api/auth/register", new)["accessToken"]
    call(port, "POST", "/api/auth/verify-password", {"password": PASSWORD}, token)
    key = {"name": "bench", "environment": environment, "scopes": list(scopes)}
    return call(port, "POST", "/api/developer/api-keys", key, token)["secret"]


@contextlib.asynccontextmanager
async def services(url: str) -> AsyncIterator[Services]:
    """The services of a process, as long as the block lasts."""
    settings = from_env({"TILLHOUSE_LOG_LEVEL": "error"})
    opened = await connect_services(settings, lambda: PRODUCT.declared, url, _MASTER_KEY)
    try:
        yield opened
    finally:
        await close_services(opened)


async def business(services: Services) -> dict[str, Any]:
    """A business in the database: its id and its test book."""
    new = NewAccount(
        name=Name("Ada Bench"),
        email=Email(f"{os.urandom(8).hex()}@example.com"),
        password=NewPassword(PASSWORD),
        business_name=Name("Bench"),
    )
    hashed = await services.passwords.hash(new.password)
    async with services.pool.transaction() as db:
        opened = await open_business(services, db, new, hashed, now())
    return {"id": opened.business_id, "test": opened.test_book_id}
