"""uvicorn's HTTP protocol, with a limit for each state of a connection.

A client that opens a connection and then sends, or takes, a byte now and then would hold it for
ever. So a head, an idle connection and the taking of an answer have deadlines; the body's is the
endpoint's (`exchange.py`), which also knows its size. A request whose body is still on its way when
it is answered was the last one of its connection. One that is refused here is, too, after the
answers of those that were sent before it.

A stop waits for answers that are under way. A stream would go on until the wait is over, so
streams are told to end at once.
"""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from tillhouse.access.attempt_rules import network_of
from tillhouse.http.answer import STOPPING
from tillhouse.http.connections import Connections
from tillhouse.http.exchange import HAS_LEFT
from tillhouse.http.problems import early_answer

HEAD_WITHIN_S = 10.0
HEAD_BYTES_MAX = 64 * 1024
# The rest of a request is read for a moment when its connection ends: a socket that is closed over
# unread bytes is reset, and the caller would lose the answer.
LINGER_S = 1.0
LINGER_BYTES_MAX = 4 * 1024 * 1024
# A caller that is idle when the process stops may have sent a request already.
LAST_REQUEST_WITHIN_S = 0.5
# A stream that was told to end has so long to be taken.
STREAM_ENDS_WITHIN_S = 1.0

_TOO_LATE = (408, "The head of the request did not arrive in time: send it faster.")
_TOO_LONG = (431, f"The head may hold at most {HEAD_BYTES_MAX} bytes: send less.")
_NO_HOST = (400, "The request has no Host header, or several: send one.")
_NO_HTTP = (400, "This is no valid HTTP request.")
_FULL = (503, "Too many connections are open: try again in a moment.")


class _RefusedError(Exception):
    """The connection has its last answer: nothing of the request is looked at."""


class _WayBack:
    """The way of an answer to its caller: the head waits for the first bytes of the body.

    Each of them alone would be a packet of its own, and the second wakes the caller once more.
    """

    def __init__(self, protocol: "PatientProtocol", cycle: Any) -> None:
        self._protocol = protocol
        self._cycle = cycle
        self._transport = protocol.transport
        self._head = b""
        self._has_head = False
        # Whether the request was read to its end; else to close takes longer.
        self.is_read = False
        self.is_closing = protocol.transport.is_closing

    def write(self, data: bytes) -> None:
        """Send some bytes; of an answer that has begun, the first are its head."""
        if self._protocol.has_ended:
            # A refusal was the last of the connection: its request may be answered besides.
            return
        if self._has_head or not self._cycle.response_started:
            self._transport.write(self._head + data if self._head else data)
            self._head = b""
        else:
            self._has_head, self._head = True, data

    def flush(self) -> None:
        """Send a head that nothing followed yet: an answer without a body is that alone."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Close, once the answer can be read."""
        self.flush()
        if self.is_read:
            self._transport.close()
        else:
            self._protocol.linger()


class PatientProtocol(HttpToolsProtocol):
    """Waits so long for each step of a connection, and no longer; ends streams at a stop."""

    idle_s = 30.0
    # For every answer; a large one has the time that it takes at a slow rate besides.
    taken_within_s = 30.0
    taken_bytes_per_s = 16 * 1024

    parser: Any
    _stopping: asyncio.Event
    # For the head, or at the end for the rest of the body.
    _deadline: asyncio.TimerHandle | None = None
    # For an answer to be taken.
    _taking: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _unparsed_bytes = 0
    _hosts = 0
    _in_head = True
    _keeps_alive = True
    # The request that is answered; `cycle` is the latest that came.
    _answering: Any = None
    _is_refused = False
    # The refusal of a request before which others are answered.
    _last_word: tuple[int, str] | None = None
    # How many bytes came since the end, None before it.
    _lingering: int | None = None

    def __init__(self, *args: Any, known: Connections | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._known = known or Connections(limit=1 << 20)
        self.timeout_keep_alive = self.idle_s

    @property
    def has_ended(self) -> bool:
        """Whether the last bytes of the connection are written."""
        return self._lingering is not None

    def connection_made(self, transport: Any) -> None:
        """A new connection has to bring a head soon."""
        super().connection_made(transport)
        self._stopping = asyncio.Event()
        if self._known.admit(self, network_of(self.client[0] if self.client else "")):
            self._expect_head(LAST_REQUEST_WITHIN_S if self._known.is_draining else HEAD_WITHIN_S)
        else:
            self._refuse(_FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._known.forget(self)
        if self._lingering is not None:
            self._known.lingering -= 1
            self._lingering = None
        self._stop_waiting()
        self._is_taken()
        self._unset_keepalive_if_required()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes before the head is complete."""
        if self._lingering is not None or self._is_refused:
            self._pass_over(data)
            return
        if self._in_head:
            if self._deadline is None:
                self._expect_head()
            self._unparsed_bytes += len(data)
            if self._unparsed_bytes > HEAD_BYTES_MAX + len(data):
                self._refuse(_TOO_LONG)
                return
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # No other protocol is spoken here: the request is answered as if it hadn't asked.
            pass
        except httptools.HttpParserError:
            self._refuse(_NO_HTTP)

    def on_message_begin(self) -> None:
        """The request knows where it will be told of a stop, and that its caller left."""
        super().on_message_begin()
        self._known.is_asking(self)
        self._hosts = 0
        state = self.scope.setdefault("state", {})
        state[STOPPING] = self._stopping
        state[HAS_LEFT] = self._has_left

    def on_header(self, name: bytes, value: bytes) -> None:
        """A head that came in one piece is measured as well."""
        super().on_header(name, value)
        self._hosts += name.lower() == b"host"
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > HEAD_BYTES_MAX:
            self._refuse(_TOO_LONG)
            raise _RefusedError

    def on_headers_complete(self) -> None:
        """The head is here: the body has its own deadline."""
        # The first HTTP knew no such header.
        if self._hosts > 1 or (self._hosts == 0 and self.parser.get_http_version() != "1.0"):
            self._refuse(_NO_HOST)
            raise _RefusedError
        self._in_head = False
        self._stop_waiting()
        self._known.has_asked(self)
        super().on_headers_complete()
        cycle: Any = self.cycle
        self._keeps_alive = cycle.keep_alive
        # Until its body is here.
        cycle.keep_alive = False
        cycle.transport = _WayBack(self, cycle)

    def on_message_complete(self) -> None:
        """The next bytes, if any, begin another head."""
        super().on_message_complete()
        self._known.has_moved(self)
        cycle: Any = self.cycle
        if not cycle.response_started:
            cycle.keep_alive = self._keeps_alive and not self._known.is_draining
        if not cycle.response_complete:
            cycle.transport.is_read = True
        self._in_head = True
        self._head_bytes = 0
        self._unparsed_bytes = 0

    def on_response_complete(self) -> None:
        """The caller has to take the answer, and may ask again."""
        if self._lingering is not None:
            self.server_state.total_requests += 1
            return
        self._flush()
        was_last = not self.pipeline
        super().on_response_complete()
        if self.transport.is_closing():
            self._expect_taken()
        elif was_last and self._last_word is not None:
            self._tell(self._last_word)
        elif was_last:
            self._known.is_idle(self)

    def pause_writing(self) -> None:
        """The caller takes less than there is."""
        super().pause_writing()
        self._known.is_moving(self)
        self._expect_taken()

    def resume_writing(self) -> None:
        """The caller has taken most of it."""
        super().resume_writing()
        self._known.has_moved(self)
        self._is_taken()
        if self.transport.is_closing():
            self._expect_taken()

    def timeout_keep_alive_handler(self) -> None:
        """An idle connection ends, whether or not its last answer was taken."""
        self.transport.abort()

    def give_way(self) -> None:
        """End at once: another caller needs the place."""
        self.transport.abort()

    def shutdown(self) -> None:
        """Streams end now; other answers go on to their own end, and are the last."""
        self._stopping.set()
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            self.loop.call_later(LAST_REQUEST_WITHIN_S, self._close_idle)
        else:
            super().shutdown()
            self._keeps_alive = False
            self.loop.call_later(STREAM_ENDS_WITHIN_S, self._cut_stream)

    def linger(self) -> None:
        """End the connection, but read on for a moment, so that the answer arrives."""
        if self._lingering is not None or self.transport.is_closing():
            return
        self._flush()
        self._unset_keepalive_if_required()
        self._stop_waiting()
        self._lingering = 0
        self._known.lingering += 1
        if self._known.lingering > max(1, self._known.limit // 4):
            self._close()
            return
        self.flow.resume_reading()
        self.transport.write_eof()
        self._deadline = self.loop.call_later(LINGER_S, self._close)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Requests that were sent ahead come later."""
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _has_left(self) -> bool:
        """Tell the request that is answered whether its caller left: then it may go unanswered."""
        if not self.transport.is_closing():
            return False
        # Its end is told a moment later.
        self._answering.disconnected = True
        return True

    def _pass_over(self, data: bytes) -> None:
        if self._lingering is None:
            return
        self._lingering += len(data)
        if self._lingering > LINGER_BYTES_MAX:
            self.transport.abort()

    def _close_idle(self) -> None:
        cycle: Any = self.cycle
        if cycle is None or cycle.response_complete:
            self._close()

    def _close(self) -> None:
        """Close, and bound the time in which the peer may take the last bytes."""
        if not self.transport.is_closing():
            self._flush()
            self.transport.close()
            self._expect_taken()

    def _cut_stream(self) -> None:
        """Let go of a caller who does not take a stream's end; nothing else is chunked."""
        cycle: Any = self.cycle
        if cycle is not None and cycle.chunked_encoding:
            self.transport.abort()

    def _expect_head(self, within_s: float = HEAD_WITHIN_S) -> None:
        self._deadline = self.loop.call_later(within_s, self._refuse, _TOO_LATE)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expect_taken(self) -> None:
        if self._taking is None and (size := self.transport.get_write_buffer_size()):
            within_s = self.taken_within_s + size / self.taken_bytes_per_s
            self._taking = self.loop.call_later(within_s, self.transport.abort)

    def _is_taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def _refuse(self, why: tuple[int, str]) -> None:
        """Read no more; tell why, once the requests before this one are answered."""
        self._stop_waiting()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        if not self._in_head and self.pipeline and self.pipeline[0][0] is self.cycle:
            # It waits for its turn, and its body is broken.
            self.pipeline.popleft()
        elif not self._owes():
            self._tell(why)
            return
        self._last_word = why

    def _owes(self) -> bool:
        """Whether an answer has begun, or is that of a request which is here in whole."""
        cycle: Any = self._answering
        if cycle is None or cycle.response_complete:
            return False
        return cycle.response_started or not cycle.more_body

    def _tell(self, why: tuple[int, str]) -> None:
        self._flush()
        self.transport.write(early_answer(*why))
        self.linger()

    def _flush(self) -> None:
        if self._answering is not None:
            self._answering.transport.flush()
