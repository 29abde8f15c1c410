"""The tools of one process, made once at the start and passed along with every call."""

from collections.abc import Callable

import msgspec

from tillhouse.access.declared import Declared
from tillhouse.access.key_check import KeyChecker
from tillhouse.access.passwords import Passwords
from tillhouse.access.shares import Shares, connections_max
from tillhouse.access.tokens import AccessTokens
from tillhouse.access.usage import Storage, Usage
from tillhouse.access.vault import Vault, open_vault
from tillhouse.db.batcher import StatementBatcher
from tillhouse.db.feeds import Feeds
from tillhouse.db.pool import Pool
from tillhouse.jobs.runner import Results
from tillhouse.jobs.worker import BackgroundWorkers
from tillhouse.settings import Settings


class Services(msgspec.Struct, frozen=True, kw_only=True):
    """Connections, secrets and counters of this process."""

    settings: Settings
    # The declarations of the rooms. Most commands ask for none, and then load no room for them.
    declare: Callable[[], Declared]
    pool: Pool
    batcher: StatementBatcher
    feeds: Feeds
    vault: Vault
    tokens: AccessTokens
    passwords: Passwords
    key_checker: KeyChecker
    usage: Usage
    # How much of this process one business, key or network may have at once.
    shares: Shares
    # How much the books hold of each kind that may be limited.
    storage: Storage
    workers: BackgroundWorkers
    # How jobs ended in this process.
    job_results: Results

    @property
    def declared(self) -> Declared:
        """All that the rooms declare."""
        return self.declare()


async def connect_services(
    settings: Settings,
    declare: Callable[[], Declared],
    database_url: str,
    master_key: str,
    *,
    is_patient: bool = False,
) -> Services:
    """Connect and unlock: the database must be migrated and the master key its own.

    A command is patient: its statements may take as long as they need.
    """
    size = settings.pool_size
    pool = await Pool.open(database_url, size=size, fail_fast=size // 4, is_patient=is_patient)
    try:
        vault = await open_vault(pool, master_key)
    except BaseException:
        await pool.close()
        raise
    return Services(
        settings=settings,
        declare=declare,
        pool=pool,
        batcher=StatementBatcher(pool),
        feeds=Feeds(pool),
        vault=vault,
        tokens=AccessTokens(vault.derive("access tokens")),
        passwords=Passwords(
            memory_kib=settings.password_memory_kib, passes=settings.password_passes
        ),
        key_checker=KeyChecker(pool, declare, settings.rate_limit, settings.rate_burst),
        usage=Usage(pool),
        shares=Shares(pool.readers, connections_max()),
        storage=Storage(settings),
        workers=BackgroundWorkers(),
        job_results=Results(),
    )


async def close_services(services: Services) -> None:
    """Write the counts that only this process has, then let go of the database."""
    await services.usage.write_rest()
    services.passwords.close()
    await services.pool.close()
