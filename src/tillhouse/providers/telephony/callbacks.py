"""Callbacks of telephony providers: whether one is genuine, and which comes after which."""

from collections.abc import Mapping

import msgspec

from tillhouse.providers.telephony.provider import NumberAccount
from tillhouse.providers.telephony.twilio import hooks

# The header without which a callback can't be genuine.
SIGNATURES: Mapping[str, str] = {"twilio": hooks.SIGNATURE}
BODY_BYTES_MAX = hooks.BODY_BYTES_MAX


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """A request, as a provider sent it to a public address."""

    provider: str
    url: str
    # Names in lower case.
    headers: Mapping[str, str]
    body: bytes


def is_genuine(callback: Callback, account: NumberAccount) -> bool:
    """Whether it is signed by the account that the call was made with."""
    token = account.settings.get("auth_token", "")
    is_known = callback.provider in SIGNATURES and bool(token)
    return is_known and hooks.verify(callback.url, callback.headers, callback.body, token)


def number_of(body: bytes) -> int | None:
    """The number of a callback among those of its call; None where it tells nothing."""
    update = hooks.parse(body)
    return None if update is None else update.sequence
