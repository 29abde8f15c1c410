"""Reads one HTTP/1.1 answer as its bytes come; every part of it is bounded.

Interim answers count towards the head, and the framing of the body (chunk sizes, extensions,
trailers) counts towards the body, so whatever a receiver sends without end meets a bound.
"""

import re

import msgspec

# All interim answers and the final head together.
HEAD_BYTES_MAX = 32 * 1024
LINES_MAX = 256
INTERIM_MAX = 16
BODY_BYTES_MAX = 16 * 1024
CHUNKS_MAX = 256
SHOWN_BYTES = 500

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_KEPT_HEADERS = (b"content-length", b"transfer-encoding", b"connection", b"retry-after")
_SWITCHING = 101
_BODYLESS = (_SWITCHING, 204, 304)
_FINAL = 200


class BadAnswer(Exception):
    """The answer is no HTTP/1.1, or its head is beyond the bounds."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a body is read, in how many chunks, and how much of it is kept."""

    body_bytes: int = BODY_BYTES_MAX
    chunks: int = CHUNKS_MAX
    kept_bytes: int = SHOWN_BYTES


_OF_RECEIVERS = Bounds()


class _Buffer:
    """Bytes as they came, taken by the line or by number; none is looked at twice."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._taken = 0
        self._searched = 0

    @property
    def taken(self) -> int:
        """How many bytes were taken so far."""
        return self._taken

    @property
    def came(self) -> int:
        """How many bytes came so far."""
        return len(self._bytes)

    def add(self, data: bytes) -> None:
        """More bytes came."""
        self._bytes += data

    def line(self) -> bytes | None:
        """The next whole line without its end; None until it is there."""
        end = self._bytes.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._bytes)
            return None
        line = bytes(self._bytes[self._taken : end])
        self._taken = self._searched = end + 1
        return line.removesuffix(b"\r")

    def take(self, most: int) -> bytes:
        """So many of the bytes that came."""
        part = bytes(self._bytes[self._taken : self._taken + most])
        self._taken += len(part)
        self._searched = self._taken
        return part


class AnswerReader:
    """One answer: its status once the head is complete, and the start of its body."""

    def __init__(self, bounds: Bounds = _OF_RECEIVERS) -> None:
        self.status: int | None = None
        self.retry_after = ""
        # Whether the next request may go over the same connection.
        self.is_reusable = False
        self.is_over = False
        # Whether the body came to its end, within the bounds.
        self.is_whole = False
        self._bounds = bounds
        self._start = bytearray()
        self._buffer = _Buffer()
        self._lines: list[bytes] = []
        self._interim = 0
        self._head_bytes = 0
        self._body: _Length | _Chunks | None = None

    @property
    def start(self) -> bytes:
        """The body, as far as it is kept."""
        return bytes(self._start)

    @property
    def has_begun(self) -> bool:
        """Whether any byte came."""
        return self._buffer.came > 0

    def feed(self, data: bytes) -> None:
        """Read on; BadAnswer when this can't become an answer."""
        self._buffer.add(data)
        if self.status is None:
            self._read_head()
        if self.status is not None and not self.is_over:
            self._read_body()

    def end(self) -> None:
        """The connection is over: so is a body that has no other end."""
        if self.status is not None and self._body is None and not self.is_over:
            self.is_over = self.is_whole = True

    def cut(self) -> None:
        """Read no more of the body."""
        self.is_over = True
        self.is_reusable = False

    def _read_head(self) -> None:
        while (line := self._buffer.line()) is not None:
            if not line and self._lines:
                self._end_head()
                if self.status is not None:
                    break
            else:
                if not self._lines and not _STATUS_LINE.fullmatch(line):
                    raise BadAnswer("the first line is no status line")
                self._lines.append(line)
                if len(self._lines) > LINES_MAX:
                    raise BadAnswer("too many headers")
        self._head_bytes = self._buffer.came if self.status is None else self._buffer.taken
        if self._head_bytes > HEAD_BYTES_MAX:
            self.status = None
            raise BadAnswer("the head is too long")

    def _end_head(self) -> None:
        """A head is complete: an interim one is dropped, any other is the answer's."""
        lines, self._lines = self._lines, []
        found = _STATUS_LINE.fullmatch(lines[0])
        assert found, "only a status line begins a head"  # noqa: S101
        status = int(found[2])
        if status < _FINAL and status != _SWITCHING:
            self._interim += 1
            if self._interim > INTERIM_MAX:
                raise BadAnswer("too many interim answers")
            return
        headers = _headers(lines[1:])
        self.retry_after = b"".join(headers[b"retry-after"]).decode("latin-1")
        tokens = b",".join(headers[b"connection"]).lower()
        is_kept = b"close" not in tokens if found[1] == b"1" else b"keep-alive" in tokens
        self._choose_body(status, headers, is_kept=is_kept)
        self.status = status

    def _choose_body(
        self, status: int, headers: dict[bytes, list[bytes]], *, is_kept: bool
    ) -> None:
        lengths, codings = headers[b"content-length"], headers[b"transfer-encoding"]
        if status in _BODYLESS:
            self._body = _Length(0)
            self.is_reusable = is_kept and status != _SWITCHING
        elif codings:
            # Any other coding than chunked ends with the connection, and so does no length at all.
            is_chunked = b",".join(codings).lower().split(b",")[-1].strip() == b"chunked"
            self._body = _Chunks(self._bounds.chunks) if is_chunked else None
            self.is_reusable = is_kept and is_chunked and not lengths
        elif len(lengths) == 1 and _LENGTH.fullmatch(lengths[0]):
            self._body = _Length(int(lengths[0]))
            self.is_reusable = is_kept
        elif lengths:
            # Headers that contradict each other say nothing of the body.
            self.is_over = True

    def _read_body(self) -> None:
        """Read on; whatever is wrong from here on costs the connection and nothing else."""
        while True:
            if self._body is None:
                part: bytes | None = self._buffer.take(self._bounds.body_bytes)
            else:
                try:
                    part = self._body.read(self._buffer)
                except BadAnswer:
                    self.cut()
                    return
            if part is None:
                self.is_over = self.is_whole = True
                # Bytes after the end belong to nothing that was asked for.
                self.is_reusable = self.is_reusable and self._buffer.taken == self._buffer.came
                return
            if not part:
                break
            self._start += part[: self._bounds.kept_bytes - len(self._start)]
        if self._buffer.came - self._head_bytes >= self._bounds.body_bytes:
            self.cut()


class _Length:
    """A body of so many bytes."""

    def __init__(self, length: int) -> None:
        self._left = length

    def read(self, buffer: _Buffer) -> bytes | None:
        """The next part that came; empty when nothing did, None at the end."""
        if not self._left:
            return None
        part = buffer.take(self._left)
        self._left -= len(part)
        return part


class _Chunks:
    """A body in chunks, and the trailers after it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = 0
        self._begun = 0
        self._is_after_data = False
        self._is_in_trailers = False

    def read(self, buffer: _Buffer) -> bytes | None:
        """The next part that came; empty when nothing did, None at the end."""
        if self._left:
            part = buffer.take(self._left)
            self._left -= len(part)
            self._is_after_data = not self._left
            return part
        while (line := buffer.line()) is not None:
            if self._is_in_trailers:
                if not line:
                    return None
            elif self._is_after_data:
                if line:
                    raise BadAnswer("a chunk is longer than its size")
                self._is_after_data = False
            elif self._begin(line):
                return self.read(buffer)
        return b""

    def _begin(self, line: bytes) -> bool:
        """The line of a size; whether data follow it."""
        found = _CHUNK_SIZE.fullmatch(line)
        self._begun += 1
        if not found or self._begun > self._most:
            raise BadAnswer("a chunk has no size, or there are too many")
        self._left = int(found[1], 16)
        self._is_in_trailers = not self._left
        return self._left > 0


def _headers(lines: list[bytes]) -> dict[bytes, list[bytes]]:
    """The values of the headers that matter."""
    found: dict[bytes, list[bytes]] = {name: [] for name in _KEPT_HEADERS}
    for line in lines:
        name, _, value = line.partition(b":")
        values = found.get(name.strip().lower())
        if values is not None:
            values.append(value.strip())
    return found
