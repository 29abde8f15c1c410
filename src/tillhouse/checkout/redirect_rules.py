"""The address to which checkout sends the payer back: its rules, and the added parameters."""

import re
from typing import Literal
from urllib.parse import quote, unquote_plus, urlsplit

from tillhouse.kit.secrets import Environment
from tillhouse.outgoing.rules import URL, URL_LENGTH_MAX

PaymentResult = Literal["successful", "pending", "failed", "cancelled", "expired"]

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\]")
_OURS = ("payment_status", "payment_reference")


def clean_redirect(text: str) -> str:
    """The address as it is kept, or ValueError: an absolute web address without credentials."""
    if len(text) > URL_LENGTH_MAX:
        raise ValueError(f"must have at most {URL_LENGTH_MAX} characters")
    if not URL.fullmatch(text):
        raise ValueError("must be a web address in ASCII (spaces as %20, hosts in punycode)")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("must have a valid host and port") from None
    if parts.scheme not in ("https", "http"):
        raise ValueError("must begin with https://")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or password")
    host, colon, digits = parts.netloc.partition("]:" if "[" in parts.netloc else ":")
    host += "]" if colon == "]:" else ""
    is_port = not colon or (digits.isascii() and digits.isdigit())
    if port == 0 or not is_port or not _HOST.fullmatch(host.lower()):
        raise ValueError("must have a valid host and port")
    return text


def redirect_fault(url: str, environment: Environment) -> str | None:
    """Why an address of the right form isn't taken in this environment."""
    if environment == "live" and not url.lower().startswith("https://"):
        return "must begin with https:// in live; http:// is for tests"
    return None


def origin_of(url: str) -> str:
    """The scheme, host and port of a kept address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def with_result(url: str, result: PaymentResult, reference: str) -> str:
    """The address with both parameters set; everything else stays as it was, byte by byte."""
    head, hash_, fragment = url.partition("#")
    path, _, query = head.partition("?")
    values = dict(zip(_OURS, (result, reference), strict=True))
    kept: list[str] = []
    for part in query.split("&") if query else ():
        name = _name(part)
        if name not in _OURS:
            kept.append(part)
        elif name in values:
            kept.append(f"{name}={quote(values.pop(name), safe='')}")
    kept += [f"{name}={quote(value, safe='')}" for name, value in values.items()]
    return f"{path}?{'&'.join(kept)}{hash_}{fragment}"


def _name(part: str) -> str:
    """The parameter that a server may take it for: some fold case, dots, blanks and brackets."""
    name = unquote_plus(part.partition("=")[0], errors="replace")
    return re.sub(r"[. \x00]", "_", name.partition("[")[0].strip()).lower()
