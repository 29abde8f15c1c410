"""A mail server in this process: it speaks SMTP, well or badly, and keeps what it took."""

import asyncio
import base64
import ssl
from collections import defaultdict, deque
from collections.abc import Callable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import cast

import msgspec

from tillhouse.kit.smtp import Security, SmtpServer

USUAL = {
    "greeting": "220 mail.example.com ready",
    "EHLO": "250 mail.example.com",
    "STARTTLS": "220 go on",
    "AUTH": "235 2.7.0 welcome",
    "MAIL": "250 fine",
    "RCPT": "250 fine",
    "DATA": "354 go on",
    "mail": "250 taken",
    "QUIT": "221 bye",
}


class Taken(msgspec.Struct, frozen=True):
    """A mail that was given, with its envelope and how it came."""

    sender: str
    recipient: str
    raw: bytes
    is_secure: bool
    account: str | None

    @property
    def message(self) -> EmailMessage:
        """The same, read."""
        return cast(EmailMessage, message_from_bytes(self.raw, policy=default))

    @property
    def text(self) -> str:
        """Its words."""
        return self.message.get_content()


class MailServer:
    """Listens on loopback; a stage is a command, the `greeting`, or the `mail` after DATA."""

    def __init__(self, context: ssl.SSLContext | None = None, security: Security = "none") -> None:
        self.mails: list[Taken] = []
        # Given in the place of the usual reply, one after another.
        self.replies: dict[str, deque[str]] = defaultdict(deque)
        # Stages at which nothing comes, or bytes without end.
        self.silent_at = self.endless_at = ""
        self.offers = ["SIZE 1000000", "AUTH PLAIN LOGIN"]
        # Called when a mail is there and was not answered.
        self.on_mail: Callable[[], object] = lambda: None
        self.sent = 0
        self.connections = 0
        self._context, self._security = context, security
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self.port = 0

    async def start(self) -> "MailServer":
        """Listen on a free port."""
        context = self._context if self._security == "tls" else None
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        """Hang up."""
        assert self._server is not None
        self._server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    def address(self, user: str | None = None, password: str | None = None) -> SmtpServer:
        """Where it is, as a setting."""
        return SmtpServer(
            host="127.0.0.1", port=self.port, security=self._security, user=user, password=password
        )

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(_Client(self, reader, writer).talk())
        self._clients.add(task)
        try:
            await task
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(task)
            writer.transport.abort()

    def secures(self, command: str) -> bool:
        """Whether TLS follows this command."""
        return command == "STARTTLS" and self._security == "starttls"

    @property
    def context(self) -> ssl.SSLContext | None:
        """Its certificate."""
        return self._context

    @property
    def is_secure_from_the_start(self) -> bool:
        """Whether TLS comes before everything else."""
        return self._security == "tls"

    def offered(self, *, is_secure: bool) -> list[str]:
        """The extensions, at this stage of the connection."""
        if self._security == "starttls" and not is_secure:
            return [*self.offers[:1], "STARTTLS"]
        return self.offers


class _Client:
    def __init__(
        self, server: MailServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._is_secure = server.is_secure_from_the_start
        self._account: str | None = None
        self._envelope = ["", ""]

    async def talk(self) -> None:
        """From the greeting to the end."""
        await self._answer("greeting")
        while line := (await self._reader.readuntil(b"\n")).decode("ascii").strip():
            command = line.split(":", 1)[0].split(" ", 1)[0].upper()
            match command:
                case "AUTH":
                    await self._log_in(line)
                case "MAIL" | "RCPT":
                    self._envelope[command == "RCPT"] = line.partition("<")[2].rstrip(">")
            reply = await self._answer(command)
            if reply.startswith("354"):
                await self._take()
            elif self._server.secures(command) and reply.startswith("220"):
                assert self._server.context is not None
                await self._writer.start_tls(self._server.context)
                self._is_secure = True
            elif command == "QUIT":
                return

    async def _log_in(self, line: str) -> None:
        given = line.split(" ")
        if given[1] == "PLAIN":
            self._account = base64.b64decode(given[2]).decode().strip("\0").replace("\0", ":")
            return
        words: list[str] = []
        for _ in range(2):
            self._writer.write(b"334 VXNlcm5hbWU6\r\n")
            words.append(base64.b64decode(await self._reader.readuntil(b"\n")).decode())
        self._account = ":".join(words)

    async def _take(self) -> None:
        raw = await self._reader.readuntil(b"\r\n.\r\n")
        raw = raw.removesuffix(b".\r\n").replace(b"\r\n..", b"\r\n.")
        raw = raw[1:] if raw.startswith(b"..") else raw
        taken = Taken(*self._envelope, raw, self._is_secure, self._account)
        if not self._server.replies["mail"]:
            self._server.mails.append(taken)
        self._server.on_mail()
        await self._answer("mail")

    async def _answer(self, stage: str) -> str:
        if stage == self._server.silent_at:
            await asyncio.Event().wait()
        while stage == self._server.endless_at:
            self._server.sent += 65536
            self._writer.write(b"250-" + b"x" * 65530 + b"\r\n")
            await self._writer.drain()
        queued = self._server.replies[stage]
        reply = queued.popleft() if queued else USUAL.get(stage, "502 no")
        lines = [reply]
        if stage == "EHLO" and reply == USUAL["EHLO"]:
            lines += [f"250 {offer}" for offer in self._server.offered(is_secure=self._is_secure)]
            lines = [line.replace("250 ", "250-", 1) for line in lines[:-1]] + lines[-1:]
        self._writer.write("".join(f"{line}\r\n" for line in lines).encode("latin-1"))
        await self._writer.drain()
        return reply
