"""One TLS connection to a receiver: handshake, then one request and its answer at a time.

TLS runs over buffers of ours, because the bytes are counted where they come in: a receiver that
sends without end, in the handshake or in an answer, meets the bound whatever it sends. Reads go
through one buffer of the whole client, so a connection that hangs holds none.
"""

import asyncio
import ssl
from typing import Any

from tillhouse.outgoing.answer import AnswerReader, BadAnswer

READ_BYTES = 16 * 1024
# As they come over the wire, for a handshake and for each answer.
WIRE_BYTES_MAX = 128 * 1024
# Records and reads of those bytes: each costs work, however small it is.
READS_MAX = 512
_ALERTED_S = 1.0

_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
_OTHER_VERSION = (
    "UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "WRONG_SSL_VERSION",
    "VERSION_TOO_LOW", "NO_PROTOCOLS_AVAILABLE",
)  # fmt: skip


class NotSent(Exception):
    """No answer came; the reason in a word, as the log of attempts says it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Certificates and names are checked; nothing is negotiated that lets a server cost much."""
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    context.options |= ssl.OP_NO_RENEGOTIATION
    # Without DHE: its primes are the server's choice, and a long one costs us much.
    context.set_ciphers("@SECLEVEL=2:ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:!aNULL:!eNULL:!SHA1")
    return context


class EndpointConnection(asyncio.BufferedProtocol):
    """A connection, open until either side ends it."""

    def __init__(self, context: ssl.SSLContext, host: str, buffer: memoryview) -> None:
        self.is_open = True
        self.idle_since_s = 0.0
        self._buffer = buffer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._is_secure = False
        self._came = 0
        self._reads = 0
        self._reader: AnswerReader | None = None
        # Done when the handshake, and later each answer, is over; an error is kept beside it.
        self._waiter = self._loop.create_future()
        self._error: NotSent | None = None

    async def secured(self) -> None:
        """Wait for the handshake."""
        await self._waiter
        if self._error is not None:
            raise self._error

    async def ask(self, request: bytes, reader: AnswerReader) -> None:
        """Send a request and read its answer to its end, or as far as it is read at all."""
        if not self.is_open:
            raise NotSent("connection_lost")
        self._reader, self._came, self._reads = reader, 0, 0
        self._waiter = self._loop.create_future()
        sent = 0
        while sent < len(request):
            sent += self._tls.write(request[sent:])
        self._go_on()
        await self._waiter
        self._reader = None
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End it at once."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Begin the handshake."""
        self._transport = transport
        self._go_on()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put the next bytes; they are used up before anybody else's come."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        self._came += nbytes
        self._reads += 1
        self._incoming.write(self._buffer[:nbytes])
        self._go_on()
        if (self._came > WIRE_BYTES_MAX or self._reads > READS_MAX) and self.is_open:
            self._end("bad_response" if self._is_secure else "tls_failed")
            self.close()

    def eof_received(self) -> None:
        """The other side says no more."""
        self._hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._hang_up()

    def _go_on(self) -> None:
        try:
            if self._is_secure:
                self._read()
            else:
                self._tls.do_handshake()
                self._is_secure = True
                self._end(None)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self._hang_up()
            self.close()
        except ssl.SSLError as error:
            self._end(_tls_reason(error))
            self._flush()
            self._leave()
        self._flush()

    def _read(self) -> None:
        """Feed the readable bytes to the answer; raises SSLWantReadError when that is all."""
        while self.is_open and self._reads <= READS_MAX:
            data = self._tls.read(READ_BYTES)
            self._reads += 1
            reader = self._reader
            if not data or reader is None or reader.is_over:
                # The end, or bytes that were not requested.
                self._hang_up()
                self.close()
                return
            try:
                reader.feed(data)
            except BadAnswer:
                self._end("bad_response")
                self.close()
                return
            if reader.is_over:
                self._end(None)
                if not reader.is_reusable:
                    self.close()

    def _leave(self) -> None:
        """End it once the other side has the alert that says why."""
        self.is_open = False
        if self._transport is not None:
            self._transport.close()
            self._loop.call_later(_ALERTED_S, self._transport.abort)

    def _hang_up(self) -> None:
        self.is_open = False
        self._end("connection_lost" if self._is_secure else "tls_reset")

    def _end(self, reason: str | None) -> None:
        """End the wait; once the status is known no error counts."""
        if self._waiter.done():
            return
        reader = self._reader
        if reason is not None and reader is not None and reader.status is not None:
            reader.cut()
        elif reason is not None:
            self._error = NotSent(reason)
        self._waiter.set_result(None)

    def _flush(self) -> None:
        if self.is_open and self._outgoing.pending and self._transport is not None:
            self._transport.write(self._outgoing.read())


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "tls_certificate"
    if isinstance(error, ssl.SSLEOFError):
        return "tls_reset"
    if error.reason in _NO_TLS:
        return "tls_missing"
    if error.reason in _OTHER_VERSION:
        return "tls_version"
    return "tls_failed"
