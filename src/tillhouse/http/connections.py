"""The open connections of one process: how many there may be, and which one gives way to another.

Each holds a file descriptor, and a process without one left can neither accept a caller nor open
a file. So there are fewer of them than descriptors, and callers who only wait give way. So do those
whose body comes slowly, or who don't take their answer: first of the network that has the most.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

# A connection so young may have sent a request that was not read yet.
YOUNG_S = 0.2


class Peer(Protocol):
    """One connection, as it is seen here."""

    def give_way(self) -> None:
        """Close: another caller needs the place."""
        ...


class Connections:
    """The connections of one process, by their state."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        # Whether the process stops: each answer is the last one of its connection.
        self.is_draining = False
        # Refused connections whose last bytes are still read.
        self.lingering = 0
        self.open: dict[Peer, str] = {}
        self._of_network: Counter[str] = Counter()
        # By age, with the time of the last answer or of the first byte.
        self._idle: dict[Peer, None] = {}
        self._asking: dict[Peer, float] = {}
        # Those whose body, or whose answer, is on its way.
        self._moving: dict[Peer, float] = {}

    def admit(self, peer: Peer, network: str) -> bool:
        """Take one more; False when there is no place, and no idle connection to close."""
        if len(self.open) >= self.limit and not self._make_room():
            return False
        self.open[peer] = network
        self._of_network[network] += 1
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
        """Note that its head is here, and its body may follow."""
        self._asking.pop(peer, None)
        self.is_moving(peer)

    def is_moving(self, peer: Peer) -> None:
        """Note that it has yet to send, or to take, the rest of something."""
        if peer in self.open:
            self._moving.setdefault(peer, time.monotonic())

    def has_moved(self, peer: Peer) -> None:
        """Note that it has done so."""
        self._moving.pop(peer, None)

    def forget(self, peer: Peer) -> None:
        """Note that it is closed."""
        network = self.open.pop(peer, None)
        if network is not None:
            self._of_network[network] -= 1
            if not self._of_network[network]:
                del self._of_network[network]
        self._moving.pop(peer, None)
        self._idle.pop(peer, None)
        self._asking.pop(peer, None)

    def _make_room(self) -> bool:
        peer = (
            next(iter(self._idle), None) or _old(self._asking.items()) or _old(self._of_busiest())
        )
        if peer is None:
            return False
        self.forget(peer)
        peer.give_way()
        return True

    def _of_busiest(self) -> Iterator[tuple[Peer, float]]:
        """Those on the move of the network that has the most connections, by age."""
        networks = {self.open[peer] for peer in self._moving}
        busiest = max(networks, key=lambda name: self._of_network[name], default=None)
        return ((peer, at) for peer, at in self._moving.items() if self.open[peer] == busiest)


def _old(peers: Iterable[tuple[Peer, float]]) -> Peer | None:
    """The first, unless it is young."""
    peer, since = next(iter(peers), (None, 0.0))
    return peer if time.monotonic() - since >= YOUNG_S else None
