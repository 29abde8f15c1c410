"""uvicorn's HTTP protocol with what it lacks: limits for a request's head, an end for streams.

A client that opens a connection and then sends a byte now and then would hold it for ever.
The body's deadline is the endpoint's (`body.py`), which also knows its size.

A stop waits for answers that are under way. A stream would go on until the wait is over, so
streams are told to end at once.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tillhouse.http.answer import STOPPING

HEAD_WITHIN_S = 10.0
HEAD_BYTES_MAX = 64 * 1024
# A stream that was told to end has so long to be taken.
STREAM_ENDS_WITHIN_S = 1.0
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_TOO_LONG = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"connection: close\r\ncontent-length: 0\r\n\r\n"
)


class PatientProtocol(HttpToolsProtocol):
    """Waits so long for a head of so many bytes, and no longer; ends streams at a stop."""

    _stopping: asyncio.Event
    _deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _unparsed_bytes = 0
    _in_head = True

    def connection_made(self, transport: Any) -> None:
        """A new connection has to bring a head soon."""
        super().connection_made(transport)
        self._stopping = asyncio.Event()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count what comes before the head is complete."""
        if self._in_head:
            if self._deadline is None:
                self._expect_head()
            self._unparsed_bytes += len(data)
            if self._unparsed_bytes > HEAD_BYTES_MAX + len(data):
                self._refuse(_TOO_LONG)
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """The request knows where it will be told of a stop."""
        super().on_message_begin()
        self.scope.setdefault("state", {})[STOPPING] = self._stopping

    def on_header(self, name: bytes, value: bytes) -> None:
        """A head that came in one piece is measured as well."""
        super().on_header(name, value)
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(_TOO_LONG)

    def on_headers_complete(self) -> None:
        """The head is here: the body has its own deadline."""
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next bytes, if any, begin another head."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0
        self._unparsed_bytes = 0

    def shutdown(self) -> None:
        """Streams end now; other answers go on to their own end."""
        self._stopping.set()
        super().shutdown()
        self.loop.call_later(STREAM_ENDS_WITHIN_S, self._cut_stream)

    def _cut_stream(self) -> None:
        """Let go of a caller who does not take a stream's end; nothing else is chunked."""
        cycle: Any = self.cycle
        if cycle is not None and cycle.chunked_encoding:
            self.transport.abort()

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(HEAD_WITHIN_S, self._refuse, _TOO_LATE)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, answer: bytes) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()
