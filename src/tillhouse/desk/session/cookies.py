"""The cookies of a browser: which session it has, and what it shows."""

from datetime import timedelta
from typing import Literal

import msgspec

from tillhouse.http.problems import Headers
from tillhouse.http.raw import RawRequest
from tillhouse.kit.secrets import Environment

Theme = Literal["light", "dark"]
_CHOICES_LAST = timedelta(days=400)
_VALUE_LENGTH_MAX = 100


class Cookies(msgspec.Struct, frozen=True):
    """The cookies of one request, by their short names."""

    session: str | None
    mode: Environment | None
    theme: Theme | None
    store: str | None
    # Whether single letters are keys (WCAG 2.1.4: they can be switched off).
    has_keys: bool


def read(request: RawRequest, *, is_secure: bool) -> Cookies:
    """Those of a request; what can't be one of ours is none."""
    given: dict[str, str] = {}
    for pair in (request.header("cookie") or "").split(";")[:200]:
        name, _, value = pair.strip().partition("=")
        if len(value) <= _VALUE_LENGTH_MAX:
            # Of a name that comes twice, none is trusted: another host set one of them.
            given[name] = "" if name in given else value
    session = given.get(_name("", is_secure=is_secure))
    mode = given.get(_name("mode", is_secure=is_secure))
    theme = given.get(_name("theme", is_secure=is_secure))
    return Cookies(
        session or None,
        mode if mode in ("test", "live") else None,
        theme if theme in ("light", "dark") else None,
        given.get(_name("store", is_secure=is_secure)) or None,
        given.get(_name("keys", is_secure=is_secure)) != "off",
    )


def session_cookie(secret: str, *, is_secure: bool) -> str:
    """The session of a browser: it ends with the browser, and here when it wasn't used."""
    return _cookie("", secret, None, is_secure=is_secure)


def choice(name: Literal["mode", "theme", "store", "keys"], value: str, *, is_secure: bool) -> str:
    """A choice of the person in this browser; an empty one is forgotten."""
    lasts = _CHOICES_LAST if value else timedelta()
    return _cookie(name, value, lasts, is_secure=is_secure)


def forgotten(*, is_secure: bool) -> str:
    """The end of a session; the choices of this browser stay."""
    return _cookie("", "", timedelta(), is_secure=is_secure)


def headers(cookies: list[str]) -> Headers:
    """The headers that set these."""
    return [(b"set-cookie", cookie.encode("ascii")) for cookie in cookies]


def _name(name: str, *, is_secure: bool) -> str:
    # A browser takes the prefix from this host alone, and only with Secure: not on plain HTTP.
    return ("__Host-" if is_secure else "") + "tillhouse" + (f"-{name}" if name else "")


def _cookie(name: str, value: str, lasts: timedelta | None, *, is_secure: bool) -> str:
    parts = [f"{_name(name, is_secure=is_secure)}={value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if lasts is not None:
        parts.append(f"Max-Age={int(lasts.total_seconds())}")
    if is_secure:
        parts.append("Secure")
    return "; ".join(parts)
