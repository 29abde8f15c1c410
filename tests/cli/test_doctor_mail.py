"""`tillhouse doctor` logs in at the mail server, and sends a test mail when it is told to."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.providers.mail.server import MailServer
from tests.webhooks.tls import Authority

FROM = "till@shop.example"
PASSWORD = "hush%20hush"


@pytest.fixture
async def mail_server(tmp_path: Path) -> AsyncIterator[MailServer]:
    """A server with a certificate."""
    server = MailServer(Authority(tmp_path).server(), "tls")
    await server.start()
    yield server
    await server.stop()


async def told(command: Command, *args: str, code: int = 0) -> tuple[list[str], list[str]]:
    """The states and messages about mail, told by a process beside this loop."""
    report: dict[str, Any] = await asyncio.to_thread(command.json, "doctor", *args, code=code)
    found = [one for one in report["findings"] if one["about"] == "mail"]
    assert "hush" not in str(report)
    return [one["state"] for one in found], [one["message"] for one in found]


async def test_it_tells_whether_mail_goes_out(tmp_path: Path, mail_server: MailServer) -> None:
    """No server, a server that takes mail, a test mail, and what is wrong with each."""
    states, messages = await told(Command(tmp_path))
    assert states == ["fine"]
    assert messages[0].startswith("No mail server is set: notices are only in the audit log.")
    assert (await told(Command(tmp_path), "--mail", "ada@example.com", code=1))[0] == ["broken"]
    states, messages = await told(Command(tmp_path, MAIL_FROM=FROM), code=1)
    assert states == ["broken"]
    assert "TILLHOUSE_MAIL_FROM is set, but no mail server (TILLHOUSE_SMTP_URL)" in messages[0]
    url = f"smtps://till:{PASSWORD}@127.0.0.1:{mail_server.port}"
    ca_file = str(tmp_path / "ca.pem")
    command = Command(tmp_path, SMTP_URL=url, MAIL_FROM=FROM, WEBHOOK_CA_FILE=ca_file)
    assert (await told(command))[0] == ["fine"]
    assert mail_server.mails == []
    states, messages = await told(command, "--mail", "ada@example.com")
    assert states == ["fine"]
    assert "has taken the test mail to ada@example.com" in messages[0]
    [taken] = mail_server.mails
    assert (taken.sender, taken.recipient, taken.account) == (FROM, "ada@example.com",
        "till:hush hush")  # fmt: skip
    mail_server.replies["AUTH"].append("535 5.7.8 hush hush is wrong")
    states, messages = await told(command, code=1)
    assert (states, messages) == (
        ["broken"], ["No mail goes out: the mail server refuses the account: 535 5.7.8."]
    )  # fmt: skip
    assert (await told(command, "--mail", "ada", code=1))[0] == ["broken"]


async def test_it_tells_what_is_wrong(tmp_path: Path, mail_server: MailServer) -> None:
    """A certificate that nobody vouches for, a host that isn't there."""
    url = f"smtps://127.0.0.1:{mail_server.port}"
    _, messages = await told(Command(tmp_path, SMTP_URL=url, MAIL_FROM=FROM), code=1)
    assert "isn't trusted" in messages[0]
    away = Command(tmp_path, SMTP_URL="smtps://mail.invalid", MAIL_FROM=FROM)
    _, messages = await told(away, code=1)
    assert messages[0].startswith("No mail goes out: mail.invalid:465 can't be reached")
