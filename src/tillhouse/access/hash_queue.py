"""The queue for the threads that hash passwords: each network has its turn and a bounded share.

An account that has logged in from the same network before waits in a line of its own, so that no
number of strangers holds it up.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import msgspec

from tillhouse.kit.errors import Unavailable

_THREADS = 2

T = TypeVar("T")


class Asker(msgspec.Struct, frozen=True):
    """On whose behalf a password is hashed."""

    network: str
    account: bytes
    # Whether this account has logged in from this network before.
    is_known: bool = False


class QueueShares(msgspec.Struct, frozen=True):
    """How many may wait: in all, of one network, for one account."""

    total: int = 256
    network: int = 64
    account: int = 48


_DELAYED = QueueShares(total=512, network=16, account=128)


class Waiter:
    """An attempt that waits; its turn ends with an exception when the place is given to another."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class NetworkQueue:
    """The attempts that wait, by network, each network in its turn."""

    def __init__(self, shares: QueueShares) -> None:
        self._shares = shares
        self._by_network: dict[str, deque[Waiter]] = {}
        self._by_account: Counter[bytes] = Counter()
        self._count = 0

    def join(self, asker: Asker) -> Waiter:
        """Wait at the end of the network's own line, or be refused."""
        own = len(self._by_network.get(asker.network, ()))
        is_full = self._by_account[asker.account] >= self._shares.account
        if is_full or own >= self._shares.network or not self._has_room(own):
            raise Unavailable(retry_after_s=2)
        waiter = Waiter(asker)
        self._by_network.setdefault(asker.network, deque()).append(waiter)
        self._by_account[asker.account] += 1
        self._count += 1
        return waiter

    def next(self) -> Waiter | None:
        """The first of the network whose turn it is; that network then waits for the others."""
        while self._by_network:
            network = next(iter(self._by_network))
            waiter = self._by_network[network][0]
            self.leave(waiter)
            if network in self._by_network:
                self._by_network[network] = self._by_network.pop(network)
            if not waiter.turn.done():
                return waiter
        return None

    def leave(self, waiter: Waiter) -> None:
        """Wait no longer."""
        asker = waiter.asker
        line = self._by_network.get(asker.network)
        if line is None or waiter not in line:
            return
        line.remove(waiter)
        if not line:
            del self._by_network[asker.network]
        self._by_account[asker.account] -= 1
        if not self._by_account[asker.account]:
            del self._by_account[asker.account]
        self._count -= 1

    def _has_room(self, own: int) -> bool:
        """Whether one more may wait, perhaps in place of the last of the longest line."""
        if self._count < self._shares.total:
            return True
        longest = max(self._by_network.values(), key=len)
        if len(longest) <= own + 1:
            return False
        last = longest[-1]
        self.leave(last)
        if not last.turn.done():
            last.turn.set_exception(Unavailable(retry_after_s=2))
        return True


class HashQueue:
    """Runs work on a few threads, for known and unknown askers in turn."""

    def __init__(self, shares: QueueShares) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="argon2")
        self._free = _THREADS
        self._known, self._unknown = NetworkQueue(shares), NetworkQueue(shares)
        self._delayed = NetworkQueue(_DELAYED)
        self._is_known_next = True

    async def run(self, asker: Asker, work: Callable[..., T], *args: str) -> T:
        """Do the work when it is the asker's turn."""
        await self._wait(asker)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._pass_on()

    async def delay(self, asker: Asker, delay_s: float) -> None:
        """Let time pass before the asker may queue; so many at once, in fair shares."""
        waiter = self._delayed.join(asker)
        try:
            async with asyncio.timeout(delay_s):
                await waiter.turn
        except TimeoutError:
            pass
        finally:
            self._delayed.leave(waiter)

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _wait(self, asker: Asker) -> None:
        if self._free:
            self._free -= 1
            return
        line = self._known if asker.is_known else self._unknown
        waiter = line.join(asker)
        try:
            await waiter.turn
        except asyncio.CancelledError:
            line.leave(waiter)
            if not waiter.turn.cancelled():
                # The turn had come.
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Let the next have the thread."""
        lines = (self._known, self._unknown)
        first, second = lines if self._is_known_next else lines[::-1]
        self._is_known_next = not self._is_known_next
        waiter = first.next() or second.next()
        if waiter is None:
            self._free += 1
        else:
            waiter.turn.set_result(None)
