"""The open connections of one kind, each lent to one caller at a time.

The driver has a pool of its own. It wraps each connection that it lends, sets a timer for each that
comes back, and makes a task to take it back: that took an eighth of the time of a short request.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import asyncpg

from tillhouse.db.connecting import (
    ANSWERED_WITHIN_S,
    CONNECT_TIMEOUT_S,
    SESSION_SETTINGS,
    read_plain_numbers,
)

# A connection that has sent so many is replaced: its server process keeps what it once read.
STATEMENTS_MAX = 50_000
# One that nobody has taken for so long is closed, but for the last.
IDLE_S = 300.0


class Connection(asyncpg.Connection):
    """A connection that is lent; sessions change no setting, so there is none to set back."""

    __slots__ = ()

    @property
    def is_at_rest(self) -> bool:
        """Whether it is open, and nothing is under way on it."""
        protocol: Any = self._protocol
        return not (self.is_closed() or protocol.is_in_transaction() or protocol._is_cancelling())

    @property
    def statements(self) -> int:
        """How many it has sent."""
        protocol: Any = self._protocol
        return protocol.queries_count

    async def come_to_rest(self, within_s: float) -> None:
        """End what is under way on it; where that fails, it is closed."""
        protocol: Any = self._protocol
        if protocol is None:
            return
        try:
            left_s = await protocol._wait_for_cancellation(within_s)
            if self.is_in_transaction():
                await self.execute("ROLLBACK", timeout=left_s)
        except BaseException:
            self.terminate()
            raise


class Connections:
    """So many connections at most; callers who find all of them lent wait in turn."""

    def __init__(
        self,
        url: str,
        size: int,
        settings: Mapping[str, str],
        idle_s: float = IDLE_S,
        statements_max: int = STATEMENTS_MAX,
    ) -> None:
        self.size = size
        self._idle_s = idle_s
        self._statements_max = statements_max
        self._url = url
        self._settings = dict(settings)
        # Each with the time since which it is here. The last is lent first, so some grow old.
        self._idle: list[tuple[Connection, float]] = []
        self._lent: set[Connection] = set()
        # Places in which a connection is being opened.
        self._opening = 0
        # Each gets a connection, or None: a place in which to open one.
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()
        self._retiring: asyncio.TimerHandle | None = None
        self._is_closing = False

    @classmethod
    async def open(cls, url: str, size: int, given: Mapping[str, str]) -> Self:
        """Those with these settings beside the usual ones, of which the first answers."""
        opened = cls(url, size, {**SESSION_SETTINGS, **given})
        opened._take_back(await opened.take())
        return opened

    @property
    def count(self) -> int:
        """How many are open."""
        return self.lent + sum(not one.is_closed() for one, _ in self._idle)

    @property
    def lent(self) -> int:
        """How many are lent."""
        return sum(not one.is_closed() for one in self._lent)

    def take_idle(self) -> Connection | None:
        """One that is open and here; None: there is none."""
        while self._idle:
            connection, _ = self._idle.pop()
            if not connection.is_closed():
                self._lent.add(connection)
                return connection
        return None

    async def take(self) -> Connection:
        """One that is here, or a new one, or the next that is given back."""
        self._check_open()
        found = self.take_idle()
        if found is None and len(self._lent) + self._opening >= self.size:
            found = await self._next()
        elif found is None:
            self._opening += 1
        return found or await self._open()

    async def give_back(self, connection: Connection, within_s: float) -> None:
        """Take one back, with what is under way on it ended first, even if its caller leaves."""
        if connection.is_closed() or (connection.is_at_rest and not self._is_worn(connection)):
            self._take_back(connection)
        else:
            await asyncio.shield(asyncio.create_task(self._end(connection, within_s)))

    async def close(self) -> None:
        """Close them, those that are lent as soon as they are given back."""
        self._is_closing = True
        while (found := self.take_idle()) or self._lent or self._opening:
            found = found or await self._next()
            if found is None:
                self._opening -= 1
            else:
                await found.close()
                self._lent.discard(found)
        if self._retiring is not None:
            self._retiring.cancel()

    def terminate(self) -> None:
        """Break them off, whoever has them."""
        self._is_closing = True
        for connection in (*self._lent, *(one for one, _ in self._idle)):
            connection.terminate()
        if self._retiring is not None:
            self._retiring.cancel()

    async def _end(self, connection: Connection, within_s: float) -> None:
        try:
            await connection.come_to_rest(within_s)
            if not connection.is_closed() and self._is_worn(connection):
                await connection.close(timeout=within_s)
        finally:
            self._take_back(connection)

    def _is_worn(self, connection: Connection) -> bool:
        return connection.statements >= self._statements_max

    def _take_back(self, connection: Connection) -> None:
        self._lent.discard(connection)
        if connection.is_closed():
            connection.terminate()
            self._pass_on(None)
        else:
            self._pass_on(connection)

    def _pass_on(self, connection: Connection | None) -> None:
        """Give one, or the place of one, to the caller who has waited longest."""
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                if connection is None:
                    self._opening += 1
                else:
                    self._lent.add(connection)
                waiting.set_result(connection)
                return
        if connection is not None:
            self._idle.append((connection, asyncio.get_running_loop().time()))
            if self._retiring is None and len(self._idle) > 1:
                self._retire_later()

    async def _next(self) -> Connection | None:
        """The next that is given back, or the place of one that is closed."""
        waiting: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.cancelled():
                with suppress(ValueError):
                    self._waiting.remove(waiting)
            else:
                # It came as its caller left.
                self._give_up(waiting.result())
            raise

    def _give_up(self, found: Connection | None) -> None:
        if found is None:
            self._opening -= 1
            self._pass_on(None)
        else:
            self._take_back(found)

    async def _open(self) -> Connection:
        """Open one in a place that is kept for it."""
        try:
            self._check_open()
            connection = await self._connect()
        except BaseException:
            # The place is the next one's, who may fare better.
            self._give_up(None)
            raise
        self._opening -= 1
        self._lent.add(connection)
        return connection

    def _check_open(self) -> None:
        if self._is_closing:
            raise asyncpg.InterfaceError("These connections are being closed.")

    async def _connect(self) -> Connection:
        is_patient = self._settings["statement_timeout"] == "0"
        connection = await asyncpg.connect(
            self._url,
            connection_class=Connection,
            server_settings=self._settings,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=None if is_patient else ANSWERED_WITHIN_S,
            # The longest statements are those that most need to be kept.
            max_cacheable_statement_size=0,
        )
        await read_plain_numbers(connection)
        return connection

    def _retire_later(self) -> None:
        self._retiring = asyncio.get_running_loop().call_later(self._idle_s, self._retire)

    def _retire(self) -> None:
        """Close those that nobody has taken for long."""
        self._retiring = None
        since = asyncio.get_running_loop().time() - self._idle_s
        while len(self._idle) > 1 and self._idle[0][1] <= since:
            self._idle.pop(0)[0].terminate()
        if len(self._idle) > 1:
            self._retire_later()
