"""A receiver that costs little: answers 204 to every request and notes when each event came."""

import asyncio
import json
import ssl
import sys
import time
from typing import Any

import uvloop

_ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"


class Sink(asyncio.Protocol):
    """One connection; a path that begins with /hang is never answered."""

    arrivals: list[tuple[str, int]] = []  # noqa: RUF012 - one list for all connections

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        """Answer every whole request."""
        self._buffer += data
        while True:
            head, mark, body = self._buffer.partition(b"\r\n\r\n")
            if not mark:
                return
            length = int(_header(head, b"content-length") or b"0")
            if len(body) < length:
                return
            self._buffer = body[length:]
            if head.startswith(b"POST /hang"):
                continue
            event_id = _header(head, b"service-webhook-id").decode()
            Sink.arrivals.append((event_id, time.monotonic_ns()))
            self._transport.write(_ANSWER)


def _header(head: bytes, name: bytes) -> bytes:
    return head.lower().partition(b"\r\n" + name + b": ")[2].partition(b"\r\n")[0]


async def main() -> None:
    """Serve until standard input says: a line asks for the arrivals so far, its end to stop."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Sink, "127.0.0.1", 0, ssl=context, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        arrivals, Sink.arrivals = Sink.arrivals, []
        print(json.dumps(arrivals), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
