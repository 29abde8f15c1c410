"""The open connections of one process: how many there may be, and which one gives way to another.

Each holds a file descriptor, and a process without one left can neither accept a caller nor open
a file. So there are fewer of them than descriptors, and callers who only wait give way.
"""

import resource
import time
from typing import Protocol

# A connection so young may have sent a request that was not read yet.
YOUNG_S = 0.2


class Peer(Protocol):
    """One connection, as it is seen here."""

    def give_way(self) -> None:
        """Close: another caller needs the place."""
        ...


class Connections:
    """The connections of one process, by what they wait for."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # Whether the process stops: each answer is the last one of its connection.
        self.is_draining = False
        # Refused connections whose last bytes are still read.
        self.lingering = 0
        self.open: set[Peer] = set()
        # By age, with the time of the last answer or of the first byte.
        self._idle: dict[Peer, None] = {}
        self._asking: dict[Peer, float] = {}

    def admit(self, peer: Peer) -> bool:
        """Take one more; False when there is no place, and nobody who could give way."""
        if len(self.open) >= self.limit and not self._make_room():
            return False
        self.open.add(peer)
        self._asking[peer] = time.monotonic()
        return True

    def is_idle(self, peer: Peer) -> None:
        """Note that it was answered, and may ask again."""
        if peer in self.open:
            self._idle[peer] = None

    def is_asking(self, peer: Peer) -> None:
        """Note that it has begun to ask."""
        if peer in self.open and self._idle.pop(peer, peer) is None:
            self._asking[peer] = time.monotonic()

    def has_asked(self, peer: Peer) -> None:
        """Note that its request is here."""
        self._asking.pop(peer, None)

    def forget(self, peer: Peer) -> None:
        """Note that it is closed."""
        self.open.discard(peer)
        self._idle.pop(peer, None)
        self._asking.pop(peer, None)

    def _make_room(self) -> bool:
        peer = next(iter(self._idle), None)
        if peer is None:
            peer, since = next(iter(self._asking.items()), (None, 0.0))
            if peer is None or time.monotonic() - since < YOUNG_S:
                return False
        self.forget(peer)
        peer.give_way()
        return True


def connections_max() -> int:
    """Half of the descriptors of this process; the rest is for files, the database and webhooks."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, soft // 2) if soft != resource.RLIM_INFINITY else 1 << 20
