"""Telephones that answer each call and send back what they hear, in a process of their own.

The kernel notes when each packet arrived, so that a pause of this process is not taken for one of
the caller's. A line of input gets the figures of all calls that were answered until then.
"""

import json
import re
import select
import socket
import struct
import sys
from typing import Any

_SO_TIMESTAMPNS = 35
_TIME = struct.Struct("ll")
_BUFFER_BYTES = 4 * 1024 * 1024


class Line:
    """The sound of one call."""

    def __init__(self) -> None:
        self.socket = _bound()
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self.sequences: list[int] = []
        self.arrivals: list[float] = []

    def read(self) -> None:
        """Note a packet, and send it back."""
        data, extra, _, source = self.socket.recvmsg(2048, 128)
        [(_, _, stamp)] = extra
        seconds, nanoseconds = _TIME.unpack(stamp[: _TIME.size])
        self.sequences.append(struct.unpack_from("!H", data, 2)[0])
        self.arrivals.append(seconds + nanoseconds / 1e9)
        self.socket.sendto(data, source)

    def figures(self) -> dict[str, object]:
        """The packets that came, those that are missing, and the time between any two."""
        ahead = [(one - self.sequences[0]) & 0xFFFF for one in self.sequences]
        pairs = zip(self.arrivals, self.arrivals[1:], strict=False)
        return {
            "packets": len(ahead),
            "lost": max(ahead) + 1 - len(set(ahead)),
            "gaps": [round(1000 * (after - before), 3) for before, after in pairs],
        }


def _bound() -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
    made.bind(("127.0.0.1", 0))
    return made


def _answer(signalling: socket.socket, lines: dict[str, Line]) -> None:
    data, source = signalling.recvfrom(65_536)
    text = data.decode()
    if text.startswith(("ACK", "SIP/2.0")):
        return
    repeated = "".join(
        f"{line}\r\n"
        for line in text.split("\r\n")
        if re.match("Via|From|Call-Id|Cseq", line, re.I)
    )
    call_id = re.search(r"(?im)^call-id: *(.+?)\r$", text)
    to = re.search(r"(?im)^to: *(.+?)\r$", text)
    assert call_id
    assert to
    body = ""
    if text.startswith("INVITE"):
        line = lines.setdefault(call_id[1], Line())
        port = line.socket.getsockname()[1]
        body = (
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            f"m=audio {port} RTP/AVP 0\r\n"
        )
    tag = "" if "tag=" in to[1] else ";tag=callee"
    contact = f"sip:callee@127.0.0.1:{signalling.getsockname()[1]}"
    answer = (
        f"SIP/2.0 200 OK\r\n{repeated}To: {to[1]}{tag}\r\nContact: <{contact}>\r\n"
        f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    signalling.sendto(answer.encode(), source)


def main() -> None:
    """Answer until the input ends."""
    signalling, lines = _bound(), dict[str, Line]()
    sys.stdout.write(f"{signalling.getsockname()[1]}\n")
    sys.stdout.flush()
    while True:
        sockets = {line.socket: line for line in lines.values()}
        ready: list[Any] = select.select([sys.stdin, signalling, *sockets], [], [])[0]
        for one in ready:
            if one is signalling:
                _answer(signalling, lines)
            elif one is sys.stdin:
                if not sys.stdin.readline():
                    return
                sys.stdout.write(json.dumps([line.figures() for line in lines.values()]) + "\n")
                sys.stdout.flush()
            else:
                sockets[one].read()


if __name__ == "__main__":
    main()
