"""Datagrams: sockets that are connected to one peer, and a range of ports for media.

The kernel keeps packets of others off a connected socket, and tells when the peer's port is closed.
"""

import asyncio
import secrets
import socket
from collections.abc import Callable, Sequence

import msgspec

# As many datagrams are read before others have their turn.
_READS = 32
_DATAGRAM_MAX = 65_536
_EPHEMERAL_TRIES = 20

HostPort = tuple[str, int]


class WireCounts(msgspec.Struct):
    """Calls and packets of sound, and the datagrams that were ignored, and why."""

    calls: int = 0
    answered: int = 0
    # By a final response to the INVITE.
    refused: int = 0
    # Packets of calls that are over.
    packets_sent: int = 0
    packets_played: int = 0
    packets_lost: int = 0
    # Came after their turn, or when there were too many already.
    packets_late: int = 0
    malformed: int = 0
    # Responses and requests that belong to no call or transaction of ours.
    strays: int = 0
    # RTP from elsewhere than the one source of a call, and packets that are no RTP.
    foreign_media: int = 0
    broken_media: int = 0
    # Addresses that a peer or a setting named, and that nothing may be sent to.
    forbidden_targets: int = 0


class Wire:
    """A socket to one peer."""

    def __init__(
        self, peer: HostPort, receive: "Callable[[Wire, bytes], None]", local: HostPort | None
    ) -> None:
        self.peer = peer
        # Told when the peer's port is closed.
        self.listeners: set[Callable[[], None]] = set()
        self._receive = receive
        family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._open(local)
        except OSError:
            self._socket.close()
            raise
        host, port, *_ = self._socket.getsockname()
        self.local: HostPort = (host, port)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._read)

    def _open(self, local: HostPort | None) -> None:
        self._socket.setblocking(False)
        if local is not None:
            if local[1]:
                # Several sockets have this port, each with a peer of its own.
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(local)
        self._socket.connect(self.peer)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

    def send(self, data: bytes) -> None:
        """Send, or lose it: transactions repeat their messages."""
        try:
            self._socket.send(data)
        except ConnectionRefusedError:
            self._refuse()
        except OSError:
            # A full buffer, or a network that is away for the moment.
            return

    def _read(self) -> None:
        for _ in range(_READS):
            try:
                data = self._socket.recv(_DATAGRAM_MAX)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self._refuse()
                return
            self._receive(self, data)
            if self._socket.fileno() < 0:
                return

    def _refuse(self) -> None:
        for listener in tuple(self.listeners):
            self._loop.call_soon(listener)

    def close(self) -> None:
        """Free the port."""
        self._loop.remove_reader(self._socket)
        self._socket.close()


def open_media_socket(host: str, ports: Sequence[int]) -> socket.socket:
    """A socket for RTP on a free, even port; of the range, if one is given."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    even = [port for port in ports if port % 2 == 0]
    start = secrets.randbelow(len(even)) if even else 0
    for port in [*even[start:], *even[:start]] or [0] * _EPHEMERAL_TRIES:
        made = socket.socket(family, socket.SOCK_DGRAM)
        made.setblocking(False)
        try:
            made.bind((host, port))
        except OSError:
            made.close()
            continue
        if made.getsockname()[1] % 2 == 0:
            return made
        made.close()
    raise OSError("no free port for media")
