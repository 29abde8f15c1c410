"""The frames and the handshake of WebSockets, bad ones above all."""

import os
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tillhouse.providers.telephony.twilio import frames, handshake

_MASK = b"\x11\x22\x33\x44"
_HEAD = (
    "GET /media/token?x=1 HTTP/1.1\r\nHost: till.example.com\r\nUpgrade: websocket\r\n"
    "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n"
)


def _frame(opcode: int, payload: bytes, *, first: int = 0x80, masked: int = 0x80) -> bytes:
    length = len(payload)
    if length < 126:
        head = struct.pack("!BB", first | opcode, masked | length)
    elif length < 65536:
        head = struct.pack("!BBH", first | opcode, masked | 126, length)
    else:
        head = struct.pack("!BBQ", first | opcode, masked | 127, length)
    if not masked:
        return head + payload
    return head + _MASK + bytes(b ^ _MASK[i % 4] for i, b in enumerate(payload))


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65535, 65536])
def test_messages_of_every_length_come_whole(length: int) -> None:
    """The network may cut them anywhere."""
    payload = os.urandom(length)
    data = _frame(frames.TEXT, payload) * 2
    reader = frames.FrameReader()
    middle = len(data) // 3
    found = [*reader.feed(data[:middle]), *reader.feed(data[middle:])]
    assert found == [frames.SocketMessage(frames.TEXT, payload)] * 2


def test_pieces_are_put_together_with_a_ping_between() -> None:
    """Control frames may come between the pieces of a message."""
    data = (
        _frame(frames.TEXT, b"ab", first=0) + _frame(frames.PING, b"!")
        + _frame(frames.CONTINUATION, b"cd", first=0) + _frame(frames.CONTINUATION, b"ef")
    )  # fmt: skip
    assert frames.FrameReader().feed(data) == [
        frames.SocketMessage(frames.PING, b"!"), frames.SocketMessage(frames.TEXT, b"abcdef"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (_frame(frames.TEXT, b"a", masked=0), 1002),
        (_frame(frames.TEXT, b"a", first=0xC0), 1002),
        (_frame(3, b"a"), 1002),
        (_frame(frames.PING, b"a" * 126), 1002),
        (_frame(frames.PING, b"a", first=0), 1002),
        (_frame(frames.CONTINUATION, b"a"), 1002),
        (_frame(frames.TEXT, b"a", first=0) + _frame(frames.TEXT, b"b"), 1002),
        (struct.pack("!BBQ", 0x81, 0xFF, 65537), 1009),
        (struct.pack("!BBQ", 0x81, 0xFF, 2**63), 1009),
        (_frame(frames.TEXT, b"a" * 40_000, first=0)
         + _frame(frames.CONTINUATION, b"a" * 40_000), 1009),
        (_frame(frames.TEXT, b"", first=0) + _frame(frames.CONTINUATION, b"", first=0) * 64, 1008),
    ],
)  # fmt: skip
def test_a_peer_that_breaks_the_protocol_is_closed(data: bytes, code: int) -> None:
    """With the code that the protocol has for it."""
    with pytest.raises(frames.Broken) as broken:
        frames.FrameReader().feed(data)
    assert broken.value.code == code


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    """They are messages, too few, or a broken protocol; nothing else."""
    code = None
    try:
        frames.FrameReader().feed(data)
    except frames.Broken as broken:
        code = broken.code
    assert code in (None, 1002, 1008, 1009)


@pytest.mark.parametrize(
    ("payload", "code"),
    [(b"", 1000), (b"\x03\xe8", 1000), (b"\x03\xe9bye", 1001), (b"\x03", 1002),
     (b"\x03\xed", 1002), (b"\x00\x00", 1002), (b"\x0f\xa0", 4000)],
)  # fmt: skip
def test_a_close_is_answered_by_a_code(payload: bytes, code: int) -> None:
    """By the peer's own, where that is one that may be sent."""
    assert frames.read_close(payload) == code


def test_the_handshake_is_that_of_the_standard() -> None:
    """The example of RFC 6455, section 1.3."""
    path, answer = handshake.path_and_answer(_HEAD.encode())
    assert path == "/media/token"
    assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [("GET ", "POST ", 405), ("HTTP/1.1", "HTTP/1.0", 400), ("Upgrade: websocket", "X: y", 400),
     ("keep-alive, Upgrade", "close", 400), ("Version: 13", "Version: 8", 426),
     ("dGhlIHNhbXBsZSBub25jZQ==", "dGhl", 400), ("dGhlIHNhbXBsZSBub25jZQ==", "ü", 400),
     ("Host: till.example.com\r\n", "", 400), ("Host:", "Host :", 400), ("GET /", "GET  /", 400)],
)  # fmt: skip
def test_anything_else_is_no_handshake(old: str, new: str, status: int) -> None:
    """Each has a status of its own."""
    with pytest.raises(handshake.HandshakeRefused) as refused:
        handshake.path_and_answer(_HEAD.replace(old, new, 1).encode())
    assert refused.value.status == status
