"""WebSocket frames (RFC 6455, section 5) as a server reads and writes them: bytes alone.

The library that asks other systems has a server of its own. Its sending waits for the peer, which
the sound of a call must not, and it bounds neither the handshake nor the pieces of a message.
"""

import struct

import msgspec

MESSAGE_BYTES_MAX = 64 * 1024
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
_KNOWN = frozenset({CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG})
_FIN, _RESERVED, _OPCODE, _MASKED, _LENGTH = 0x80, 0x70, 0x0F, 0x80, 0x7F
_SHORT, _LONG = 126, 127
_CONTROL_BYTES_MAX = 125
_MASK_BYTES = 4
# A message in more pieces than that is sent to cost time.
_PIECES_MAX = 64

NORMAL, AWAY, PROTOCOL_ERROR, UNSUPPORTED, BAD_DATA, POLICY, TOO_BIG = (
    1000, 1001, 1002, 1003, 1007, 1008, 1009,
)  # fmt: skip
# The codes that a peer may send (section 7.4).
_OWN_CODES = range(3000, 5000)
_SPARE_CODES = frozenset({1004, 1005, 1006})
_STANDARD_CODES = range(1000, 1015)


class Broken(Exception):
    """The peer breaks the protocol; the connection is closed with this code."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


class SocketMessage(msgspec.Struct, frozen=True):
    """A whole message, or a control frame."""

    opcode: int
    payload: bytes


class FrameReader:
    """Puts bytes together to messages; it never holds more than one of them and a frame."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._pieces: list[bytes] = []
        self._opcode = CONTINUATION

    def feed(self, data: bytes) -> list[SocketMessage]:
        """The messages that these bytes complete; `Broken` where they can't be right."""
        self._buffer += data
        messages: list[SocketMessage] = []
        while (frame := self._next_frame()) is not None:
            message = self._take(*frame)
            if message is not None:
                messages.append(message)
        return messages

    def _next_frame(self) -> tuple[int, bool, bytes] | None:
        """The opcode of a frame, whether it is the last of its message, and its payload."""
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        opcode, is_final = buffer[0] & _OPCODE, bool(buffer[0] & _FIN)
        _check_head(buffer[0], buffer[1])
        length, start = buffer[1] & _LENGTH, 2
        if length in (_SHORT, _LONG):
            form = "!H" if length == _SHORT else "!Q"
            start += struct.calcsize(form)
            if len(buffer) < start:
                return None
            (length,) = struct.unpack_from(form, buffer, 2)
        if length + sum(map(len, self._pieces)) > MESSAGE_BYTES_MAX:
            raise Broken(TOO_BIG, "too long a message")
        end = start + _MASK_BYTES + length
        if len(buffer) < end:
            return None
        mask = bytes(buffer[start : start + _MASK_BYTES])
        payload = _unmask(bytes(buffer[start + _MASK_BYTES : end]), mask)
        del buffer[:end]
        return opcode, is_final, payload

    def _take(self, opcode: int, is_final: bool, payload: bytes) -> SocketMessage | None:
        if opcode >= CLOSE:
            return SocketMessage(opcode, payload)
        if (opcode == CONTINUATION) is not bool(self._pieces):
            raise Broken(PROTOCOL_ERROR, "pieces out of order")
        if opcode != CONTINUATION:
            self._opcode = opcode
        self._pieces.append(payload)
        if not is_final:
            if len(self._pieces) >= _PIECES_MAX:
                raise Broken(POLICY, "too many pieces")
            return None
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return SocketMessage(self._opcode, whole)


def _check_head(first: int, second: int) -> None:
    opcode, length = first & _OPCODE, second & _LENGTH
    if first & _RESERVED or opcode not in _KNOWN:
        raise Broken(PROTOCOL_ERROR, "an extension that was not agreed")
    if not second & _MASKED:
        raise Broken(PROTOCOL_ERROR, "a frame without a mask")
    if opcode >= CLOSE and (length > _CONTROL_BYTES_MAX or not first & _FIN):
        raise Broken(PROTOCOL_ERROR, "a control frame that is long or in pieces")


def _unmask(payload: bytes, mask: bytes) -> bytes:
    """Masking once more takes the mask away."""
    length = len(payload)
    key = (mask * (length // _MASK_BYTES + 1))[:length]
    plain = int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")
    return plain.to_bytes(length, "big")


def write(opcode: int, payload: bytes) -> bytes:
    """A whole frame of a server: never masked, never in pieces."""
    length = len(payload)
    if length < _SHORT:
        head = struct.pack("!BB", _FIN | opcode, length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", _FIN | opcode, _SHORT, length)
    else:
        head = struct.pack("!BBQ", _FIN | opcode, _LONG, length)
    return head + payload


def write_close(code: int) -> bytes:
    """The frame that closes a connection."""
    return write(CLOSE, struct.pack("!H", code))


def read_close(payload: bytes) -> int:
    """The code to answer a peer's close with, which is its own where that is one."""
    if not payload:
        return NORMAL
    if len(payload) < 2:
        return PROTOCOL_ERROR
    (code,) = struct.unpack_from("!H", payload)
    is_known = code in _STANDARD_CODES and code not in _SPARE_CODES
    return code if is_known or code in _OWN_CODES else PROTOCOL_ERROR
