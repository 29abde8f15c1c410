"""The key check: is this API key usable at this moment, and within its rate?

Every request asks the database, so that a revocation holds on the next request in every
process on every machine. It is cheap because all requests that wait at the same time share one
statement; a request never joins a statement that was sent before it arrived.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from asyncpg import Record

from tillhouse.access.callers import Allowance, Book, KeyCaller
from tillhouse.access.declared import Declared
from tillhouse.access.store import keys as store
from tillhouse.db.connecting import FAILURES
from tillhouse.db.pool import Pool
from tillhouse.kit.errors import Unavailable
from tillhouse.kit.network import parse_networks

# Parsed keys kept to be used again while their row has not changed.
_PARSED_MAX = 10_000


class KeyCheck(msgspec.Struct, frozen=True):
    """The verdict on a key: its caller, or none, and the rest of its rate."""

    caller: KeyCaller | None
    allowance: Allowance | None


class KeyChecker:
    """Checks keys in batches; one statement is under way at a time."""

    def __init__(self, pool: Pool, declare: Callable[[], Declared], rate: int, burst: int) -> None:
        self._declare = declare
        self._pool = pool
        self._rate = rate
        self._burst = burst
        self._window_s = max(1, -(-burst // rate)) if rate else 1
        self._waiting: dict[bytes, list[asyncio.Future[KeyCheck]]] = {}
        self._draining: asyncio.Task[None] | None = None
        self._parsed: dict[Any, tuple[str, KeyCaller]] = {}

    async def check(self, digest: bytes) -> KeyCheck:
        """Whether the key with this digest may call now."""
        future: asyncio.Future[KeyCheck] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(digest, []).append(future)
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain())
        return await future

    async def _drain(self) -> None:
        db = self._pool.reader()
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, {}
                try:
                    await self._answer(db, batch)
                finally:
                    # However the statement ended, no request may wait for ever.
                    _refuse(batch)
        finally:
            self._draining = None
            await db.release()
            if self._waiting:
                self._draining = asyncio.create_task(self._drain())

    async def _answer(self, db: Any, batch: dict[bytes, list[asyncio.Future[KeyCheck]]]) -> None:
        try:
            rows = await store.check_keys(
                db,
                list(batch),
                [len(futures) for futures in batch.values()],
                self._rate,
                self._burst,
            )
        except (*FAILURES, Unavailable) as error:
            if isinstance(error, TimeoutError | Unavailable):
                # Nothing answers there: requests that came meanwhile would only wait for the same.
                _refuse(self._waiting, error)
                self._waiting = {}
            _refuse(batch, error)
            await db.release()
            return
        found = {row["secret_digest"]: row for row in rows}
        for digest, futures in batch.items():
            self._settle(found.get(digest), futures)

    def _settle(self, row: Record | None, futures: list[asyncio.Future[KeyCheck]]) -> None:
        if row is None or not row["is_usable"]:
            for future in _undone(futures):
                future.set_result(KeyCheck(None, None))
            return
        caller = self._caller(row)
        remaining = self._remaining(row["full_in_s"])
        for index, future in enumerate(futures):
            allowance = None
            if self._rate:
                is_allowed = index < row["granted"]
                later = max(0, row["granted"] - index - 1)
                allowance = Allowance(
                    self._burst,
                    self._window_s,
                    remaining + later if is_allowed else 0,
                    row["full_in_s"],
                    is_allowed,
                )
            if not future.done():
                future.set_result(KeyCheck(caller, allowance))

    def _remaining(self, full_in_s: float) -> int:
        return max(0, int(self._burst - full_in_s * self._rate + 1e-6))

    def _caller(self, row: Record) -> KeyCaller:
        """The key as a caller; parsed once per version of its row."""
        known = self._parsed.get(row["id"])
        if known is not None and known[0] == row["version"]:
            return known[1]
        caller = KeyCaller(
            key_id=row["id"],
            business_id=row["business_id"],
            book=Book(row["book_id"], row["environment"]),
            app_id=row["developer_app_id"],
            name=row["name"],
            scopes=self._declare().scopes.granted(row["scopes"]),
            allowed_origins=tuple(row["allowed_origins"]),
            allowed_networks=parse_networks(row["allowed_ip_ranges"]),
            withdrawal_policy=msgspec.json.decode(row["withdrawal_policy"] or "null"),
        )
        if len(self._parsed) >= _PARSED_MAX:
            self._parsed.clear()
        self._parsed[row["id"]] = (row["version"], caller)
        return caller


def _refuse(
    batch: dict[bytes, list[asyncio.Future[KeyCheck]]], error: BaseException | None = None
) -> None:
    """Tell the requests that still wait that there is no answer."""
    for futures in batch.values():
        for future in _undone(futures):
            refusal = Unavailable(retry_after_s=1)
            refusal.__cause__ = error
            future.set_exception(refusal)


def _undone(futures: list[asyncio.Future[KeyCheck]]) -> list[asyncio.Future[KeyCheck]]:
    """Those whose request still waits."""
    return [future for future in futures if not future.done()]
