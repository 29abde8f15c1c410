"""Passwords: argon2id, off the event loop, a bounded number at a time."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tillhouse.kit.errors import Unavailable

_THREADS = 2
# Waiting room: past this many the caller is told to come back, and memory stays bounded.
_WAITING_MAX = 64

T = TypeVar("T")


class Passwords:
    """Hashes and verifies; every check takes the same work, account or not."""

    def __init__(self, *, memory_kib: int, passes: int) -> None:
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="argon2")
        self._waiting = 0
        # Verified in place of a missing account's, so that its absence takes as long.
        self._nobody = self._hasher.hash("nobody's password")

    async def hash(self, password: str) -> str:
        """The encoded hash of a new password."""
        return await self._run(self._hasher.hash, password)

    async def verify(self, hashed: str | None, password: str) -> bool:
        """Whether the password fits; without an account the same work and False."""
        fits = await self._run(self._fits, hashed or self._nobody, password)
        return fits and hashed is not None

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _fits(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, work: Callable[..., T], *args: str) -> T:
        if self._waiting >= _WAITING_MAX:
            raise Unavailable(retry_after_s=2)
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, work, *args)
        finally:
            self._waiting -= 1
