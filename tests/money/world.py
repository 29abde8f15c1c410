"""An application on a database of its own, whose process may die, and a receiver of its events."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import asyncpg

from tests.conftest import fresh_database, running, settings_with
from tests.money.crashing import MortalProxy
from tests.waiting import ended
from tests.webhooks.receiver import Receiver
from tests.webhooks.tls import Authority
from tillhouse.access.vault import new_master_key
from tillhouse.app import App
from tillhouse.settings import Settings


class World(NamedTuple):
    """The application under test, and what stands around it."""

    app: App
    proxy: MortalProxy
    # A connection that never dies.
    sql: asyncpg.Connection
    receiver: Receiver


@asynccontextmanager
async def standing(server_url: str) -> AsyncIterator[World]:
    """All of it, as long as the block lasts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        authority = Authority(folder)
        receiver = await Receiver().start(authority.server())
        async with (
            fresh_database(server_url, "tillhouse_money") as url,
            MortalProxy(folder, url) as proxy,
            running(_settings(authority.ca_file), proxy.url, new_master_key()) as app,
        ):
            sql = await asyncpg.connect(url)
            yield World(app, proxy, sql, receiver)
            await sql.close()
        await receiver.stop()


@asynccontextmanager
async def standing_idle(server_url: str) -> AsyncIterator[World]:
    """All of it, and nothing works in the background: each statement is one of a request."""
    async with standing(server_url) as world:
        stopping = world.app.stop_workers()
        assert stopping is not None
        await ended(stopping)
        yield world


def _settings(ca_file: Path) -> Settings:
    return settings_with(
        WEBHOOK_ALLOW_TARGETS="127.0.0.1",
        WEBHOOK_CA_FILE=str(ca_file),
        WEBHOOK_RETRY_BASE_S="0.02",
        WEBHOOK_RETRY_FACTOR="1",
    )
