"""Passwords: argon2id, off the event loop, a bounded number at a time."""

from functools import cached_property

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tillhouse.access.hash_queue import Asker, HashQueue, QueueShares

# The operator, at the command line.
OPERATOR = Asker("", b"", is_known=True)


class Passwords:
    """Hashes and verifies; every check takes the same work, account or not."""

    def __init__(self, *, memory_kib: int, passes: int, shares: QueueShares | None = None) -> None:
        self._hasher = PasswordHasher(time_cost=passes, memory_cost=memory_kib, parallelism=1)
        self.queue = HashQueue(shares or QueueShares())

    async def hash(self, password: str, asker: Asker = OPERATOR) -> str:
        """The encoded hash of a new password."""
        return await self.queue.run(asker, self._hasher.hash, password)

    async def verify(self, hashed: str | None, password: str, asker: Asker = OPERATOR) -> bool:
        """Whether the password fits; without an account the same work and False."""
        fits = await self.queue.run(asker, self._fits, hashed or "", password)
        return fits and bool(hashed)

    def close(self) -> None:
        """End the threads."""
        self.queue.close()

    @cached_property
    def _decoy(self) -> str:
        """Verified in place of a missing account's hash, so that its absence takes as long."""
        return self._hasher.hash("nobody's password")

    def _fits(self, hashed: str, password: str) -> bool:
        # Made by the first check of a process, whether it is of an account or not: most commands
        # check none.
        decoy = self._decoy
        try:
            return self._hasher.verify(hashed or decoy, password)
        except (VerificationError, InvalidHashError):
            return False
