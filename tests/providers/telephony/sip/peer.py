"""A telephone, or a trunk, in this process: tests say step by step what it answers.

It reads and writes SIP by itself, line by line, so that an error of the adapter's parser and one
of its own can't meet.
"""

import asyncio
import hashlib
import socket
import struct
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from tests.waiting import HUNG_S, ended

_TAG = "peer1"


class Msg:
    """One message as it came."""

    def __init__(self, data: bytes, source: tuple[str, int]) -> None:
        head, _, self.body = data.decode().partition("\r\n\r\n")
        self.first, *lines = head.split("\r\n")
        self.source = source
        self.lines = [
            (name.lower(), value) for name, _, value in (one.partition(": ") for one in lines)
        ]

    def all(self, name: str) -> list[str]:
        """Each line of this header."""
        return [value for key, value in self.lines if key == name]

    def __getitem__(self, name: str) -> str:
        """The header that stands once."""
        (value,) = self.all(name)
        return value

    @property
    def method(self) -> str:
        """The method, or a status as text."""
        word = self.first.split(" ")
        return word[1] if word[0] == "SIP/2.0" else word[0]

    @property
    def uri(self) -> str:
        """The Request-URI."""
        return self.first.split(" ")[1]

    @property
    def cseq(self) -> int:
        """The number of the request."""
        return int(self["cseq"].split(" ")[0])

    @property
    def branch(self) -> str:
        """The branch of the first Via."""
        return self.all("via")[0].split("branch=")[1].split(";")[0]

    def media(self) -> tuple[str, int]:
        """The address that the description in the body tells."""
        host = self.body.split("c=IN IP4 ")[1].split("\r\n")[0]
        return host, int(self.body.split("m=audio ")[1].split(" ")[0])


class Sound:
    """The peer's socket for RTP: what came, and ways to send."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.bind((host, 0))
        self.port: int = self.socket.getsockname()[1]
        # Marker and type, sequence, timestamp, payload of each.
        self.packets: list[tuple[int, int, int, bytes]] = []
        self.echoes = False
        # The payload of what is sent back, of the one that came.
        self.echo: Callable[[bytes], bytes] = bytes
        self._came = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.socket, self._read)

    def _read(self) -> None:
        data, source = self.socket.recvfrom(2048)
        _, kind, sequence, timestamp, _ = struct.unpack("!BBHII", data[:12])
        self.packets.append((kind, sequence, timestamp, data[12:]))
        self._came.set()
        if self.echoes:
            self.socket.sendto(data[:12] + self.echo(data[12:]), source)

    def send(self, to: tuple[str, int], sequence: int, payload: bytes, kind: int = 0) -> None:
        """Send one packet; its timestamp follows from its number."""
        head = struct.pack("!BBHII", 0x80, kind, sequence, 160 * sequence, 77)
        self.socket.sendto(head + payload, to)

    async def count(self, wanted: int) -> None:
        """Wait until so many packets came."""
        while len(self.packets) < wanted:
            self._came.clear()
            await ended(self._came.wait())

    def close(self) -> None:
        """Free the port."""
        asyncio.get_running_loop().remove_reader(self.socket)
        self.socket.close()


class Peer:
    """Answers what a test tells it to; repetitions of a request are counted, not queued."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.socket.bind((host, 0))
        self.port: int = self.socket.getsockname()[1]
        self.uri = f"sip:customer@{host}:{self.port}"
        self.sound = Sound()
        self.came: Counter[tuple[str, str]] = Counter()
        # So many datagrams are lost before one is taken.
        self.loses = 0
        self._queues: defaultdict[str, asyncio.Queue[Msg]] = defaultdict(asyncio.Queue)
        self._some = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.socket, self._read)

    def _read(self) -> None:
        data, source = self.socket.recvfrom(65_536)
        if self.loses:
            self.loses -= 1
            return
        message = Msg(data, source)
        key = (message.method, message.branch)
        self.came[key] += 1
        self._some.set()
        if self.came[key] == 1 or message.first.startswith("SIP/2.0"):
            self._queues[message.method].put_nowait(message)

    async def got(self, method: str, within_s: float = HUNG_S) -> Msg:
        """The next request of this method, or response of this status."""
        return await ended(self._queues[method].get(), within_s)

    def has(self, method: str) -> bool:
        """Whether one came that nobody asked for yet."""
        return not self._queues[method].empty()

    async def times(self, message: Msg, wanted: int) -> None:
        """Wait until a message came so often."""
        while self.came[message.method, message.branch] < wanted:
            self._some.clear()
            await ended(self._some.wait())

    def send(self, text: str, to: tuple[str, int]) -> None:
        """Send any text."""
        self.socket.sendto(text.encode(), to)

    def reply(
        self, request: Msg, status: int, reason: str = "Word", *, body: str = "", tag: str = _TAG,
        more: Iterable[str] = (), contact: str | None = None, **changes: str,
    ) -> None:  # fmt: skip
        """Answer a request; `changes` replaces headers."""
        lines = [f"SIP/2.0 {status} {reason}"]
        for name in ("via", "record-route", "from", "to", "call-id", "cseq"):
            for value in request.all(name):
                changed = changes.get(name.replace("-", "_"), value)
                is_tagged = name != "to" or "tag=" in changed or status == 100
                lines.append(f"{name}: {changed}" + ("" if is_tagged else f";tag={tag}"))
        lines.append(f"contact: <{contact or self.uri}>")
        self.send(_whole([*lines, *more], body), request.source)

    def accept(self, invite: Msg, **given: str) -> None:
        """Answer with 200 and a description of our sound."""
        self.reply(invite, 200, "OK", body=self.description(), **given)

    def description(self, lines: str = "", formats: str = "0 101", port: int | None = None) -> str:
        """Our side of the sound."""
        return (
            "v=0\r\no=peer 1 1 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            f"m=audio {self.sound.port if port is None else port} RTP/AVP {formats}\r\n"
            f"a=rtpmap:101 telephone-event/8000\r\n{lines}"
        )

    def ask(
        self, invite: Msg, method: str, cseq: int, body: str = "", *, tag: str = _TAG,
        more: Iterable[str] = (), branch: str | None = None,
    ) -> None:  # fmt: skip
        """Send a request within the dialogue that the INVITE began."""
        target = invite["contact"].strip("<>")
        lines = [
            f"{method} {target} SIP/2.0",
            f"via: SIP/2.0/UDP 127.0.0.1:{self.port};rport;branch={branch or f'z9hG4bKp{cseq}'}",
            f"from: {invite['to']};tag={tag}",
            f"to: {invite['from']}",
            f"call-id: {invite['call-id']}",
            f"cseq: {cseq} {method}",
            "max-forwards: 70",
            f"contact: <{self.uri}>",
            *more,
        ]
        self.send(_whole(lines, body), invite.source)

    def close(self) -> None:
        """Hang up for good."""
        asyncio.get_running_loop().remove_reader(self.socket)
        self.socket.close()
        self.sound.close()


def _whole(lines: Iterable[str], body: str) -> str:
    kind = ["content-type: application/sdp"] if body else []
    return "\r\n".join([*lines, *kind, f"content-length: {len(body)}", "", body])


@asynccontextmanager
async def peer(host: str = "127.0.0.1") -> AsyncIterator[Peer]:
    """A telephone on a port of its own."""
    made = Peer(host)
    try:
        yield made
    finally:
        made.close()


def is_authorised(request: Msg, header: str, password: str, algorithm: str) -> bool:
    """Whether a request answers a challenge of realm and nonce as RFC 7616 has it."""
    method, uri = request.first.split(" ")[:2]
    given = {
        name: value.strip('"')
        for name, _, value in (
            part.strip().partition("=") for part in request[header].split(" ", 1)[1].split(",")
        )
    }

    def digest(text: str) -> str:
        return hashlib.new(algorithm.replace("-", ""), text.encode()).hexdigest()

    secret = digest(f"{given['username']}:{given['realm']}:{password}")
    parts = [given["nonce"], given["nc"], given["cnonce"], given["qop"]]
    expected = digest(":".join([secret, *parts, digest(f"{method}:{uri}")]))
    return given["uri"] == uri and given["response"] == expected
