"""The schema: the tables of all rooms first, then numbered steps, each once, in one transaction.

A room's tables stand in its `schema.sql`, as they were first released. Later changes stand in the
room's folder `migrations`, in files that are numbered across all rooms.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import msgspec

ROOMS = Path(__file__).parents[1]
# In an order in which each refers to tables and functions of earlier files alone.
SCHEMAS = (
    "accounts/schema.sql",
    "db/schema.sql",
    "developer/schema.sql",
    "jobs/schema.sql",
    "access/schema.sql",
    "http/schema.sql",
    "webhooks/schema.sql",
    "customers/schema.sql",
    "stores/schema.sql",
    "products/schema.sql",
    "stock/schema.sql",
    "promotions/schema.sql",
    "seating/schema.sql",
    "labels/schema.sql",
    "hotel/schema.sql",
    "messaging/schema.sql",
    "ledger/schema.sql",
    "ledger/tallies.sql",
    "payins/schema.sql",
    "orders/schema.sql",
    "orders/tallies.sql",
    "kitchen/schema.sql",
    "folios/schema.sql",
    "payouts/schema.sql",
    "checkout/schema.sql",
    "finance/schema.sql",
    "voice/schema.sql",
)
OLDEST_SERVER = 15
# "tillhous" in bytes: no other program on the same server locks this number.
LOCK = 0x74696C6C686F7573
# Longer than the statement timeout, which should end a migration that takes too long.
CLIENT_TIMEOUT_S = 16 * 60

NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
OWN_TRANSACTION = re.compile(r"^\s*(begin|start\s+transaction|commit|rollback)\s*;", re.I | re.M)
COMMENT = re.compile(r"--[^\n]*")

# Until November 2026 the same tables were the work of 113 steps. A database that has them all is
# known by the digest of their numbers, names and checksums.
EARLIER_FIRST = "businesses"
EARLIER_LAST = "0113_factors_by_role"
EARLIER_DIGEST = "33e042787b191d9087f33d0578eb9f2f77b8d707480b7339377f0c5b87f8fac3"

TABLE = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationError(Exception):
    """The schema can't be brought up to date; the sentence says why and what to do."""


class Migration(msgspec.Struct, frozen=True):
    """One step of the schema."""

    number: int
    name: str
    sql: str
    # Its tables are there already, by the steps of before: it is recorded in their place.
    is_there: bool = False

    @property
    def label(self) -> str:
        """The file's name without its ending."""
        return f"{self.number:04}_{self.name}"

    @property
    def checksum(self) -> str:
        """Digest by which a changed text is noticed; comments and spaces may change."""
        return hashlib.sha256(" ".join(COMMENT.sub("", self.sql).split()).encode()).hexdigest()

    @property
    def finds_nothing(self) -> bool:
        """Whether it makes the tables of a database that has none."""
        return self.number == 1 and not self.is_there

    @property
    def done(self) -> str:
        """The sentence for a step that was just taken."""
        if self.is_there:
            return f"Found the tables of earlier versions, recorded as {self.label}"
        return f"Applied {self.label}"


class Applied(msgspec.Struct, frozen=True):
    """A migration that made the schema of the rows."""

    number: int
    name: str
    checksum: str


def load(rooms: Path = ROOMS, schemas: Sequence[str] = SCHEMAS) -> list[Migration]:
    """Read the tables of all rooms, and the migrations after them in order and without a gap."""
    tables = "\n".join((rooms / schema).read_text(encoding="utf-8") for schema in schemas)
    migrations = [Migration(1, "schema", tables)]
    for path in sorted(rooms.glob("*/migrations/*.sql"), key=lambda path: path.name):
        match = NAME.fullmatch(path.name)
        if match is None:
            raise MigrationError(f"Name the migration {path.name} like 0002_what_it_does.sql.")
        migration = Migration(int(match[1]), match[2], path.read_text(encoding="utf-8"))
        if migration.number != len(migrations) + 1:
            expected = f"{len(migrations) + 1:04}"
            raise MigrationError(f"Found migration {migration.label} where {expected} should be.")
        migrations.append(migration)
    for migration in migrations:
        if OWN_TRANSACTION.search(migration.sql):
            raise MigrationError(
                f"Take BEGIN and COMMIT out of {migration.label}: each runs in one transaction."
            )
    return migrations


def has_earlier_steps(applied: Sequence[Applied]) -> bool:
    """Whether these are the steps that made the first tables before they stood in their rooms."""
    lines = "\n".join(f"{step.number} {step.name} {step.checksum}" for step in applied)
    return hashlib.sha256(lines.encode()).hexdigest() == EARLIER_DIGEST


async def list_applied(connection: asyncpg.Connection) -> tuple[Applied, ...]:
    """Tell which migrations the database has had."""
    rows = await connection.fetch(
        "SELECT number, name, checksum FROM schema_migrations ORDER BY number"
    )
    return tuple(Applied(**row) for row in rows)


async def plan(
    connection: asyncpg.Connection, steps: Sequence[Migration] | None = None
) -> list[Migration]:
    """Tell which migrations the database still needs, and change nothing."""
    require_server(connection.get_server_version().major)
    migrations = load() if steps is None else steps
    applied: tuple[Applied, ...] = ()
    if await connection.fetchval("SELECT to_regclass('schema_migrations') IS NOT NULL"):
        applied = await list_applied(connection)
    if has_earlier_steps(applied):
        return [msgspec.structs.replace(migrations[0], is_there=True), *migrations[1:]]
    _require_known(applied, migrations)
    return list(migrations[len(applied) :])


def _require_known(applied: Sequence[Applied], migrations: Sequence[Migration]) -> None:
    if applied and applied[0].name == EARLIER_FIRST:
        last = applied[-1]
        raise MigrationError(
            f"The database is at {last.number:04}_{last.name}, of a version before the first "
            f"release: bring it to {EARLIER_LAST} with that version, then come back."
        )
    if len(applied) > len(migrations) or (applied and applied[-1].number > len(migrations)):
        raise MigrationError(
            f"The database is at migration {applied[-1].number:04}, and this release knows "
            f"{len(migrations):04}: install the newer Tillhouse that made it."
        )
    for migration, row in zip(migrations, applied, strict=False):
        if row.number != migration.number:
            raise MigrationError(
                f"The database lacks migration {migration.label} but has later ones: "
                "restore a backup, or apply it by hand and record it in schema_migrations."
            )
        if row.checksum != migration.checksum:
            raise MigrationError(
                f"Migration {migration.label} was changed after it was applied: put the old text "
                "back, and make the change in a new migration."
            )


async def migrate(
    connection: asyncpg.Connection,
    report: Callable[[Migration], None] = lambda migration: None,
    steps: Sequence[Migration] | None = None,
    *,
    up_to: int | None = None,
    before: Callable[[], Awaitable[None]] | None = None,
) -> list[Migration]:
    """Apply the missing migrations, report each when it is done, and list them.

    `before` is awaited first where the database has been used: no other process migrates meanwhile.
    """
    require_server(connection.get_server_version().major)
    async with alone(connection):
        missing = await plan(connection, steps)
        needed = [step for step in missing if up_to is None or step.number <= up_to]
        if needed:
            if before is not None and not needed[0].finds_nothing:
                await before()
            await connection.execute(TABLE)
        for migration in needed:
            await _apply(connection, migration)
            report(migration)
    return needed


def require_server(major: int) -> None:
    """Refuse a PostgreSQL that is too old."""
    if major < OLDEST_SERVER:
        raise MigrationError(
            f"Tillhouse needs PostgreSQL {OLDEST_SERVER} or newer, and this server is {major}: "
            "upgrade it, or leave TILLHOUSE_DATABASE_URL empty to use the embedded one."
        )


@asynccontextmanager
async def alone(connection: asyncpg.Connection) -> AsyncIterator[None]:
    """No other process migrates this database, or restores into it, while the block runs."""
    # Asked again and again rather than waited for: a waiting statement would run into the
    # connection's timeouts, and would hold back vacuum and concurrent index builds meanwhile.
    while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    try:
        yield
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", LOCK)


async def _apply(connection: asyncpg.Connection, migration: Migration) -> None:
    try:
        async with connection.transaction():
            # A table in use is given up after four seconds: everybody else queues behind us.
            await connection.execute(
                "SET LOCAL lock_timeout = '4s'; SET LOCAL statement_timeout = '15min'"
            )
            if migration.is_there:
                await connection.execute("DELETE FROM schema_migrations")
            else:
                await connection.execute(migration.sql, timeout=CLIENT_TIMEOUT_S)
            await connection.execute(
                "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)",
                migration.number,
                migration.name,
                migration.checksum,
            )
    except asyncpg.PostgresError as error:
        raise MigrationError(
            f"Migration {migration.label} failed and changed nothing: "
            f"{' '.join(str(error).split()).rstrip('.')}."
        ) from error
