"""Receivers that mean harm: each takes a connection and does what no honest server would.

`python -m tests.webhooks.hostile_receivers SERVER.PEM` starts them all and writes a line of JSON,
name → address; they end with their standard input.
"""

import asyncio
import contextlib
import functools
import json
import socket
import ssl
import struct
import sys
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from tests.webhooks.tls import server_context

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter
Trick = Callable[[Reader, Writer], Awaitable[None]]

_OK = b"HTTP/1.1 200 OK\r\n"
_MEGABYTE = 1_000_000
_NO_LINGER = struct.pack("ii", 1, 0)


@contextlib.asynccontextmanager
async def serving(trick: Trick, context: ssl.SSLContext | None) -> AsyncIterator[str]:
    """The address of a server that plays one trick; without a context it speaks no TLS."""
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: Reader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await trick(reader, writer)
        finally:
            tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"https://127.0.0.1:{port}/hook"
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: Reader) -> None:
    """Take the request, body and all."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    await reader.readexactly(length)


async def _drip(writer: Writer, part: bytes) -> None:
    while not writer.is_closing():
        writer.write(part)
        await writer.drain()
        await asyncio.sleep(0.1)


async def _pour(writer: Writer, part: bytes) -> None:
    while not writer.is_closing():
        writer.write(part)
        await writer.drain()
        # Draining alone never lets the loop notice that the other side is gone.
        await asyncio.sleep(0)


async def _say(reader: Reader, writer: Writer, answer: bytes) -> None:
    """Answer in full, then wait for the other side to hang up."""
    await _request(reader)
    writer.write(answer)
    await writer.drain()
    await reader.read()


async def silence(reader: Reader, writer: Writer) -> None:
    """Never answers, whatever comes."""
    await reader.read()


async def mute(reader: Reader, writer: Writer) -> None:
    """Takes what comes and keeps the connection, also when the other side leaves."""
    while await reader.read(65536):
        pass


async def drip_head(reader: Reader, writer: Writer) -> None:
    """One more header every moment, for ever."""
    await _request(reader)
    writer.write(_OK)
    await _drip(writer, b"X-A: b\r\n")


async def drip_body(reader: Reader, writer: Writer) -> None:
    """A 200 whose body never ends, byte by byte."""
    await _request(reader)
    writer.write(_OK + b"Content-Length: 1000000\r\n\r\n")
    await _drip(writer, b"a")


async def drip_error(reader: Reader, writer: Writer) -> None:
    """A 500 whose body never ends, byte by byte."""
    await _request(reader)
    writer.write(b"HTTP/1.1 500 Oh\r\nContent-Length: 1000000\r\n\r\n")
    await _drip(writer, b"a")


async def endless_body(reader: Reader, writer: Writer) -> None:
    """A body as fast as it is taken, without end."""
    await _request(reader)
    writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    await _pour(writer, b"10000\r\n" + b"a" * 65536 + b"\r\n")


async def endless_chunk_size(reader: Reader, writer: Writer) -> None:
    """A chunk whose extension never ends."""
    await _request(reader)
    writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n1;")
    await _pour(writer, b"a" * 65536)


async def endless_trailers(reader: Reader, writer: Writer) -> None:
    """A body that ended, and trailers that do not."""
    await _request(reader)
    writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n")
    await _pour(writer, b"X-A: " + b"a" * 1000 + b"\r\n")


async def large_body(reader: Reader, writer: Writer) -> None:
    """Ten megabytes."""
    body = b"a" * 10 * _MEGABYTE
    await _say(reader, writer, _OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)


@functools.cache
def _bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(bytes(_MEGABYTE)) for _ in range(100)) + packer.flush()


async def gzip_bomb(reader: Reader, writer: Writer) -> None:
    """A hundred megabytes of nothing in a hundred kilobytes."""
    bomb = _bomb()
    head = _OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    await _say(reader, writer, head + bomb)


async def large_header(reader: Reader, writer: Writer) -> None:
    """One header of a megabyte."""
    await _say(reader, writer, _OK + b"X-A: " + b"a" * _MEGABYTE + b"\r\n\r\n")


async def many_headers(reader: Reader, writer: Writer) -> None:
    """Headers without end, each of them small."""
    await _request(reader)
    writer.write(_OK)
    await _pour(writer, b"X-A: b\r\n" * 1000)


async def long_status_line(reader: Reader, writer: Writer) -> None:
    """A first line without end."""
    await _request(reader)
    writer.write(b"HTTP/1.1 200 ")
    await _pour(writer, b"O" * 65536)


async def early_hints(reader: Reader, writer: Writer) -> None:
    """Interim answers without end."""
    await _request(reader)
    await _pour(writer, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)


async def endless_continue(reader: Reader, writer: Writer) -> None:
    """The smallest interim answer, without end."""
    await _request(reader)
    await _pour(writer, b"HTTP/1.1 100 Continue\r\n\r\n" * 2000)


async def drip_continue(reader: Reader, writer: Writer) -> None:
    """One more interim answer every moment."""
    await _request(reader)
    await _drip(writer, b"HTTP/1.1 100 Continue\r\n\r\n")


async def some_continue(reader: Reader, writer: Writer) -> None:
    """Interim answers as an honest server may send them, then the answer."""
    await _request(reader)
    writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    await writer.drain()
    writer.write(_OK + b"Content-Length: 2\r\n\r\nok")
    await writer.drain()


async def empty_lines(reader: Reader, writer: Writer) -> None:
    """Line ends without end where the status line should be."""
    await _request(reader)
    await _pour(writer, b"\r\n" * 30_000)


async def long_extensions(reader: Reader, writer: Writer) -> None:
    """A body of single bytes, each with kilobytes of extensions."""
    await _request(reader)
    writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    await _pour(writer, (b"1;a=" + b"b" * 4000 + b"\r\na\r\n") * 20)


async def tiny_chunks(reader: Reader, writer: Writer) -> None:
    """A body of single bytes, without end."""
    await _request(reader)
    writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    await _pour(writer, b"1\r\na\r\n" * 10_000)


async def tiny_records(reader: Reader, writer: Writer) -> None:
    """Headers without end, each byte of them a TLS record of its own."""
    await _request(reader)
    writer.write(_OK)
    await _pour(writer, b"a")


async def stray_bytes(reader: Reader, writer: Writer) -> None:
    """A whole answer and more after it."""
    await _say(reader, writer, _OK + b"Content-Length: 2\r\n\r\nok" + b"\0stray" * 100)


async def body_of_no_content(reader: Reader, writer: Writer) -> None:
    """A 204, which has no body, with one."""
    await _say(reader, writer, b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody")


async def two_lengths(reader: Reader, writer: Writer) -> None:
    """A 200 whose headers contradict each other."""
    await _say(reader, writer, _OK + b"Content-Length: 2\r\nContent-Length: 9\r\n\r\nok")


async def half_head(reader: Reader, writer: Writer) -> None:
    """A status line, and the end before the headers are over."""
    await _request(reader)
    writer.write(_OK + b"X-A: b\r\n")
    await writer.drain()


async def redirect(reader: Reader, writer: Writer) -> None:
    """To itself, for ever."""
    await _say(reader, writer, b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")


async def switch(reader: Reader, writer: Writer) -> None:
    """To another protocol that nobody asked for."""
    await _request(reader)
    writer.write(b"HTTP/1.1 101 Switching\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n")
    await _pour(writer, b"a" * 65536)


async def cut_body(reader: Reader, writer: Writer) -> None:
    """A 200 that promises more than it gives."""
    await _request(reader)
    writer.write(_OK + b"Content-Length: 100\r\n\r\nshort")
    await writer.drain()


async def broken_chunks(reader: Reader, writer: Writer) -> None:
    """A 200 whose body is no body."""
    await _request(reader)
    writer.write(_OK + b"Transfer-Encoding: chunked\r\n\r\nnothing of the sort\r\n")
    await writer.drain()


async def nonsense(reader: Reader, writer: Writer) -> None:
    """No HTTP at all."""
    await _say(reader, writer, b"220 mail.example.com ESMTP\r\n\r\n")


async def hang_up(reader: Reader, writer: Writer) -> None:
    """Takes the request and leaves."""
    await _request(reader)


async def reset(reader: Reader, writer: Writer) -> None:
    """Resets the connection as soon as it is there."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)


async def reset_handshake(reader: Reader, writer: Writer) -> None:
    """Resets the connection in the middle of the handshake."""
    await reader.read(100)
    await reset(reader, writer)


async def flood_handshake(reader: Reader, writer: Writer) -> None:
    """Records of a handshake without end."""
    await reader.read(100)
    await _pour(writer, b"\x16\x03\x03\x40\x00\x0b\x00\xff\xff" + b"\0" * 16379)


async def other_version(reader: Reader, writer: Writer) -> None:
    """Refuses every version of TLS that is offered, in the words of the protocol."""
    await reader.read(100)
    writer.write(b"\x15\x03\x01\x00\x02\x02\x46")
    await writer.drain()


async def half_close(reader: Reader, writer: Writer) -> None:
    """Listens to the beginning of the handshake and says that it has nothing to say."""
    await reader.read(100)
    writer.write_eof()
    await reader.read()


async def speak_plainly(reader: Reader, writer: Writer) -> None:
    """HTTP without TLS."""
    await reader.read(100)
    writer.write(_OK + b"Content-Length: 0\r\n\r\n")
    await writer.drain()


TRICKS: tuple[Trick, ...] = (
    silence, drip_head, drip_body, drip_error, endless_body, endless_chunk_size,
    endless_trailers, large_body, gzip_bomb, large_header, many_headers, long_status_line,
    early_hints, redirect, switch, cut_body, broken_chunks, nonsense, hang_up,
    endless_continue, drip_continue, some_continue, empty_lines, long_extensions, tiny_chunks,
    tiny_records, stray_bytes, body_of_no_content, two_lengths, half_head,
)  # fmt: skip
PLAIN_TRICKS: tuple[Trick, ...] = (
    mute, reset, reset_handshake, flood_handshake, other_version, half_close, speak_plainly,
)  # fmt: skip


async def main(pem: Path) -> None:
    """Play every trick until standard input ends."""
    context = server_context(pem)
    async with contextlib.AsyncExitStack() as stack:
        urls: dict[str, str] = {}
        for trick in (*TRICKS, *PLAIN_TRICKS):
            tls = context if trick in TRICKS else None
            urls[trick.__name__] = await stack.enter_async_context(serving(trick, tls))
        sys.stdout.write(json.dumps(urls) + "\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
