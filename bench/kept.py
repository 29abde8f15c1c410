"""Books that one run fills by statements, and later runs find again."""

import asyncio
import contextlib
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from uuid import UUID

import asyncpg
import msgspec

from bench import world
from bench.lists import Book
from tillhouse import db
from tillhouse.access.vault import new_master_key
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate

SETTINGS = {"rate_limit": "0", "log_level": "error"}


class Plan(msgspec.Struct, frozen=True):
    """A kept book: its kind, the scopes of its key, and the function that fills it."""

    kind: str
    scopes: Sequence[str]
    fill: Callable[[asyncpg.Connection, UUID, int], Awaitable[None]]


@contextlib.contextmanager
def kept_book(folder: Path, plan: Plan, rows: int) -> Iterator[Book]:
    """A book of so many rows: filled at the first run, and kept. Another schema, another book."""
    migrations = sorted((Path(db.__file__).parent / "migrations").glob("*.sql"))
    schema = hashlib.sha256(b"".join(path.read_bytes() for path in migrations)).hexdigest()[:8]
    data = folder / f"{plan.kind}-{rows}-{schema}"
    kept = data.with_suffix(".json")
    data.parent.mkdir(parents=True, exist_ok=True)
    server = Embedded.start(data)
    try:
        if not kept.exists():
            began = time.monotonic()
            kept.write_bytes(msgspec.json.encode(_made(server.url, plan, rows)))
            print(f"{data}: filled in {time.monotonic() - began:.0f} s", flush=True)
        known = msgspec.json.decode(kept.read_bytes(), type=Book)
        yield msgspec.structs.replace(known, url=server.url)
    finally:
        server.release()


def _made(url: str, plan: Plan, rows: int) -> Book:
    asyncio.run(_migrate(url))
    key = new_master_key()
    with world.server("tillhouse", url, **SETTINGS, master_key=key) as port:
        token = world.api_key(port, sorted({*plan.scopes, "voice:read"}))
        business = world.call(port, "GET", "/v1/voice/health", token=token)["businessId"]
    asyncio.run(fill(url, UUID(business), plan, rows))
    return Book(rows=rows, url="", master_key=key, token=token)


async def _migrate(url: str) -> None:
    connection = await asyncpg.connect(url)
    await migrate(connection)
    await connection.close()


async def fill(url: str, business_id: UUID, plan: Plan, rows: int) -> None:
    """Fill the business's test book; no trigger and no key looks at each row."""
    connection = await asyncpg.connect(url)
    book_id = await connection.fetchval(
        "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'", business_id
    )
    await connection.execute("SET session_replication_role = replica")
    await connection.execute("SET work_mem = '128MB'")
    await plan.fill(connection, book_id, rows)
    await connection.execute("VACUUM (ANALYZE)")
    await connection.close()
