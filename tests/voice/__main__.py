"""Simulated calls in virtual time, held against every rule of dispatching: `make calls`.

    make calls ARGS="--calls 20000 --seed 7"

Two dispatchers share the queue. The exit code is 1 when a rule was broken.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import msgspec

from tests.voice.campaign import Load, faults, fill, results
from tests.voice.virtual import Network, VirtualClock
from tillhouse.access.process import Services, close_services, connect_services
from tillhouse.access.store.audit import open_chain
from tillhouse.access.vault import new_master_key
from tillhouse.app import PRODUCT
from tillhouse.db.embedded import Embedded
from tillhouse.db.migrate import migrate
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BusinessId, new_id
from tillhouse.settings import from_env

_TICK = timedelta(seconds=1)
_DISPATCHERS, _AT_ONCE = 2, 150
_TOLD_EVERY_S = 5.0
_FAULTS_SHOWN = 20


def main() -> int:
    """Make the calls that are asked for."""
    parser = argparse.ArgumentParser(prog="make calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=int, default=25)
    parser.add_argument("--hours", type=int, default=24, help="calls are due within so long")
    asked = parser.parse_args()
    load = Load(
        calls=asked.calls, numbers=asked.numbers, at_once=12, seed=asked.seed, hours=asked.hours
    )
    return asyncio.run(_run(load))


async def _run(load: Load) -> int:
    async with _standing() as services:
        book_id = await _book(services)
        clock = VirtualClock(now(), _TICK)
        await fill(services, book_id, load, clock.now())
        network = Network(services, clock, dispatchers=_DISPATCHERS, at_once=_AT_ONCE)
        began_s, began = time.monotonic(), clock.now()
        await network.run(_progress(began, load))
        took_s = time.monotonic() - began_s
        wrong = await faults(services, book_id)
        how = await results(services, book_id)
    out = sys.stdout.write
    out(
        f"{load.calls:,} calls (seed {load.seed}), {clock.now() - began} of virtual time, "
        f"in {took_s:.0f} s: {load.calls / took_s:.0f} a second\n"
    )
    out("".join(f"  {count:>7,} {end}\n" for end, count in sorted(how.items())))
    out("\n".join([f"{len(wrong)} faults", *wrong[:_FAULTS_SHOWN]]) + "\n")
    return bool(wrong)


def _progress(began: datetime, load: Load) -> Callable[[datetime], None]:
    told_s = time.monotonic()

    def tell(at: datetime) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= _TOLD_EVERY_S:
            told_s = time.monotonic()
            sys.stderr.write(f"  seed {load.seed}: {at - began} of virtual time\n")

    return tell


@asynccontextmanager
async def _standing() -> AsyncIterator[Services]:
    """A database of this run's own, which a crash may lose."""
    with tempfile.TemporaryDirectory(prefix="tillhouse-calls-") as name:
        folder = Path(name)
        server = Embedded.start(folder / "db")
        connection = await asyncpg.connect(server.url)
        await migrate(connection)
        await connection.execute("ALTER SYSTEM SET synchronous_commit = off")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.close()
        settings = msgspec.structs.replace(from_env({}), data=folder)
        services = await connect_services(settings, PRODUCT.declared, server.url, new_master_key())
        yield services
        await close_services(services)
        server.release()


async def _book(services: Services) -> UUID:
    business_id, test, live = new_id(), new_id(), new_id()
    async with services.pool.transaction() as db:
        await db.execute(
            """
            WITH business AS (
                INSERT INTO businesses (id, name, type, currency, time_zone, country,
                    master_version, wrapped_data_key, created_at, updated_at)
                VALUES ($1, 'Virtual', 'retail', 'USD', 'UTC', 'US', $4, $5, now(), now())
            )
            INSERT INTO books (id, business_id, environment)
            VALUES ($2, $1, 'test'), ($3, $1, 'live')
            """,
            business_id,
            test,
            live,
            services.vault.master_version,
            services.vault.new_data_key(BusinessId(business_id)),
        )
        await open_chain(db, BusinessId(business_id))
    return test


if __name__ == "__main__":
    sys.exit(main())
