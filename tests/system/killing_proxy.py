"""Stands between a server and PostgreSQL, and kills the server at a chosen statement."""

import asyncio
import contextlib
import os
import signal
import socket
import struct
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

# Frontend messages that run something: a simple query, and the execution of a prepared one.
RUNS = (b"Q", b"E")
# A notification after a commit is part of no request.
CHANNELS = (b"tillhouse_work", b"tillhouse_news")
# Looks of the runner of jobs at its queue, outside of any transaction, are part of none either.
QUEUE_LOOK = b"unnest($1::text[]) k (kind)"
# A request of a logged-in person begins by this.
SESSION_LOOK = b"FROM sessions s"
_LONGEST = 65536


class Target:
    """The process that serves the request under test, and the statement at which it ends."""

    def __init__(self, number: int, *, is_after: bool) -> None:
        self.number = number
        self.is_after = is_after
        self.pid = 0
        self.seen = 0
        self.is_dead = False

    def hits(self, pid: int, kind: bytes, text: bytes, *, in_transaction: bool) -> bool:
        """Count a message; true when its sender is to end at it.

        The look at the session tells the process; others look at whatever they look at meanwhile.
        """
        if self.pid == 0 and SESSION_LOOK in text:
            self.pid = pid
        if pid != self.pid:
            return False
        self.seen += 1
        return self.seen == self.number

    def kill(self) -> None:
        """End the process at once."""
        self.is_dead = True
        os.kill(self.pid, signal.SIGKILL)


class Proxy:
    """A PostgreSQL socket in a folder; everything goes on to the real server."""

    def __init__(self, folder: Path, url: str) -> None:
        self._path = folder / ".s.PGSQL.5432"
        self._upstream = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
        self.target: Target | None = None
        # Everything that was run, BEGIN and COMMIT as well.
        self.statements = 0

    @property
    def url(self) -> str:
        """The database by way of this proxy."""
        user = self._upstream.netloc.rpartition("@")[0] or parse_qs(self._upstream.query)["user"][0]
        query = f"host={quote(str(self._path.parent), safe='/')}&port=5432"
        return urlunsplit(("postgresql", f"{user}@", self._upstream.path, query, ""))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._accept, self._path)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()
        await asyncio.gather(*self._open.values())

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[writer] = task
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                await self._carry(reader, writer)
        finally:
            del self._open[writer]
            writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        query = parse_qs(self._upstream.query)
        host = query.get("host", [self._upstream.hostname or "127.0.0.1"])[0]
        port = int(query.get("port", [self._upstream.port or 5432])[0])
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pid = _peer(writer)
        up_reader, up_writer = await self._connect()
        answers = asyncio.create_task(_copy(up_reader, writer))
        in_transaction = False
        prepared = _Prepared()
        try:
            size = await reader.readexactly(4)
            up_writer.write(size + await reader.readexactly(int.from_bytes(size) - 4))
            while True:
                head = await reader.readexactly(5)
                body = await reader.readexactly(int.from_bytes(head[1:]) - 4)
                kind, target = head[:1], self.target
                self.statements += kind in RUNS
                prepared.see(kind, body)
                if kind == b"Q":
                    in_transaction = body.startswith(b"BEGIN")
                if (
                    target is not None
                    and kind in RUNS
                    and not any(channel in body for channel in CHANNELS)
                    and QUEUE_LOOK not in (text := prepared.bound if kind == b"E" else body)
                    and target.hits(pid, kind, text, in_transaction=in_transaction)
                ):
                    if target.is_after:
                        await _withhold(answers, up_reader)
                        up_writer.write(head + body)
                        if kind == b"E":
                            up_writer.write(b"S\x00\x00\x00\x04")
                        # Something comes back: the statement was run.
                        await up_reader.readexactly(1)
                    target.kill()
                    return
                up_writer.write(head + body)
        finally:
            answers.cancel()
            await asyncio.gather(answers, return_exceptions=True)
            await _ended(up_reader, up_writer)


class _Prepared:
    """The texts of the statements that a connection has prepared, and of the one that runs next."""

    def __init__(self) -> None:
        self._texts: dict[bytes, bytes] = {}
        self.bound = b""

    def see(self, kind: bytes, body: bytes) -> None:
        """Take note of a message that prepares a statement, or binds one."""
        if kind == b"P":
            name, _, rest = body.partition(b"\x00")
            self._texts[name] = rest.partition(b"\x00")[0]
        elif kind == b"B":
            name = body.split(b"\x00", 2)[1]
            self.bound = self._texts.get(name, b"")


def _peer(writer: asyncio.StreamWriter) -> int:
    """The process at the other end."""
    made: socket.socket = writer.get_extra_info("socket")
    credentials = made.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[0]


async def _withhold(answers: asyncio.Task[None], reader: asyncio.StreamReader) -> None:
    """Let no further answer through."""
    answers.cancel()
    await asyncio.gather(answers, return_exceptions=True)
    assert not reader.at_eof()


async def _ended(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """End a connection to the server, which closes it when it has let go of all that it locked."""
    with contextlib.suppress(ConnectionError):
        writer.write_eof()
        while await reader.read(_LONGEST):
            pass
    writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_LONGEST):
        writer.write(data)
    writer.close()
