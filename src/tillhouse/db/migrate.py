"""Forward-only migrations: numbered SQL files, each applied once, in one transaction."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import msgspec

MIGRATIONS = Path(__file__).parent / "migrations"
OLDEST_SERVER = 15
# "tillhous" in bytes: no other program on the same server locks this number.
LOCK = 0x74696C6C686F7573
# Longer than the statement timeout, which should end a migration that takes too long.
CLIENT_TIMEOUT_S = 16 * 60

NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
OWN_TRANSACTION = re.compile(r"^\s*(begin|start\s+transaction|commit|rollback)\s*;", re.I | re.M)

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

    @property
    def label(self) -> str:
        """The file's name without its ending."""
        return f"{self.number:04}_{self.name}"

    @property
    def checksum(self) -> str:
        """Digest by which a changed text is noticed."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def load(folder: Path = MIGRATIONS) -> list[Migration]:
    """Read the migrations of a folder, in order and without a gap."""
    migrations: list[Migration] = []
    for path in sorted(folder.glob("*.sql")):
        match = NAME.fullmatch(path.name)
        if match is None:
            raise MigrationError(f"Name the migration {path.name} like 0001_what_it_does.sql.")
        migration = Migration(int(match[1]), match[2], path.read_text(encoding="utf-8"))
        if migration.number != len(migrations) + 1:
            expected = f"{len(migrations) + 1:04}"
            raise MigrationError(f"Found migration {migration.label} where {expected} should be.")
        if OWN_TRANSACTION.search(migration.sql):
            raise MigrationError(
                f"Take BEGIN and COMMIT out of {migration.label}: each runs in one transaction."
            )
        migrations.append(migration)
    return migrations


async def plan(connection: asyncpg.Connection, folder: Path = MIGRATIONS) -> list[Migration]:
    """Tell which migrations the database still needs, and change nothing."""
    require_server(connection.get_server_version().major)
    migrations = load(folder)
    applied: Sequence[asyncpg.Record] = []
    if await connection.fetchval("SELECT to_regclass('schema_migrations') IS NOT NULL"):
        applied = await connection.fetch(
            "SELECT number, name, checksum FROM schema_migrations ORDER BY number"
        )
    if len(applied) > len(migrations) or (applied and applied[-1]["number"] > len(migrations)):
        raise MigrationError(
            f"The database is at migration {applied[-1]['number']:04}, and this release knows "
            f"{len(migrations):04}: install the newer Tillhouse that made it."
        )
    for migration, row in zip(migrations, applied, strict=False):
        if row["number"] != migration.number:
            raise MigrationError(
                f"The database lacks migration {migration.label} but has later ones: "
                "restore a backup, or apply it by hand and record it in schema_migrations."
            )
        if row["checksum"] != migration.checksum:
            raise MigrationError(
                f"Migration {migration.label} was changed after it was applied: put the old text "
                "back, and make the change in a new migration."
            )
    return migrations[len(applied) :]


async def migrate(
    connection: asyncpg.Connection,
    report: Callable[[Migration], None] = lambda migration: None,
    folder: Path = MIGRATIONS,
    *,
    up_to: int | None = None,
    before: Callable[[], Awaitable[None]] | None = None,
) -> list[Migration]:
    """Apply the missing migrations, report each when it is done, and list them.

    `before` is awaited first where the database has been used: no other process migrates meanwhile.
    """
    require_server(connection.get_server_version().major)
    async with alone(connection):
        missing = await plan(connection, folder)
        needed = [step for step in missing if up_to is None or step.number <= up_to]
        if needed:
            if before is not None and needed[0].number > 1:
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
