"""A mail is given to real servers on real sockets: honest ones, refusing ones and hostile ones."""

import asyncio
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.providers.mail.server import MailServer
from tests.waiting import ended
from tests.webhooks.tls import Authority
from tillhouse.kit.smtp import Security, SmtpServer
from tillhouse.providers.mail import smtp
from tillhouse.providers.mail.text import Mail, compose

PASSWORD = "s3cret pässword"
MAIL = Mail(
    id="notice-1",
    sender="till@shop.example",
    recipient="ada@example.com",
    subject="Café closed",
    text=".\n..two\nÀ bientôt\n.",
    at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)
ENVELOPE = smtp.Envelope(MAIL.sender, MAIL.recipient, compose(MAIL))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The certificate authority of the servers."""
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture
async def plain() -> AsyncIterator[MailServer]:
    """A server without TLS."""
    server = await MailServer().start()
    yield server
    await server.stop()


def route(
    server: SmtpServer, ca_file: Path | None = None, within_s: float = 20.0
) -> smtp.SmtpRoute:
    """The way to a server."""
    return smtp.SmtpRoute(server, ca_file, within_s)


async def refused(way: smtp.SmtpRoute) -> smtp.MailError:
    """Send a mail that isn't taken; why."""
    with pytest.raises(smtp.MailError) as caught:
        await ended(smtp.send(way, ENVELOPE))
    assert PASSWORD not in caught.value.reason
    return caught.value


@pytest.mark.parametrize("security", ["tls", "starttls"])
@pytest.mark.parametrize("mechanism", ["PLAIN LOGIN", "LOGIN"])
async def test_a_mail_arrives_whole(
    authority: Authority, security: Security, mechanism: str
) -> None:
    """Over TLS from the start, or after STARTTLS; with the account, and every dot."""
    server = await MailServer(authority.server(), security).start()
    server.offers[-1] = f"AUTH {mechanism}"
    way = route(server.address("till", PASSWORD), authority.ca_file)
    await ended(smtp.check(way, MAIL.sender))
    assert server.mails == []
    await ended(smtp.send(way, ENVELOPE))
    [taken] = server.mails
    assert (taken.sender, taken.recipient) == (MAIL.sender, MAIL.recipient)
    assert (taken.is_secure, taken.account) == (True, f"till:{PASSWORD}")
    assert taken.text.replace("\r\n", "\n") == MAIL.text + "\n"
    assert taken.message["Subject"] == MAIL.subject
    assert taken.message["Message-ID"] == "<notice-1@shop.example>"
    assert taken.raw.isascii()
    await server.stop()


async def test_a_mail_arrives_without_tls_where_it_is_said(plain: MailServer) -> None:
    """A server in a network of one's own."""
    await ended(smtp.send(route(plain.address()), ENVELOPE))
    assert [taken.is_secure for taken in plain.mails] == [False]


async def test_names_break_no_header() -> None:
    """Line ends, controls and right-to-left marks in a subject stay within it."""
    raw = compose(
        Mail(
            id="n",
            sender=MAIL.sender,
            recipient=MAIL.recipient,
            subject="Ha\r\nBcc: all@example.com\n\n<b>\x00\u2028\u202e" + "ü" * 500,
            text="x" * 5000,
            at=MAIL.at,
        )
    )
    head = raw.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert {line.partition(b":")[0] for line in head if not line.startswith(b" ")} == {
        b"From", b"To", b"Subject", b"Date", b"Message-ID", b"Auto-Submitted", b"Content-Type",
        b"Content-Transfer-Encoding", b"MIME-Version",
    }  # fmt: skip
    assert raw.isascii()
    assert max(map(len, raw.split(b"\r\n"))) <= 998


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "AUTH", "MAIL"])
@pytest.mark.parametrize("code", ["421", "554"])
async def test_before_the_mail_every_refusal_is_for_now(
    plain: MailServer, stage: str, code: str
) -> None:
    """The operator mends an account or a sender, and the mail goes out after all."""
    plain.replies[stage].append(f"{code} 5.7.8 no {PASSWORD}")
    error = await refused_with_account(plain)
    assert not error.is_final
    assert code in error.reason


async def refused_with_account(server: MailServer) -> smtp.MailError:
    """The same, where a refusal of the account repeats nothing but its codes."""
    with pytest.raises(smtp.MailError) as caught:
        await ended(smtp.send(route(server.address("till", PASSWORD)), ENVELOPE))
    if "the account" in caught.value.reason:
        assert PASSWORD not in caught.value.reason
        assert "5.7.8" in caught.value.reason
    return caught.value


@pytest.mark.parametrize("stage", ["RCPT", "DATA", "mail"])
async def test_a_mail_is_refused_for_now_or_for_good(plain: MailServer, stage: str) -> None:
    """4xx is worth another try, 5xx is not; and the next mail goes through."""
    for code, is_final in (("451", False), ("550", True)):
        plain.replies[stage].append(f"{code} sorry")
        error = await refused(route(plain.address()))
        assert error.is_final is is_final
        assert f"{code} sorry" in error.reason
    assert plain.mails == []
    await ended(smtp.send(route(plain.address()), ENVELOPE))
    assert len(plain.mails) == 1


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "RCPT", "mail"])
async def test_a_silent_server_costs_its_time_and_no_more(plain: MailServer, stage: str) -> None:
    """Nothing comes: at the deadline it is over, and may be tried again."""
    plain.silent_at = stage
    error = await refused(route(plain.address(), within_s=0.3))
    assert "didn't answer in time" in error.reason
    assert not error.is_final


@pytest.mark.parametrize("stage", ["greeting", "EHLO", "mail"])
async def test_bytes_without_end_are_cut_off(plain: MailServer, stage: str) -> None:
    """A line that is too long ends it at once; what was sent is bounded by buffers."""
    plain.endless_at = stage
    error = await refused(route(plain.address()))
    assert "doesn't speak SMTP" in error.reason
    assert plain.sent < 64 * 1024 * 1024


async def test_lines_without_end_are_cut_off(plain: MailServer) -> None:
    """A reply has so many lines and no more; another protocol has none."""
    for reply in ("\r\n".join(["250-more"] * 1000), "HTTP/1.1 400 Bad Request", "99 what", ""):
        plain.replies["EHLO"].append(reply)
        assert "doesn't speak SMTP" in (await refused(route(plain.address()))).reason


async def test_a_certificate_is_checked(authority: Authority) -> None:
    """One that nobody vouches for, or of another host, gets neither account nor mail."""
    for context in (authority.server(("other.example",)), authority.server(is_self_signed=True)):
        for security in ("tls", "starttls"):
            server = await MailServer(context, security).start()
            error = await refused(route(server.address("till", PASSWORD), authority.ca_file))
            assert "isn't trusted" in error.reason
            assert server.mails == []
            await server.stop()


async def test_nothing_falls_back_to_no_tls(plain: MailServer, authority: Authority) -> None:
    """A server that offers or gives none, or slips replies in before TLS, gets nothing."""
    asked = SmtpServer(host="127.0.0.1", port=plain.port, security="starttls")
    assert "offers no STARTTLS" in (await refused(route(asked))).reason
    wrapped = SmtpServer(host="127.0.0.1", port=plain.port, security="tls")
    assert "no TLS with" in (await refused(route(wrapped))).reason
    server = await MailServer(authority.server(), "starttls").start()
    server.replies["STARTTLS"].append("220 go on\r\n250-injected\r\n250 AUTH PLAIN")
    server.offers[-1] = "AUTH LOGIN"
    # A reply in the clear answers no question that is asked under TLS.
    await ended(smtp.send(route(server.address("till", PASSWORD), authority.ca_file), ENVELOPE))
    assert [taken.is_secure for taken in server.mails] == [True]
    await server.stop()


async def test_a_server_that_is_not_there() -> None:
    """No such name, nobody listening: each in words that say what to mend."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nobody = SmtpServer(host="127.0.0.1", port=port, security="none")
    assert "refuses connections" in (await refused(route(nobody))).reason
    unknown = SmtpServer(host="mail.invalid", port=25, security="none")
    assert "mail.invalid:25" in (await refused(route(unknown))).reason


async def test_a_hostile_server_holds_up_no_other_mail(plain: MailServer) -> None:
    """While one says nothing, another takes a mail."""
    silent = await MailServer().start()
    silent.silent_at = "greeting"
    waiting = asyncio.create_task(smtp.send(route(silent.address()), ENVELOPE))
    await ended(smtp.send(route(plain.address()), ENVELOPE))
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert len(plain.mails) == 1
    await silent.stop()
