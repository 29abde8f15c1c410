"""The body on its way in: its size, its type, its time; and the key of a repetition."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tillhouse.access.shares import Shares
from tillhouse.http.exchange import (
    BODY_BYTES_MAX,
    RECEIVE_WITHIN_S,
    ClientLeft,
    Exchange,
    begin,
    read_body,
)
from tillhouse.http.idempotency import fingerprint, parse_key
from tillhouse.kit.errors import Invalid, Malformed, TooLarge, WrongMediaType

Receive = Callable[[], Awaitable[dict[str, Any]]]


class Jumping(selectors.SelectSelector):
    """Where a loop would wait for its clock, the clock jumps instead."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        """Look, and never wait."""
        ready = super().select(0)
        if not ready and timeout:
            self.skipped += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop in which minutes take no time."""

    def __init__(self) -> None:
        self.jumping = Jumping()
        super().__init__(self.jumping)

    def time(self) -> float:
        """Its jumps, and nothing of the machine's own time."""
        return self.jumping.skipped


def run_fast(work: Awaitable[Any]) -> Any:
    """Run something that waits long, in no time."""

    async def outer() -> Any:
        return await work

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(outer())


def exchange(**headers: str) -> Exchange:
    """A request with these headers."""
    named = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    scope = {"method": "POST", "path": "/", "query_string": b"", "headers": named, "client": None}
    return begin(scope, ())


def parts(*contents: bytes, every_s: float = 0.0, endless: bool = False) -> Receive:
    """A client that sends its body in parts, with pauses, perhaps without an end."""
    left = list(contents)

    async def receive() -> dict[str, Any]:
        if every_s:
            await asyncio.sleep(every_s)
        content = left.pop(0) if len(left) > 1 or not endless else left[0]
        return {"type": "http.request", "body": content, "more_body": endless or bool(left)}

    return receive


async def read(request: Exchange, receive: Receive) -> bytes:
    """A body, read by a process that reads no other."""
    return await read_body(request, receive, Shares().body(request.owner, is_stranger=False))


def counted(receive: Receive) -> tuple[Receive, list[int]]:
    """The same client, and how often it was asked."""
    asked = [0]

    async def counting() -> dict[str, Any]:
        asked[0] += 1
        return await receive()

    return counting, asked


async def test_parts_are_put_together() -> None:
    """In their order, empty ones too."""
    assert await read(exchange(), parts(b"{", b"", b'"a":1', b"}")) == b'{"a":1}'
    assert await read(exchange(), parts(b"")) == b""


async def test_a_megabyte_passes_and_a_byte_more_does_not() -> None:
    """However it is cut up."""
    full = b"a" * BODY_BYTES_MAX
    assert len(await read(exchange(), parts(full))) == BODY_BYTES_MAX
    assert len(await read(exchange(), parts(full[:-5], full[-5:]))) == BODY_BYTES_MAX
    for cut in (parts(full + b"a"), parts(full, b"a"), parts(b"a", full)):
        with pytest.raises(TooLarge, match=str(BODY_BYTES_MAX)):
            await read(exchange(), cut)


async def test_an_endless_body_is_read_no_further_than_its_limit() -> None:
    """The refusal comes as soon as it can't be right."""
    receive, asked = counted(parts(b"a" * 65_536, endless=True))
    with pytest.raises(TooLarge):
        await read(exchange(), receive)
    assert asked[0] == 17


@pytest.mark.parametrize("declared", ["1048577", "9" * 12, "9" * 13, "9" * 5000])
async def test_a_declared_size_is_refused_unread(declared: str) -> None:
    """Not one byte is asked for."""
    receive, asked = counted(parts(b"{}"))
    with pytest.raises(TooLarge):
        await read(exchange(content_length=declared), receive)
    assert asked[0] == 0


@pytest.mark.parametrize("declared", ["-1", "+5", "5.0", "x", "", "0x10", "1 2"])
async def test_a_size_that_is_no_number_is_refused(declared: str) -> None:
    """400, since the request can't be read."""
    with pytest.raises(Malformed):
        await read(exchange(content_length=declared), parts(b"{}"))


async def test_a_client_that_leaves_is_gone() -> None:
    """Nobody is there to be answered."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(ClientLeft):
        await read(exchange(), receive)


async def test_an_empty_body_needs_no_type() -> None:
    """Only what is there has one."""
    assert await read(exchange(content_type="text/plain"), parts(b"")) == b""
    with pytest.raises(WrongMediaType):
        await read(exchange(content_type="text/plain"), parts(b"{}"))
    assert await read(exchange(), parts(b"{}")) == b"{}"


def test_a_slow_client_has_fifteen_seconds() -> None:
    """In all, not from part to part; the clock of this loop jumps."""
    slow = parts(*[b" "] * 100, every_s=1.0)
    with pytest.raises(Malformed, match="within 15 seconds"):
        run_fast(read(exchange(), slow))
    assert RECEIVE_WITHIN_S == 15
    body = run_fast(read(exchange(), parts(*[b" "] * 14, every_s=1.0)))
    assert len(body) == 14


def test_a_silent_client_has_fifteen_seconds_too() -> None:
    """Promised a body and sent none."""

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("never")

    with pytest.raises(Malformed, match="within 15 seconds"):
        run_fast(read(exchange(), receive))


@pytest.mark.parametrize(
    ("header", "key"),
    [
        (b"k", "k"),
        (b" k ", "k"),
        (b'"k"', "k"),
        (b'"a b"', "a b"),
        (b" \t sale 7  of till 2 ", "sale 7  of till 2"),
        (b"k" + b" " * 253 + b"k", "k" + " " * 253 + "k"),
        (b"k" * 255, "k" * 255),
        (b'"' + b"k" * 255 + b'"', "k" * 255),
        (b"0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e", "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"),
        (b"!~", "!~"),
    ],
)
def test_a_key_is_bare_or_quoted(header: bytes, key: str) -> None:
    """One and the same key either way."""
    assert parse_key(header) == key


@pytest.mark.parametrize(
    "header",
    [b"", b" ", b'""', b"k" * 256, b'"' + b"k" * 256 + b'"', b"k" + b" " * 254 + b"k",
     b'"a', b'"a"b"', b"\x00", b"a\x7f", b"\xc3\xa9", b"\xe9", b"a\tb", b'"a\nb"'],
)  # fmt: skip
def test_another_key_is_refused_by_name(header: bytes) -> None:
    """1 to 255 printable ASCII characters."""
    with pytest.raises(Invalid) as caught:
        parse_key(header)
    assert [detail.field for detail in caught.value.details or []] == ["Idempotency-Key"]


def test_a_fingerprint_is_of_what_a_body_means() -> None:
    """Order and spaces say nothing; method, path and every value do."""
    base = fingerprint("POST", "/a", {"x": 1, "y": [1, 2]})
    assert base == fingerprint("POST", "/a", {"y": [1, 2], "x": 1})
    others = [
        fingerprint("PATCH", "/a", {"x": 1, "y": [1, 2]}),
        fingerprint("POST", "/b", {"x": 1, "y": [1, 2]}),
        fingerprint("POST", "/a", {"x": 1, "y": [2, 1]}),
        fingerprint("POST", "/a", {"x": "1", "y": [1, 2]}),
        fingerprint("POST", "/a", {"x": True, "y": [1, 2]}),
        fingerprint("POST", "/a", {"x": None, "y": [1, 2]}),
        fingerprint("POST", "/a", {"y": [1, 2]}),
    ]
    assert base not in others
    assert len(set(others)) == len(others)
