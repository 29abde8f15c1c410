"""Usage: counted in memory per request, written in batches, all of it on a clean stop."""

import asyncio
from datetime import datetime
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import KeyCaller
from tillhouse.access.store import usage as store
from tillhouse.access.store.usage import CounterKey, Tally
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Pool
from tillhouse.kit.errors import Unavailable

FLUSH_EVERY_S = 2.0
_ERRORS_FROM = 400

log = structlog.get_logger()


class Usage:
    """The counters of this process."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._tallies: dict[CounterKey, Tally] = {}
        self._uses: dict[tuple[UUID, UUID], tuple[datetime, str]] = {}
        self._flushing = asyncio.Lock()

    def count(
        self,
        caller: KeyCaller,
        route: tuple[str, str],
        status: int,
        took_s: float,
        seen: "RequestSeen",
    ) -> None:
        """Count one answered request."""
        method, endpoint = route
        counter = (
            caller.book.id, seen.at.date(), caller.app_id, method, endpoint, f"{status // 100}xx"
        )  # fmt: skip
        tally = self._tallies.get(counter)
        if tally is None:
            tally = self._tallies[counter] = Tally()
        tally.requests += 1
        tally.errors += status >= _ERRORS_FROM
        tally.latency_us += int(took_s * 1_000_000)
        self._uses[(caller.book.id, caller.key_id)] = (seen.at, seen.ip)

    async def flush(self) -> bool:
        """Write the counts; after a failure they stay here for the next time."""
        async with self._flushing:
            tallies, self._tallies = self._tallies, {}
            uses, self._uses = self._uses, {}
            if not tallies:
                return False
            try:
                async with self._pool.transaction() as db:
                    await store.add_usage(db, [*tallies.items()])
                    await store.touch_keys(db, [*uses.items()])
            except BaseException:
                self._put_back(tallies, uses)
                raise
        # Uses that came meanwhile wait for the next round.
        return False

    async def write_rest(self) -> None:
        """Flush for the last time: no request counts any more."""
        try:
            await self.flush()
        except (*FAILURES, Unavailable) as error:
            log.warning("usage_not_written", error=str(error))

    def _put_back(
        self,
        tallies: dict[CounterKey, Tally],
        uses: dict[tuple[UUID, UUID], tuple[datetime, str]],
    ) -> None:
        for counter, old in tallies.items():
            tally = self._tallies.setdefault(counter, Tally())
            tally.requests += old.requests
            tally.errors += old.errors
            tally.latency_us += old.latency_us
        self._uses = uses | self._uses


class RequestSeen(msgspec.Struct, frozen=True):
    """When a request came and from where."""

    at: datetime
    ip: str
