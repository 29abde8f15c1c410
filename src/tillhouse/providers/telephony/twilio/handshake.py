"""The handshake of a WebSocket (RFC 6455, section 4), as a server reads and answers it."""

import base64
import binascii
import hashlib

HEAD_BYTES_MAX = 8 * 1024
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_KEY_BYTES = 16


class HandshakeRefused(Exception):
    """No WebSocket is begun; the answer has this status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"{status}")
        self.status = status


def path_and_answer(head: bytes) -> tuple[str, bytes]:
    """The path that is asked for, and the answer that begins the connection."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[2] != "HTTP/1.1":
        raise HandshakeRefused(400)
    if parts[0] != "GET":
        raise HandshakeRefused(405)
    headers = _headers(lines[1:])
    is_upgrade = "websocket" in headers.get("upgrade", "").lower()
    connection = [word.strip() for word in headers.get("connection", "").lower().split(",")]
    if not is_upgrade or "upgrade" not in connection or "host" not in headers:
        raise HandshakeRefused(400)
    if headers.get("sec-websocket-version") != "13":
        raise HandshakeRefused(426)
    key = headers.get("sec-websocket-key", "")
    if not _is_key(key):
        raise HandshakeRefused(400)
    return parts[1].partition("?")[0], _answer(key)


def _headers(lines: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in filter(None, lines):
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise HandshakeRefused(400)
        headers[name.lower()] = value.strip()
    return headers


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == _KEY_BYTES
    except (binascii.Error, ValueError):
        return False


def _answer(key: str) -> bytes:
    accept = base64.b64encode(hashlib.sha1(key.encode() + _GUID).digest())  # noqa: S324 - RFC 6455
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


def refusal(status: int) -> bytes:
    """The answer to a request that begins nothing."""
    version = "Sec-WebSocket-Version: 13\r\n" if status == 426 else ""
    return (
        f"HTTP/1.1 {status} Refused\r\nContent-Length: 0\r\n{version}Connection: close\r\n\r\n"
    ).encode()
