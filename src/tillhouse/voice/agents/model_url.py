"""Addresses of servers of models: pure decisions about their form, and where they may lead."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from tillhouse.kit.network import Address, Network, contains, literal_of
from tillhouse.kit.targets import is_forbidden
from tillhouse.outgoing.rules import clean_url, host_of, is_local

_HTTP, _HTTPS = "http://", "https://"
_INWARDS = (
    "must not lead to a private, local or reserved address; "
    "the operator allows models of your own by TILLHOUSE_MODEL_ALLOW_TARGETS"
)
_SCHEME = "must begin with https:// (http:// only at an address of TILLHOUSE_MODEL_ALLOW_TARGETS)"


def clean_model_url(text: str) -> str:
    """The address as it is kept, or ValueError: a plain host, no credentials."""
    for scheme in (_HTTPS, _HTTP):
        if text[: len(scheme)].lower() == scheme:
            # The same rules for both, but for the scheme.
            return scheme + clean_url(_HTTPS + text[len(scheme) :])[len(_HTTPS) :]
    raise ValueError(_SCHEME)


def target_fault(
    url: str, allowed: Sequence[Network], answers: Sequence[Address] | None = None
) -> str | None:
    """The reason why no model may be asked there; None when it may.

    `answers` are the addresses of the name, if it was looked up.
    """
    host = host_of(url)
    literal = literal_of(host)
    if urlsplit(url).scheme == "http" and (literal is None or not contains(allowed, literal)):
        return _SCHEME
    found = [literal] if literal is not None else answers
    if found is None:
        return None
    leads_inwards = any(is_forbidden(address, allowed) for address in found)
    # A name that nothing answers may be that of a model which isn't there yet, but no local one.
    return _INWARDS if leads_inwards or (not found and is_local(host.rstrip("."))) else None
