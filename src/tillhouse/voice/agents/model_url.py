"""Addresses of servers of models: pure decisions about their form, and where they may lead."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from tillhouse.kit.network import Network, contains
from tillhouse.kit.targets import is_forbidden
from tillhouse.webhooks.rules import clean_url, literal_of

_HTTP, _HTTPS = "http://", "https://"
_SCHEME = "must begin with https:// (http:// only at an address of TILLHOUSE_MODEL_ALLOW_TARGETS)"


def clean_model_url(text: str) -> str:
    """The address as it is kept, or ValueError: a plain host, no credentials."""
    for scheme in (_HTTPS, _HTTP):
        if text[: len(scheme)].lower() == scheme:
            # The same rules for both, but for the scheme.
            return scheme + clean_url(_HTTPS + text[len(scheme) :])[len(_HTTPS) :]
    raise ValueError(_SCHEME)


def target_fault(url: str, allowed: Sequence[Network]) -> str | None:
    """The reason why no model may be asked there; None when it may."""
    parts = urlsplit(url)
    literal = literal_of(parts.hostname or "")
    if parts.scheme == "http" and (literal is None or not contains(allowed, literal)):
        return _SCHEME
    if literal is not None and is_forbidden(literal, allowed):
        return "must not lead to a private, local or reserved address"
    return None
