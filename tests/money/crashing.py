"""A process whose connections to PostgreSQL all end at a chosen statement, as if it were killed.

From then on it reaches no database until the caller has heard of it, so nothing that its code still
does can be seen: what it leaves is what a killed process leaves.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from tests.system.killing_proxy import Proxy, Target
from tillhouse.db.connecting import AWAY, FAILURES

# Errors of work whose process has died.
DEAD = (*FAILURES, *AWAY)

# A sequence is cut after one of its statements, or before or after each of them in turn: more than
# any has, commits among them. Once no statement is hit, all have been.
STATEMENTS_MAX = 200
_EACH = range(1, STATEMENTS_MAX)
at_points = pytest.mark.parametrize(
    ("points", "is_after"),
    [
        pytest.param((5,), True, id="after one"),
        pytest.param(_EACH, False, id="before each", marks=pytest.mark.proof),
        pytest.param(_EACH, True, id="after each", marks=pytest.mark.proof),
    ],
)


def assert_cut(points: Sequence[int], hits: int, fewest: int = 10) -> None:
    """It was cut wherever it was to be: at the one statement, or at all that it has."""
    if len(points) == 1:
        assert hits == 1
    else:
        assert fewest < hits < STATEMENTS_MAX - 1


class Crash(NamedTuple):
    """The statement at which a process dies: before it runs, or after it did.

    From 1 on statements are counted; 0 is the first commit, -1 the second, and so on.
    """

    number: int
    is_after: bool


class Death(Target):
    """Ends a process at one of all its statements."""

    def __init__(self, process: "MortalProxy", crash: Crash) -> None:
        super().__init__(crash.number, is_after=crash.is_after)
        self._process = process
        self._queries = 0

    def hits(self, pid: int, kind: bytes, text: bytes, *, in_transaction: bool) -> bool:
        """Count whatever is run; of simple queries, every other one is a commit."""
        self.seen += 1
        self._queries += kind == b"Q"
        if self.is_dead:
            return False
        if self.number > 0:
            return self.seen == self.number
        return kind == b"Q" and self._queries == 2 * (1 - self.number)

    def kill(self) -> None:
        """End all its connections."""
        self.is_dead = True
        self._process.cut()


class MortalProxy(Proxy):
    """Stands between an application in this process and PostgreSQL."""

    # The ends of connections that were cut.
    _cut: Sequence[asyncio.Task[None]] = ()

    @asynccontextmanager
    async def dying(self, crash: Crash | None) -> AsyncIterator[Death | None]:
        """Let it die at a statement within the block; it lives again after it.

        By then PostgreSQL has noticed: what the dead process had locked is free.
        """
        death = None if crash is None else Death(self, crash)
        self.target = death
        try:
            yield death
        finally:
            self.target = None
            await asyncio.gather(*self._cut)
            self._cut = ()

    def cut(self) -> None:
        """End every connection."""
        self._cut = list(self._open.values())
        for writer in self._open:
            writer.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.target is not None and self.target.is_dead:
            writer.close()
            return
        await super()._accept(reader, writer)
