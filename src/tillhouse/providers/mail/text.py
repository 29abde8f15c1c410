"""The form of a mail: plain text, headers that no name can break. Pure."""

from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

import msgspec

from tillhouse.kit.text import one_line

# Every line is ASCII, whatever the text is in: no server has to offer more.
_POLICY = SMTP.clone(cte_type="7bit")

_NAME_LENGTH_MAX = 60
# Anybody may register, name a business and have it mailed to others: a name is no place for links.
_LINKS = ("://", "www.")
_LEFT_OUT = "(left out: it holds a link)"


class Mail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail to one person."""

    # The same whenever it is sent again, so that a client of mail knows it.
    id: str
    sender: str
    recipient: str
    subject: str
    text: str
    at: datetime


def compose(mail: Mail) -> bytes:
    """The mail as it goes over the wire."""
    message = EmailMessage(policy=_POLICY)
    message["From"] = Address("Tillhouse", addr_spec=mail.sender)
    message["To"] = Address(addr_spec=mail.recipient)
    message["Subject"] = one_line(mail.subject)
    message["Date"] = format_datetime(mail.at)
    message["Message-ID"] = f"<{mail.id}@{mail.sender.rpartition('@')[2]}>"
    # Programs that send absence notices don't answer this.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text, cte="quoted-printable")
    return message.as_bytes()


def given_name(name: str) -> str:
    """A name that somebody chose, as it may stand in a mail: one line, and no link."""
    if any(link in name.casefold() for link in _LINKS):
        return _LEFT_OUT
    return one_line(name, _NAME_LENGTH_MAX)
