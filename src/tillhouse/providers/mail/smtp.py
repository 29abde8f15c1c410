"""An SMTP client that gives one mail to one server and trusts no byte of its replies.

All of it ends within a deadline, and each part of a reply is bounded, so a server that is silent
or sends without end costs the one mail that it was given. The standard library's client blocks a
thread for as long as its server likes.
"""

import asyncio
import base64
import re
import ssl
from pathlib import Path

import msgspec

from tillhouse.kit.smtp import SmtpServer
from tillhouse.providers.names import PATIENCE_S, Names, literal, look_up

WITHIN_S = 120.0
# A server has several addresses at times, and one of them may swallow packets.
CONNECTED_WITHIN_S = 15.0
LINE_BYTES_MAX = 4096
LINES_MAX = 100
_SHOWN_LENGTH = 200
_REFUSED = 500

_REPLY = re.compile(rb"([2-5][0-9]{2})(?:([ -])(.*))?")
_ENHANCED = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")


class MailError(Exception):
    """The mail wasn't taken: a sentence for the operator, and whether trying again is of no use."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_final = is_final


class Envelope(msgspec.Struct, frozen=True):
    """A mail: from whom, to whom, and its lines, which end in CRLF and are ASCII."""

    sender: str
    recipient: str
    message: bytes


class SmtpRoute(msgspec.Struct, frozen=True):
    """The server, further authorities for its certificate, and the time."""

    server: SmtpServer
    ca_file: Path | None
    within_s: float = WITHIN_S


async def send(route: SmtpRoute, envelope: Envelope) -> None:
    """Give a mail to the server; returns when it has taken it, and raises MailError otherwise."""
    await _within(route, envelope.sender, envelope)


async def check(route: SmtpRoute, sender: str) -> None:
    """Go as far as one can without a mail: connection, certificate, account."""
    await _within(route, sender, None)


async def _within(route: SmtpRoute, sender: str, envelope: Envelope | None) -> None:
    try:
        async with asyncio.timeout(route.within_s):
            session = await _open(route)
            try:
                await session.begin(route, sender)
                if envelope is not None:
                    await session.give(envelope)
            finally:
                session.close()
    except MailError:
        raise
    except Exception as error:
        raise MailError(_sentence(route, error)) from error


class _Session:
    """One connection, from the greeting to the end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        # An unreferenced writer closes its connection, which TLS goes on using.
        self._below = writer

    def close(self) -> None:
        """End it at once; a server that has taken the mail needs no more words."""
        self._writer.transport.abort()
        self._below.transport.abort()

    async def begin(self, route: SmtpRoute, sender: str) -> None:
        """Greet, secure the connection, log in."""
        server = route.server
        await self._expect("the greeting", 220)
        offers = await self._hello(sender)
        if server.security == "starttls":
            if "STARTTLS" not in offers:
                raise MailError(
                    f"{server.host} offers no STARTTLS on port {server.port}: use smtps://, or "
                    "smtp+plain:// in a network that you trust"
                )
            await self._ask("STARTTLS", "STARTTLS", 220)
            await self._secure(await _context(route.ca_file), server.host)
            offers = await self._hello(sender)
        if server.user is not None and server.password is not None:
            await self._log_in(offers, server.user, server.password)

    async def give(self, envelope: Envelope) -> None:
        """Hand the mail over. From the last byte to the reply its delivery is unknown."""
        await self._ask("the sender", f"MAIL FROM:<{envelope.sender}>", 250)
        await self._ask("the recipient", f"RCPT TO:<{envelope.recipient}>", 250, 251, is_mail=True)
        await self._ask("DATA", "DATA", 354, is_mail=True)
        lines = envelope.message.removesuffix(b"\r\n").replace(b"\r\n.", b"\r\n..")
        self._writer.write((b"." if lines.startswith(b".") else b"") + lines + b"\r\n.\r\n")
        await self._writer.drain()
        await self._expect("the mail", 250, is_mail=True)
        self._writer.write(b"QUIT\r\n")

    async def _hello(self, sender: str) -> dict[str, str]:
        """The extensions that the server offers, with their parameters."""
        lines = await self._ask("EHLO", f"EHLO {sender.rpartition('@')[2]}", 250)
        offers = [line.upper().partition(" ") for line in lines[1:]]
        return {name: parameters for name, _, parameters in offers}

    async def _secure(self, context: ssl.SSLContext, host: str) -> None:
        """Go on over TLS, and drop the bytes that came in the clear: they aren't authenticated."""
        reader = asyncio.StreamReader(limit=LINE_BYTES_MAX)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        transport = await loop.start_tls(
            self._writer.transport, protocol, context, server_hostname=host
        )
        if transport is None:
            raise ConnectionResetError
        protocol.connection_made(transport)
        self._reader = reader
        self._writer = asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _log_in(self, offers: dict[str, str], user: str, password: str) -> None:
        mechanisms = offers.get("AUTH", "").split()
        if "PLAIN" in mechanisms:
            account = _encoded(f"\0{user}\0{password}")
            await self._ask("the account", f"AUTH PLAIN {account}", 235)
        elif "LOGIN" in mechanisms:
            await self._ask("the account", "AUTH LOGIN", 334)
            await self._ask("the account", _encoded(user), 334)
            await self._ask("the account", _encoded(password), 235)
        else:
            raise MailError("the mail server takes no password: it offers no AUTH PLAIN or LOGIN")

    async def _ask(self, about: str, line: str, *wanted: int, is_mail: bool = False) -> list[str]:
        self._writer.write(line.encode("ascii") + b"\r\n")
        await self._writer.drain()
        return await self._expect(about, *wanted, is_mail=is_mail)

    async def _expect(self, about: str, *wanted: int, is_mail: bool = False) -> list[str]:
        """The lines of a reply; MailError when its status is another one."""
        status, lines = await self._reply()
        if status in wanted:
            return lines
        text = " ".join(lines)
        if about == "the account":
            # Nothing of a reply to a password is repeated but its codes.
            text = " ".join(_ENHANCED.findall(text)[:1])
        told = f"{status} {text}".strip()[:_SHOWN_LENGTH]
        raise MailError(
            f"the mail server refuses {about}: {told}", is_final=is_mail and status >= _REFUSED
        )

    async def _reply(self) -> tuple[int, list[str]]:
        lines: list[str] = []
        for _ in range(LINES_MAX):
            line = await self._reader.readuntil(b"\n")
            found = _REPLY.fullmatch(line.rstrip(b"\r\n"))
            if found is None:
                break
            lines.append(re.sub(r"[^ -~]", "?", (found[3] or b"").decode("latin-1")))
            if found[2] != b"-":
                return int(found[1]), lines
        raise MailError("the mail server doesn't speak SMTP")


async def _open(route: SmtpRoute) -> _Session:
    """Connect to the first address that takes the connection."""
    server = route.server
    context = await _context(route.ca_file) if server.security == "tls" else None
    spelt = literal(server.host, server.port)
    names = Names(look_up, PATIENCE_S)
    found = [spelt] if spelt else await names.find(server.host, server.port)
    failure: Exception = OSError("no address")
    for _, address in found:
        try:
            async with asyncio.timeout(CONNECTED_WITHIN_S):
                reader, writer = await asyncio.open_connection(
                    address[0], server.port, limit=LINE_BYTES_MAX, ssl=context,
                    server_hostname=None if context is None else server.host,
                )  # fmt: skip
            return _Session(reader, writer)
        except OSError as error:
            failure = error
    raise failure


async def _context(ca_file: Path | None) -> ssl.SSLContext:
    """Certificates and names are checked. Reading the public ones takes a while."""
    context = await asyncio.to_thread(ssl.create_default_context)
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def _sentence(route: SmtpRoute, error: Exception) -> str:
    """A failure that an operator can mend; nothing of it is from the account."""
    server = route.server
    where = f"{server.host}:{server.port}"
    match error:
        case TimeoutError():
            return f"{where} didn't answer in time"
        case ssl.SSLCertVerificationError():
            why = error.verify_message
            return f"the certificate of {where} isn't trusted: {why} (TILLHOUSE_WEBHOOK_CA_FILE)"
        case ssl.SSLError():
            return f"no TLS with {where}: smtps:// is for port 465, smtp:// (STARTTLS) for 587"
        case asyncio.IncompleteReadError() | ConnectionResetError() | BrokenPipeError():
            return f"{where} hung up"
        case asyncio.LimitOverrunError():
            return "the mail server doesn't speak SMTP"
        case ConnectionRefusedError():
            return f"{where} refuses connections"
        case OSError():
            return f"{where} can't be reached: {error.strerror or error}"
        case _:
            return f"the mail server was given up: {type(error).__name__}"
