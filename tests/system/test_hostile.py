"""Slow and malformed clients harm nobody but themselves."""

import asyncio
import time
from contextlib import AsyncExitStack

import pytest

from tests.system.client import Client
from tests.system.conftest import Start
from tests.system.raw_socket import connected, drip, statuses
from tests.system.serving import Serving, report
from tillhouse.http.protocol import HEAD_BYTES_MAX

LOGIN = (
    b"POST /api/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    b"connection: close\r\n"
)
GET = b"GET /livez HTTP/1.1\r\nhost: x\r\n"
CROWD = 200
# Requests of one measurement, and those of them that are answered while the whole crowd is there.
ROUNDS, ROUNDS_BESIDE = 300, 20

BIG = b"x" * 2 * 1024 * 1024
MALFORMED = {
    "head too long": (GET + b"x: " + b"y" * HEAD_BYTES_MAX + b"\r\n\r\n", {431}),
    "head without end": (GET + b"x: y\r\n" * (HEAD_BYTES_MAX // 2), {431}),
    "path too long": (b"GET /" + b"y" * HEAD_BYTES_MAX + b" HTTP/1.1\r\n\r\n", {431, 414, 400}),
    "two lengths": (LOGIN + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}", {400}),
    "negative length": (LOGIN + b"content-length: -2\r\n\r\n{}", {400}),
    "length in words": (LOGIN + b"content-length: two\r\n\r\n{}", {400}),
    "huge length": (LOGIN + b"content-length: 99999999999999999999\r\n\r\n", {400, 413}),
    "length and chunks": (
        LOGIN + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1",
        {400},
    ),
    "bad chunk": (LOGIN + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", {400}),
    "unknown coding": (LOGIN + b"transfer-encoding: gzip\r\n\r\n{}", {400, 411, 415, 422, 501}),
    "bare line feed": (b"GET /livez HTTP/1.1\r\nhost: x\r\nx: a\rb: c\r\n\r\n", {400}),
    "NUL in a value": (GET + b"x: a\0b\r\n\r\n", {400}),
    "space before colon": (GET + b"x : y\r\n\r\n", {400}),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64, {400}),
    "old HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 405, 505}),
    "2 MiB, told": (LOGIN + b"content-length: %d\r\n\r\n" % len(BIG) + BIG, {413}),
    "2 MiB, in chunks": (
        LOGIN + b"transfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(BIG), BIG),
        {413},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
async def test_malformed(pair: tuple[Serving, Serving], here: Client, name: str) -> None:
    """Refused with 4xx or closed, never 5xx; the next connection works."""
    sent, allowed = MALFORMED[name]
    found = await statuses(pair[0].port, sent)
    # One answer at most: a second would be to a request smuggled in.
    assert len(found) <= 1, found
    assert set(found) <= allowed, found
    await here.get("/livez", status=200)


async def test_blanks_around_a_length_are_no_part_of_it(pair: tuple[Serving, Serving]) -> None:
    """HTTP allows them on both sides: the body is read, and its fields are judged."""
    assert await statuses(pair[0].port, LOGIN + b"content-length: \t2 \t\r\n\r\n{}") == [422]


async def test_nothing_is_injected(pair: tuple[Serving, Serving]) -> None:
    """A caller's text comes back in no header of the answer."""
    async with connected(pair[0].port) as (reader, writer):
        writer.write(
            b"GET /v1/voice/health HTTP/1.1\r\nhost: x\r\nx-request-id: a%0d%0aevil: 1\r\n"
            b"origin: http://x%0d%0aevil: 1\r\nx-forwarded-for: 203.0.113.9\r\n"
            b"connection: close\r\n\r\n"
        )
        got = await reader.read()
    assert got.startswith(b"HTTP/1.1 401 ")
    assert b"evil" not in got.partition(b"\r\n\r\n")[0]
    assert b"server:" not in got.lower()


async def test_forwarded_addresses_are_hearsay(
    start: Start, here: Client, database_url: str, master_key: str
) -> None:
    """Without a trusted proxy, X-Forwarded-For names nobody."""
    settings = {"DATABASE_URL": database_url, "MASTER_KEY": master_key}
    serving = await start("--no-work", **settings)
    await here.at(serving.address).get("/livez", headers={"x-forwarded-for": "203.0.113.9"})
    assert await serving.stop() == 0
    assert '"route":"/livez"' in serving.log
    assert "203.0.113.9" not in serving.log


async def test_drips_end(pair: tuple[Serving, Serving]) -> None:
    """A head or a body that comes byte by byte is given up, and so is silence."""
    port = pair[0].port
    body = LOGIN + b"content-length: 100000\r\n\r\n"
    (head, said), (second, _), (silent, _), (slow, answer) = await asyncio.gather(
        drip(port, b"GET /livez HTTP/1.1\r\nx: ", b"y"),
        drip(port, GET + b"\r\n", b"GET /livez HTTP/1.1\r\nx: yyy"),
        drip(port, b"", b""),
        drip(port, body, b" "),
    )
    report(f"closed after: head {head:.1f} s, the second one {second:.1f} s")
    report(f"closed after: silence {silent:.1f} s, body {slow:.1f} s")
    assert said[:12] in (b"", b"HTTP/1.1 408")
    assert answer[:10] in (b"", b"HTTP/1.1 4")


async def p99_ms(client: Client, rounds: int = ROUNDS) -> float:
    """How long all but one in a hundred requests take at most."""
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        await client.get("/livez", status=200)
        times.append(time.perf_counter() - began)
    return sorted(times)[int(rounds * 0.99)] * 1000


async def test_a_slow_crowd_slows_nobody(pair: tuple[Serving, Serving], here: Client) -> None:
    """Beside 200 connections that drip, others are answered, and none of the crowd has to end."""
    is_over = asyncio.Event()

    async def dawdle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /livez HTTP/1.1\r\nx: ")
        while not is_over.is_set():
            writer.write(b"y")
            await asyncio.wait([asyncio.ensure_future(is_over.wait())], timeout=0.25)

    alone = await p99_ms(here)
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(connected(pair[0].port)) for _ in range(CROWD)]
        dawdling = asyncio.gather(*(dawdle(writer) for _, writer in opened))
        await p99_ms(here, ROUNDS_BESIDE)
        assert not any(reader.at_eof() or reader.exception() for reader, _ in opened)
        beside = await p99_ms(here)
        is_over.set()
        await dawdling
    report(f"p99 alone {alone:.1f} ms, beside {CROWD} slow connections {beside:.1f} ms")
