"""An installation: settings, a database and the master key that opens its secrets."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import msgspec

from tillhouse.access.declared import Declared
from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.access.store.vault import find_root
from tillhouse.access.vault import new_master_key, parse_master_key
from tillhouse.cli.output import CommandError
from tillhouse.cli.stopping import Stop
from tillhouse.db.connecting import connect_alone
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import Migration, migrate, plan
from tillhouse.db.pool import Pool
from tillhouse.settings import SettingError, Settings, from_env

CONNECT_WITHIN_S = 10
_UNREACHABLE = (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError)

Report = Callable[[Migration], None]


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """Settings and a database that is up; `embedded` when it is one of ours."""

    settings: Settings
    database_url: str
    embedded: Embedded | None

    @property
    def shown(self) -> str:
        """Which database it is, as people may read it."""
        if self.embedded is not None:
            return f"the database in {self.settings.data.resolve()}"
        return f"the database {without_password(self.database_url)}"

    @property
    def key_file(self) -> Path:
        """Where the master key of an embedded database is kept."""
        return self.settings.data / "master.key"


def settings_with(**given: object) -> Settings:
    """The settings of this environment; flags win, and a wrong master key is told at once."""
    settings = settings_without_key(**given)
    if settings.master_key is None and settings.database_url is not None:
        raise SettingError(
            "TILLHOUSE_DATABASE_URL needs TILLHOUSE_MASTER_KEY (or TILLHOUSE_MASTER_KEY_FILE) "
            'beside it: make a key with `echo "1:$(openssl rand -base64 32)"` and keep it safe.'
        )
    return settings


def settings_without_key(**given: object) -> Settings:
    """The same where the master key may be missing: a restore brings it along."""
    settings = from_env(os.environ, **given)
    if settings.master_key is not None:
        parse_master_key(settings.master_key)
    return settings


def require_database(settings: Settings) -> None:
    """Refuse a folder without a database, in which a command would make a second one."""
    if settings.database_url is None and not (settings.data / "postgres").exists():
        raise CommandError(
            f"There is no database in {settings.data}: name its folder with --data or "
            "TILLHOUSE_DATA, or let `tillhouse serve` make one."
        )


@contextmanager
def running_database(settings: Settings, stop: Stop) -> Iterator[Installation]:
    """Use the database of the settings; the embedded server is started, or joined, meanwhile."""
    if settings.database_url is not None:
        yield Installation(settings=settings, database_url=settings.database_url, embedded=None)
        return
    # In a thread, so that a Ctrl-C half-way can't leave a running server behind.
    with ThreadPoolExecutor(1, thread_name_prefix="postgres") as thread:
        starting = thread.submit(Embedded.start, settings.data)
        stop.at_last(lambda: _leave(starting, at_once=True))
        try:
            server = starting.result()
            yield Installation(settings=settings, database_url=server.url, embedded=server)
        finally:
            _leave(starting)


def _leave(starting: Future[Embedded], *, at_once: bool = False) -> None:
    if starting.exception() is None:
        starting.result().release(at_once=at_once)


async def connect(
    installation: Installation, session: dict[str, str] | None = None
) -> asyncpg.Connection:
    """A connection, or the sentence that says why there is none."""
    try:
        return await connect_alone(installation.database_url, session, CONNECT_WITHIN_S)
    except _UNREACHABLE as error:
        reason = str(error).rstrip(".") or type(error).__name__
        shown = without_password(installation.database_url)
        raise CommandError(
            f"The database {shown} can't be reached ({reason}): check "
            "TILLHOUSE_DATABASE_URL and that the server is up."
        ) from error


@asynccontextmanager
async def open_services(
    installation: Installation,
    migrating: Report | None = None,
    before: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[Services]:
    """Open the services on a database that is up to date, or is migrated when asked to.

    `before` is awaited before the first migration of a database that has been used.
    """
    connection = await connect(installation)
    try:
        if migrating is not None:
            await migrate(connection, migrating, before=before)
        else:
            await require_migrated(connection)
    finally:
        await connection.close()
    services = await connect_services(
        installation.settings,
        _product_declared,
        installation.database_url,
        await master_key(installation),
        is_patient=True,
    )
    try:
        yield services
    finally:
        await close_services(services)


def _product_declared() -> Declared:
    # The rooms bring the libraries of servers along, and take a second to load.
    from tillhouse.app import PRODUCT  # noqa: PLC0415

    return PRODUCT.declared


async def require_migrated(connection: asyncpg.Connection) -> None:
    """Refuse a database that lacks migrations, or has those of a newer release."""
    if pending := await plan(connection):
        raise CommandError(
            f"The database lacks {len(pending)} migrations: run `tillhouse migrate` first."
        )


async def master_key(installation: Installation) -> str:
    """The master key: the one given, or the data folder's, made at the very first start."""
    if installation.settings.master_key is not None:
        return installation.settings.master_key
    path = installation.key_file
    if not path.exists() and not await _is_sealed(installation.database_url):
        keep_key(path, new_master_key())
    try:
        return await asyncio.to_thread(path.read_text, "utf-8")
    except FileNotFoundError:
        raise CommandError(
            f"{path} is gone, and the database beside it can't be opened without it: "
            "put it back from a backup, or give the key as TILLHOUSE_MASTER_KEY."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"The master key {path} can't be read ({error}).") from error


def without_password(url: str) -> str:
    """A database's address as it may be shown."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "(unreadable)"
    who = f"{parts.username}@" if parts.username else ""
    # A password may stand among the parameters, too.
    return urlunsplit((parts.scheme, who + host, parts.path, "", ""))


async def _is_sealed(database_url: str) -> bool:
    """Whether this database was opened with some master key before."""
    pool = await Pool.open(database_url, size=1)
    try:
        async with pool.reading() as db:
            return await find_root(db) is not None
    finally:
        await pool.close()


def keep_key(path: Path, key: str) -> None:
    """Write a master key down; of several that are written at once, the first stays."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    # One of a killed process, whose number is ours now: in a container it often is.
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(key + "\n")
            file.flush()
            # It has to last longer than the database that it seals.
            os.fsync(file.fileno())
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
