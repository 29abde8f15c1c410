"""One migrated database per worker, one application on it; every test brings its own business."""

import gc
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import msgspec
import pytest
from hypothesis import HealthCheck, settings

from tests.make import Business, Make
from tests.waiting import ended
from tillhouse.access.process import Services
from tillhouse.access.vault import new_master_key
from tillhouse.app import App
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate
from tillhouse.settings import Settings, from_env

# A server of one's own to test against instead of the embedded one.
SERVER = "TILLHOUSE_TEST_DATABASE_URL"


def settings_with(**given: str) -> Settings:
    """The settings of an application under test: no limits, cheap passwords, and those given."""
    environment = {"RATE_LIMIT": "0", "REGISTRATION_LIMIT": "0", "LOG_LEVEL": "error", **given}
    return msgspec.structs.replace(
        from_env({f"TILLHOUSE_{name}": value for name, value in environment.items()}),
        # Thousands of tests log in; those of logging in pay what it costs (tests/accounts).
        password_memory_kib=64,
        password_passes=1,
    )


SETTINGS = settings_with()

# Properties are measured by what they find, never by how busy the machine is. Here, because a test
# takes the profile that is loaded when its module is: one of a folder misses those before it.
settings.register_profile("found", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("found")


def pytest_collection_finish() -> None:
    """Thousands of tests never become garbage: looking through them would hold up the loop."""
    gc.collect()
    gc.freeze()


def template() -> str:
    """The template of this process's databases."""
    return f"tillhouse_template_{os.getpid()}"


@pytest.fixture(scope="session")
async def server_url() -> AsyncIterator[str]:
    """The address of a PostgreSQL server on which databases may be made."""
    if given := os.environ.get(SERVER):
        yield given
        admin = await asyncpg.connect(given)
        await admin.execute(f"DROP DATABASE IF EXISTS {template()}")
        await admin.close()
        return
    with tempfile.TemporaryDirectory(prefix="tillhouse-tests-") as folder:
        server = Embedded.start(Path(folder))
        await _trust_the_machine(server.url)
        yield server.url
        server.release()


async def _trust_the_machine(url: str) -> None:
    """Let a server's writes rest with the kernel: nobody wants its data after a power cut.

    A killed server still loses nothing. Tests of what is lost when start servers of their own.
    """
    connection = await asyncpg.connect(url)
    await connection.execute("ALTER SYSTEM SET fsync = off")
    await connection.execute("ALTER SYSTEM SET full_page_writes = off")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()


@asynccontextmanager
async def fresh_database(server_url: str, name: str) -> AsyncIterator[str]:
    """A migrated database of this name and process, as long as the block lasts."""
    name = f"{name}_{os.getpid()}"
    admin = await asyncpg.connect(server_url)
    if not await admin.fetchval("SELECT true FROM pg_database WHERE datname = $1", template()):
        await _make_template(server_url, admin)
    await admin.execute(f"CREATE DATABASE {name} TEMPLATE {template()}")
    yield at_database(server_url, name)
    await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.close()


async def _make_template(server_url: str, admin: asyncpg.Connection) -> None:
    """Migrate once: all databases of the run are copies."""
    await admin.execute(f"CREATE DATABASE {template()} TEMPLATE template0 ENCODING 'UTF8'")
    connection = await asyncpg.connect(at_database(server_url, template()))
    await migrate(connection)
    await connection.close()


def at_database(server_url: str, name: str) -> str:
    """The address of another database of the same server."""
    return urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))


@pytest.fixture(scope="session")
async def database_url(server_url: str) -> AsyncIterator[str]:
    """A database of this run, migrated."""
    async with fresh_database(server_url, "tillhouse_test") as url:
        yield url


@pytest.fixture(scope="session")
async def fresh_database_url(server_url: str) -> AsyncIterator[str]:
    """A second one, for what must not see the others' work."""
    async with fresh_database(server_url, "tillhouse_fresh") as url:
        yield url


@pytest.fixture(scope="session")
async def sql(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection of the database's owner, for what no route does: ageing a row, tampering."""
    connection = await asyncpg.connect(database_url)
    yield connection
    await connection.close()


@pytest.fixture(scope="session")
def master_key() -> str:
    """The key of this run's installation, for every application on its database."""
    return new_master_key()


@pytest.fixture(scope="session")
async def app(database_url: str, master_key: str) -> AsyncIterator[App]:
    """The application, without a rate limit: tests that want one start their own."""
    async with running(SETTINGS, database_url, master_key) as app:
        yield app


@asynccontextmanager
async def running(settings: Settings, database_url: str, master_key: str) -> AsyncIterator[App]:
    """An application, as long as the block lasts."""
    app = App(settings, database_url, master_key)
    await app.start()
    yield app
    await ended(app.stop())


@pytest.fixture
def services(app: App) -> Services:
    """The tools of the application."""
    return app.services


@pytest.fixture
def make(app: App, services: Services) -> Make:
    """Makes businesses."""
    return Make(app, services)


@pytest.fixture
async def business(make: Make) -> Business:
    """A business of this test's own."""
    return await make.business()
