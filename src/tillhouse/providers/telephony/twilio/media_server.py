"""The address that Twilio connects the sound of calls to: a WebSocket each, known by a token."""

import asyncio
import hmac
from typing import Protocol

from tillhouse.providers.telephony.twilio import frames, handshake, messages
from tillhouse.providers.telephony.twilio.frames import Broken

CONNECTIONS_MAX = 512
_START_WITHIN_S = 10.0
_SILENCE_S = 20.0
_READ_BYTES = 16 * 1024
# A peer that takes nothing is not spoken to.
_UNSENT_BYTES_MAX = 1024 * 1024


class StreamListener(Protocol):
    """The line of a stream."""

    def begin(self, stream: "MediaStream", start: messages.Start) -> bool:
        """The stream starts; False where it isn't this call's."""
        ...

    def take(self, message: messages.Incoming) -> None:
        """A message of the stream."""
        ...

    def lost(self, why: str) -> None:
        """The stream is over."""
        ...


class MediaStream:
    """One connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def send_text(self, text: bytes) -> None:
        """Send a message, without waiting."""
        self.send(frames.TEXT, text)

    def send(self, opcode: int, payload: bytes) -> None:
        """Send a frame, without waiting; a peer that takes nothing is cut off."""
        transport = self._writer.transport
        if transport.is_closing():
            return
        if transport.get_write_buffer_size() > _UNSENT_BYTES_MAX:
            transport.abort()
            return
        self._writer.write(frames.write(opcode, payload))

    def close(self, code: int = frames.NORMAL) -> None:
        """Say goodbye; the peer ends the call then."""
        if not self._writer.transport.is_closing():
            self._writer.write(frames.write_close(code))
            self._writer.close()


class MediaServer:
    """Listens on a port, for the streams that are expected alone."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        start_within_s: float = _START_WITHIN_S,
        silence_s: float = _SILENCE_S,
    ) -> None:
        self._host, self._port = host, port
        self._start_within_s, self._silence_s = start_within_s, silence_s
        self._starting = asyncio.Lock()
        self._expected: dict[str, StreamListener] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        # Connections that were turned away.
        self.refused = 0

    async def start(self) -> int:
        """Listen, unless it does already; the port, where any would do."""
        async with self._starting:
            if self._server is None:
                self._server = await asyncio.start_server(
                    self._connected, self._host, self._port, limit=handshake.HEAD_BYTES_MAX
                )
        return self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """End all streams, and free the port."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def expect(self, token: str, listener: StreamListener) -> None:
        """Expect one stream of this line, whose path ends in this token."""
        self._expected[token] = listener

    def forget(self, token: str) -> None:
        """Expect this stream no more."""
        self._expected.pop(token, None)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= CONNECTIONS_MAX:
            self.refused += 1
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._start_within_s):
                listener = await self._shake_hands(reader, writer)
            if listener is not None:
                await self._listen(reader, MediaStream(writer), listener)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.refused += 1
        finally:
            writer.close()

    async def _shake_hands(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> StreamListener | None:
        head = await reader.readuntil(b"\r\n\r\n")
        try:
            path, answer = handshake.path_and_answer(head)
            listener = self._claim(path.rpartition("/")[2])
        except handshake.HandshakeRefused as refused:
            self.refused += 1
            writer.write(handshake.refusal(refused.status))
            await writer.drain()
            return None
        writer.write(answer)
        return listener

    def _claim(self, given: str) -> StreamListener:
        """The line that this token is of; a token counts once."""
        matches = [
            token for token in self._expected
            if hmac.compare_digest(token.encode(), given.encode("latin-1", "replace"))
        ]  # fmt: skip
        if not matches:
            raise handshake.HandshakeRefused(404)
        return self._expected.pop(matches[0])

    async def _listen(
        self, reader: asyncio.StreamReader, stream: MediaStream, listener: StreamListener
    ) -> None:
        """Read the stream to its end, whatever that is."""
        why = "the connection broke"
        try:
            why = await self._read(reader, stream, listener)
            stream.close()
        except Broken as broken:
            why = str(broken)
            stream.close(broken.code)
        except TimeoutError:
            why = "no sound came"
            stream.close(frames.POLICY)
        except OSError:
            pass
        finally:
            listener.lost(why)

    async def _read(
        self, reader: asyncio.StreamReader, stream: MediaStream, listener: StreamListener
    ) -> str:
        conversation = _Conversation(stream, listener)
        pieces = frames.FrameReader()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._start_within_s
        while True:
            async with asyncio.timeout_at(deadline):
                data = await reader.read(_READ_BYTES)
            if not data:
                return "the connection ended"
            for message in pieces.feed(data):
                why = conversation.take(message)
                if why is not None:
                    return why
            if conversation.has_started:
                deadline = loop.time() + self._silence_s


class _Conversation:
    """The messages of one stream, in their order."""

    def __init__(self, stream: MediaStream, listener: StreamListener) -> None:
        self._stream, self._listener = stream, listener
        self.has_started = False

    def take(self, message: frames.SocketMessage) -> str | None:
        """Take one; the reason of an end."""
        match message.opcode:
            case frames.PING:
                self._stream.send(frames.PONG, message.payload)
            case frames.PONG:
                pass
            case frames.CLOSE:
                self._stream.close(frames.read_close(message.payload))
                return "the stream was closed"
            case frames.TEXT:
                return self._take_text(message.payload)
            case _:
                raise Broken(frames.UNSUPPORTED, "a message of bytes")
        return None

    def _take_text(self, text: bytes) -> str | None:
        told = messages.read(text)
        if isinstance(told, messages.Start):
            if self.has_started or not self._listener.begin(self._stream, told):
                raise Broken(frames.POLICY, "a stream of something else")
            self.has_started = True
        elif isinstance(told, messages.StreamStopped):
            return "the stream stopped"
        elif told is not None and self.has_started:
            self._listener.take(told)
        return None
