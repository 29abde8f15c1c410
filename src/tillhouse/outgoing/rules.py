"""Rules of addresses that servers of others are asked at: pure decisions."""

import re
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from tillhouse.kit.network import Address, Network, literal_of
from tillhouse.kit.targets import is_forbidden

URL_LENGTH_MAX = 2048
_LISTEN = "`tillhouse listen` delivers to a program on your machine"
URL = re.compile(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_LOCAL_NAMES = (
    "localhost", "local", "internal", "intranet", "lan", "localdomain", "home.arpa", "svc",
)  # fmt: skip


def clean_url(text: str) -> str:
    """The address as it is kept, or ValueError: HTTPS, a plain host, no credentials."""
    if len(text) > URL_LENGTH_MAX:
        raise ValueError(f"must have at most {URL_LENGTH_MAX} characters")
    if not URL.fullmatch(text):
        raise ValueError("must be an https:// address in ASCII (spaces as %20, hosts in punycode)")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("must be an https:// address with a valid host and port") from None
    if parts.scheme != "https":
        raise ValueError(f"must begin with https://; {_LISTEN}")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or password")
    if port == 0:
        raise ValueError("must have a port from 1 to 65535")
    _check_host(parts.hostname or "", is_bracketed="[" in parts.netloc)
    return parts._replace(fragment="").geturl()


def host_of(url: str) -> str:
    """The host of a cleaned address."""
    return urlsplit(url).hostname or ""


def check_target(host: str, answers: Sequence[Address], allowed: Sequence[Network]) -> str | None:
    """Why no webhook may go to this host; None when it may."""
    literal = literal_of(host)
    for address in [literal] if literal is not None else answers:
        if is_forbidden(address, allowed):
            return f"must not lead to a private, local or reserved address; {_LISTEN}"
    if literal is None and not answers and is_local(host.rstrip(".")):
        return f"must not be a local name; {_LISTEN}"
    return None


def is_local(name: str) -> bool:
    """Whether a name can't be one of the public internet."""
    return "." not in name or any(
        name == local or name.endswith("." + local) for local in _LOCAL_NAMES
    )


def _check_host(host: str, *, is_bracketed: bool) -> None:
    """A name, or an address in canonical spelling: `0x7f.1` and `2130706433` are neither."""
    if is_bracketed:
        if literal_of(host) is None:
            raise ValueError("must have a valid host")
        return
    if not _HOST.fullmatch(host) or len(host) > 253:
        raise ValueError("must have a valid host")
    # No top-level domain begins with a digit, so this is meant as an address.
    if host.rstrip(".").rpartition(".")[2][0].isdigit():
        try:
            ip_address(host)
        except ValueError:
            raise ValueError(
                "must have a valid host: write an IPv4 address as 203.0.113.7"
            ) from None
