"""Simulated calls in virtual time, held against every rule of dispatching: `make calls`.

    make calls ARGS="--calls 20000 --seed 7"

Two dispatchers share the queue. Calls are made in batches, and all rules are checked after each:
memory and the cost of a check don't grow with the calls that were made. The exit code is 1 when a
rule was broken.
"""

import argparse
import asyncio
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import msgspec

from tests.voice.campaign import Load, callers, faults, fill, results, tally_faults
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
_DISPATCHERS, _AT_ONCE, _AT_ONCE_OF_NUMBER = 2, 150, 12
_TOLD_EVERY_S = 5.0
_FAULTS_SHOWN = 20


def main() -> int:
    """Make the calls that are asked for."""
    parser = argparse.ArgumentParser(prog="make calls", description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=10_000, help="calls between two checks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--numbers", type=int, default=25)
    parser.add_argument(
        "--hours", type=float, default=2.0, help="calls of a batch are due within so long"
    )
    return asyncio.run(_run(parser.parse_args()))


async def _run(asked: argparse.Namespace) -> int:
    async with _standing() as services:
        campaign = _Campaign(services, await _book(services), asked)
        await campaign.run()
    return bool(campaign.faults)


class _Campaign:
    """All calls, batch by batch, of one book."""

    def __init__(self, services: Services, book_id: UUID, asked: argparse.Namespace) -> None:
        self._services, self._book_id, self._asked = services, book_id, asked
        self._clock = VirtualClock(now(), _TICK)
        self._network = Network(services, self._clock, dispatchers=_DISPATCHERS, at_once=_AT_ONCE)
        self._began, self._began_s = self._clock.now(), time.monotonic()
        self._told_s = self._began_s
        self._sent = services.pool.statements
        # Placed so far, those of the batch that runs included.
        self._placed = 0
        self._how: Counter[str] = Counter()
        self.faults: list[str] = []

    async def run(self) -> None:
        """Make all calls, and tell how it went."""
        load = self._load(0)
        made_by = await callers(self._services, self._book_id, load, self._began)
        number = 0
        while self._placed < self._asked.calls:
            load = self._load(number)
            self._placed += load.calls
            after = await fill(self._services, self._book_id, load, self._clock.now(), made_by)
            sent = self._services.pool.statements
            await self._network.run(self._tell)
            sent = self._services.pool.statements - sent
            found = await faults(self._services, self._book_id, after)
            self.faults += found
            self._how.update(await results(self._services, self._book_id, after))
            number += 1
            self._say(
                f"  batch {number}: {self._placed:,} of {self._asked.calls:,} calls, "
                f"{self._pace()}, {sent / load.calls:.1f} statements a call, "
                f"{_memory_mib()} MiB, {len(found)} faults"
            )
        self.faults += await tally_faults(self._services, self._book_id)
        self._report()

    def _load(self, number: int) -> Load:
        asked = self._asked
        return Load(
            calls=min(asked.batch, asked.calls - self._placed),
            numbers=asked.numbers,
            at_once=_AT_ONCE_OF_NUMBER,
            seed=asked.seed * 1_000_000 + number,
            hours=asked.hours,
        )

    async def _tell(self, at: datetime) -> None:
        if time.monotonic() - self._told_s < _TOLD_EVERY_S:
            return
        self._told_s = time.monotonic()
        async with self._services.pool.reading() as db:
            waiting = await db.fetchval(
                "SELECT count(*) FROM voice_calls WHERE book_id = $1 AND status = 'queued'",
                self._book_id,
            )
        self._say(
            f"    {self._placed - waiting:,} begun, {self._network.calls} under way, "
            f"{at - self._began} of virtual time"
        )

    def _say(self, text: str) -> None:
        sys.stderr.write(text + "\n")

    def _pace(self) -> str:
        return f"{self._placed / (time.monotonic() - self._began_s):.0f} a second"

    def _report(self) -> None:
        asked, out = self._asked, sys.stdout.write
        sent = self._services.pool.statements - self._sent
        out(
            f"{asked.calls:,} calls (seed {asked.seed}), {self._clock.now() - self._began} of "
            f"virtual time, in {time.monotonic() - self._began_s:.0f} s: {self._pace()}, "
            f"{sent / asked.calls:.1f} statements a call, checks included, {_memory_mib()} MiB\n"
        )
        out("".join(f"  {count:>7,} {end}\n" for end, count in sorted(self._how.items())))
        out("\n".join([f"{len(self.faults)} faults", *self.faults[:_FAULTS_SHOWN]]) + "\n")


def _memory_mib() -> int:
    """The most that this process has used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


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
        services = await connect_services(
            settings, lambda: PRODUCT.declared, server.url, new_master_key()
        )
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
