"""The address of a mail server, as a setting spells it.

The scheme says how it is spoken to: `smtps` is TLS from the first byte, `smtp` is TLS by STARTTLS
or nothing, `smtp+plain` is no TLS at all, which nothing else leads to.
"""

import unicodedata
from typing import Literal
from urllib.parse import unquote, urlsplit

import msgspec

Security = Literal["tls", "starttls", "none"]

_SCHEMES: dict[str, tuple[Security, int]] = {
    "smtps": ("tls", 465),
    "smtp": ("starttls", 587),
    "smtp+plain": ("none", 25),
}
_FORM = "an address such as smtps://user:password@mail.example.com"


class SmtpServer(msgspec.Struct, frozen=True, kw_only=True):
    """A mail server, and the account that it takes mail from."""

    host: str
    port: int
    security: Security
    user: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        """Without the password, wherever it is printed."""
        return f"SmtpServer({self.host}:{self.port}, {self.security})"


def parse_smtp_url(text: str) -> SmtpServer:
    """The server of an address, or ValueError, whose sentence repeats nothing of the address."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(
            f"must be {_FORM}; write : / ? # @ in a password as %3A and so on"
        ) from None
    if parts.scheme not in _SCHEMES:
        raise ValueError(f"must be {_FORM}, and begin with smtps://, smtp:// or smtp+plain://")
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment or port == 0:
        raise ValueError(f"must be {_FORM} and no more; write / ? # in a password as %2F %3F %23")
    account = (parts.username, parts.password)
    if account != (None, None) and not all(account):
        raise ValueError("must have both a user and a password, or neither")
    security, usual = _SCHEMES[parts.scheme]
    server = SmtpServer(
        host=parts.hostname,
        port=usual if port is None else port,
        security=security,
        user=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
    )
    if any(unicodedata.category(sign) == "Cc" for sign in f"{server.user}{server.password}"):
        raise ValueError("must have no control characters in user and password")
    return server
