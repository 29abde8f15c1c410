"""The use of a book: the requests that it sent, and the rows that it holds.

Requests are counted in memory, written in batches, and all of them on a clean stop.

Rows are counted by chores, and writes beyond a limit are refused. Each process reads the counts
twice a minute and keeps the books that are full. So a request costs a look into a dictionary, and a
quota holds up to two and a half minutes after it was reached.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
import structlog

from tillhouse.access.callers import KeyCaller
from tillhouse.access.store import usage as store
from tillhouse.access.store.usage import CounterKey, Tally
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Pool
from tillhouse.db.storage_table import StorageLimits, StorageTable, StorageUse
from tillhouse.kit.errors import LimitReached, Unavailable
from tillhouse.settings import Settings

FLUSH_EVERY_S = 2.0
MEASURED_EVERY_S = 30.0
MIB = 1024 * 1024
_ERRORS_FROM = 400

log = structlog.get_logger()


class RequestSeen(msgspec.Struct, frozen=True):
    """When a request came and from where."""

    at: datetime
    ip: str


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
        seen: RequestSeen,
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


class StoredKind(msgspec.Struct, frozen=True, kw_only=True):
    """Something of which a book may hold so much."""

    name: str
    # The settings that limit rows and MiB, without their prefix.
    rows_setting: str
    mib_setting: str
    counts: StorageTable
    # Told with a refusal: the name of the setting is filled in.
    message: str

    def limits(self, settings: Settings) -> StorageLimits:
        """The limits that are set."""
        rows, mib = (
            getattr(settings, name.lower()) for name in (self.rows_setting, self.mib_setting)
        )
        return StorageLimits(rows, mib * MIB)

    def setting_beyond(self, settings: Settings, rows: int, size: int) -> str | None:
        """The setting that so many rows of so many bytes are too much for."""
        limits = self.limits(settings)
        if 0 < limits.rows < rows:
            return self.rows_setting
        return self.mib_setting if 0 < limits.bytes < size else None


class Storage:
    """The storage of all books, as far as this process knows it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # Everything of which a book may hold so much, once the rooms are joined.
        self.kinds: Sequence[StoredKind] = ()
        self._full: dict[str, Mapping[UUID, str]] = {}
        self._kinds: dict[str, StoredKind] = {}
        self._stored: dict[str, StorageUse] = {}

    @property
    def stored(self) -> Mapping[str, StorageUse]:
        """The last measurements, by kind."""
        return self._stored

    async def measure(self, pool: Pool, kinds: Sequence[StoredKind]) -> None:
        """Read the counts anew."""
        for kind in kinds:
            # Requests alone send statements outside of transactions.
            async with pool.transaction() as db:
                stored = await kind.counts.measure(db, kind.limits(self._settings))
            self._kinds[kind.name] = kind
            self._stored[kind.name] = stored
            self._full[kind.name] = {
                **dict.fromkeys(stored.full_by_bytes, kind.mib_setting),
                **dict.fromkeys(stored.full_by_rows, kind.rows_setting),
            }

    def is_full(self, name: str, book_id: UUID) -> bool:
        """Whether a book is full of a kind."""
        return book_id in self._full.get(name, {})

    def check(self, name: str, book_id: UUID) -> None:
        """Refuse more of a kind in a book that is full of it."""
        full = self._full.get(name)
        if full and (setting := full.get(book_id)):
            raise _reached(self._kinds[name], setting)

    def check_held(self, kind: StoredKind, rows: int, size: int) -> None:
        """Refuse a write that brings a book beyond its limits, if each write is counted."""
        if setting := kind.setting_beyond(self._settings, rows, size):
            raise _reached(kind, setting)


def _reached(kind: StoredKind, setting: str) -> LimitReached:
    return LimitReached(kind.message.format(setting=f"TILLHOUSE_{setting}"))
