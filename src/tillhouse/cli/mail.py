"""The mail server as `tillhouse doctor` looks at it: whether it takes mail of ours."""

import asyncio
import secrets
from typing import Literal

from tillhouse.kit.clock import now
from tillhouse.kit.smtp import SmtpServer
from tillhouse.kit.text import email_address
from tillhouse.providers.mail import smtp
from tillhouse.providers.mail.text import Mail, compose
from tillhouse.settings import PREFIX, Settings

# Somebody waits for it.
_WITHIN_S = 20.0
_NONE = (
    f"No mail server is set: notices are only in the audit log. {PREFIX}SMTP_URL and "
    f"{PREFIX}MAIL_FROM set one."
)
_NO_SERVER = f"No mail goes out: {PREFIX}MAIL_FROM is set, but no mail server ({PREFIX}SMTP_URL)."
_TEXT = "This is a test mail: `tillhouse doctor --mail` sent it.\n"

Told = tuple[Literal["fine", "unsafe", "broken"], str]


def look_at_mail(settings: Settings, recipient: str | None) -> list[Told]:
    """Log in at the mail server and out again; with a recipient, leave a test mail there."""
    server, sender = settings.smtp_url, settings.mail_from
    if server is None and sender is not None:
        return [("broken", _NO_SERVER)]
    if server is None or sender is None:
        return [("fine" if recipient is None else "broken", _NONE)]
    route = smtp.SmtpRoute(server, settings.webhook_ca_file, _WITHIN_S)
    try:
        if recipient is None:
            asyncio.run(smtp.check(route, sender))
            done = "takes our connections; `tillhouse doctor --mail ADDRESS` sends a test mail"
        else:
            envelope = _test_mail(sender, email_address(recipient))
            asyncio.run(smtp.send(route, envelope))
            done = f"has taken the test mail to {envelope.recipient}"
    except ValueError as error:
        return [("broken", f"--mail {error}.")]
    except smtp.MailError as error:
        return [("broken", f"No mail goes out: {error.reason}.")]
    return [*_open(server), ("fine", f"{server.host}:{server.port} {done}.")]


def _test_mail(sender: str, recipient: str) -> smtp.Envelope:
    mail = Mail(
        id=f"test-{secrets.token_hex(8)}",
        sender=sender,
        recipient=recipient,
        subject="Test mail of Tillhouse",
        text=_TEXT,
        at=now(),
    )
    return smtp.Envelope(sender, recipient, compose(mail))


def _open(server: SmtpServer) -> list[Told]:
    if server.security != "none" or server.host in ("localhost", "127.0.0.1", "::1"):
        return []
    message = f"Mails, and the password, go to {server.host} without encryption: use smtps://."
    return [("unsafe", message)]
