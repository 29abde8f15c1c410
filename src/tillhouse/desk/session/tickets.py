"""Tickets: a password that was right, sealed for the step in which the code is asked for.

So nothing has to be typed twice, no page holds the password, and this server keeps nothing.
"""

import base64
import binascii
from datetime import datetime, timedelta

import msgspec

from tillhouse.access.vault import Vault
from tillhouse.kit.secrets import SealBroken, open_sealed, seal

_LASTS = timedelta(minutes=10)
_PURPOSE = "tickets of signing in"


class Ticket(msgspec.Struct, frozen=True):
    """A password that was right a moment ago."""

    email: str
    password: str
    good_until: datetime


def write(vault: Vault, email: str, password: str, now: datetime) -> str:
    """A ticket, as a form carries it."""
    raw = msgspec.json.encode(Ticket(email, password, now + _LASTS))
    return base64.urlsafe_b64encode(seal(vault.derive(_PURPOSE), raw, b"")).decode()


def read(vault: Vault, text: str, now: datetime) -> Ticket | None:
    """The ticket of a form; None when it is none of ours, or too old."""
    try:
        box = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        raw = open_sealed(vault.derive(_PURPOSE), box, b"")
    except (ValueError, binascii.Error, SealBroken):
        return None
    ticket = msgspec.json.decode(raw, type=Ticket)
    return ticket if now < ticket.good_until else None
