"""An answer is read the same however its bytes come, and never beyond the bounds."""

import itertools
import random

import pytest

from tillhouse.outgoing.answer import (
    BODY_BYTES_MAX,
    CHUNKS_MAX,
    HEAD_BYTES_MAX,
    INTERIM_MAX,
    LINES_MAX,
    SHOWN_BYTES,
    AnswerReader,
    BadAnswer,
)

_OK = b"HTTP/1.1 200 OK\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"

# answer → status, start of the body, whether it is over without the end of the connection, and
# whether the connection may serve again.
READ_AS: dict[bytes, tuple[int, bytes, bool, bool]] = {
    _OK + b"Content-Length: 2\r\n\r\nok": (200, b"ok", True, True),
    _OK + b"content-LENGTH:2\r\n\r\nok": (200, b"ok", True, True),
    b"HTTP/1.1 200\nContent-Length: 2\n\nok": (200, b"ok", True, True),
    _OK + b"Content-Length: 0\r\n\r\n": (200, b"", True, True),
    _OK + b"Content-Length: 2\r\nConnection: close\r\n\r\nok": (200, b"ok", True, False),
    b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok": (200, b"ok", True, False),
    b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n": (
        200, b"", True, True,
    ),
    _OK + b"\r\nuntil the end": (200, b"until the end", False, False),
    _OK + b"Content-Length: 9\r\n\r\nshort": (200, b"short", False, True),
    _CHUNKED + b"2\r\nok\r\n0\r\n\r\n": (200, b"ok", True, True),
    _CHUNKED + b"1;a=b\r\no\r\n1 ;c\r\nk\r\n0\r\nX-A: b\r\n\r\n": (200, b"ok", True, True),
    _CHUNKED + b"nothing of the sort\r\n": (200, b"", True, False),
    _CHUNKED + b"1\r\nok\r\n": (200, b"o", True, False),
    _OK + b"Transfer-Encoding: gzip\r\n\r\n\x1f": (200, b"\x1f", False, False),
    _OK + b"Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n1\r\na\r\n0\r\n\r\n": (
        200, b"a", True, False,
    ),
    _OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n": (200, b"", True, False),
    _OK + b"Content-Length: -2\r\n\r\n": (200, b"", True, False),
    _OK + b"no header\r\n: neither\r\nContent-Length: 0\r\n\r\n": (200, b"", True, True),
    b"HTTP/1.1 204 No Content\r\n\r\n": (204, b"", True, True),
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n": (304, b"", True, True),
    b"HTTP/1.1 101 Switching\r\nUpgrade: tcp\r\n\r\n": (101, b"", True, False),
    b"HTTP/1.1 503 Oh\r\nContent-Length: 0\r\n\r\n": (503, b"", True, True),
    _CONTINUE * INTERIM_MAX + _OK + b"Content-Length: 0\r\n\r\n": (200, b"", True, True),
}  # fmt: skip

# A whole answer and bytes after it: delivered, and the connection is not trusted any more.
STRAY = (
    b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody",
    _OK + b"Content-Length: 2\r\n\r\nok\0stray",
    _CHUNKED + b"0\r\n\r\n\r\n",
)

BAD = (
    b"220 mail.example.com ESMTP\r\n",
    b"\r\n",
    b"HTTP/2 200\r\n",
    b"HTTP/1.1 20 OK\r\n",
    b"HTTP/1.1 2000 OK\r\n",
    b"HTTP/1.1 200OK\r\n",
    b" HTTP/1.1 200 OK\r\n",
    _CONTINUE * (INTERIM_MAX + 1),
    _CONTINUE + b"\r\n",
    _OK + b"X-A: b\r\n" * LINES_MAX,
    _OK + b"X-A: " + b"a" * HEAD_BYTES_MAX,
    _OK + b"X-A: " + b"a" * HEAD_BYTES_MAX + b"\r\n\r\n",
    b"H" * (HEAD_BYTES_MAX + 1),
    _CONTINUE * 9 + _OK + b"X-A: " + b"a" * (HEAD_BYTES_MAX - 200) + b"\r\n\r\n",
)


def _read(answer: bytes, cuts: list[int]) -> AnswerReader:
    reader = AnswerReader()
    for start, end in itertools.pairwise([0, *cuts, len(answer)]):
        reader.feed(answer[start:end])
        if reader.is_over:
            break
    return reader


def _ways(answer: bytes) -> list[list[int]]:
    """At once, byte by byte, and in pieces of any length."""
    chance = random.Random(len(answer))  # noqa: S311 - a choice, no secret
    pieces = [sorted(chance.sample(range(len(answer)), len(answer) // 3)) for _ in range(5)]
    return [[], list(range(1, len(answer))), *pieces]


@pytest.mark.parametrize("answer", READ_AS)
def test_an_answer_is_the_same_however_it_comes(answer: bytes) -> None:
    """Whole or in pieces."""
    for cuts in _ways(answer):
        reader = _read(answer, cuts)
        found = (reader.status, reader.start, reader.is_over, reader.is_reusable)
        assert found == READ_AS[answer], cuts


@pytest.mark.parametrize("answer", STRAY)
def test_stray_bytes_change_no_verdict(answer: bytes) -> None:
    """They cost the connection."""
    reader = _read(answer, [])
    assert reader.status in (200, 204)
    assert (reader.is_over, reader.is_reusable) == (True, False)


@pytest.mark.parametrize("answer", BAD)
def test_what_is_no_answer_ends_it(answer: bytes) -> None:
    """However it comes, and without a status."""
    for cuts in _ways(answer)[: 2 if len(answer) > HEAD_BYTES_MAX else None]:
        with pytest.raises(BadAnswer):
            _read(answer, cuts)


@pytest.mark.parametrize(
    "part",
    [
        b"a" * 100,
        b"1;" + b"a" * 100,
        b"64\r\n" + b"a" * 100 + b"\r\n",
        b"0\r\n" + b"X-A: b\r\n" * 9,
    ],
)
def test_of_a_body_so_much_is_read_and_no_more(part: bytes) -> None:
    """Extensions and trailers count; what is shown is shorter still."""
    head = _OK + b"\r\n" if part.isalpha() else _CHUNKED
    reader = AnswerReader()
    reader.feed(head)
    fed = 0
    while not reader.is_over:
        reader.feed(part)
        fed += len(part)
        assert fed < BODY_BYTES_MAX + len(part)
    assert (reader.status, reader.is_reusable) == (200, False)
    assert len(reader.start) <= SHOWN_BYTES


def test_a_body_has_so_many_chunks_and_no_more() -> None:
    """Each costs work, whatever its size."""
    reader = AnswerReader()
    reader.feed(_CHUNKED + b"1\r\na\r\n" * CHUNKS_MAX)
    assert not reader.is_over
    reader.feed(b"1\r\na\r\n")
    assert (reader.is_over, reader.is_reusable) == (True, False)


def test_retry_after_is_kept() -> None:
    """As it was written."""
    reader = _read(b"HTTP/1.1 503 Oh\r\nRetry-After: 120 \r\nContent-Length: 0\r\n\r\n", [])
    assert reader.retry_after == "120"
