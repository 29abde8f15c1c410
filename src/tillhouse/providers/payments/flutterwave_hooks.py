"""Flutterwave's hooks: the id or the reference to look up."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import Heard, HeardPayment, HeardPayout


class _About(msgspec.Struct):
    id: int | str | None = None
    tx_ref: str | None = None
    reference: str | None = None


class _Hook(msgspec.Struct):
    event: str
    data: _About


def heard(body: bytes) -> Sequence[Heard]:
    """The things that a hook tells of; none of a body that tells of nothing known."""
    try:
        hook = msgspec.json.decode(body, type=_Hook)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    told = hook.data
    if hook.event == "charge.completed" and (told.id or told.tx_ref):
        return [HeardPayment(told.tx_ref, str(told.id) if told.id else None)]
    if hook.event == "transfer.completed" and told.reference:
        return [HeardPayout(told.reference)]
    return []
