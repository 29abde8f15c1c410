"""Monnify's hooks: the references to look up."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import (
    Heard,
    HeardPayment,
    HeardPayout,
    HeardRefund,
)


class _About(msgspec.Struct, rename="camel"):
    transaction_reference: str | None = None
    payment_reference: str | None = None
    reference: str | None = None
    refund_reference: str | None = None


class _Hook(msgspec.Struct, rename="camel"):
    event_type: str
    event_data: _About


def heard(body: bytes) -> Sequence[Heard]:
    """The things that a hook tells of; none of a body that tells of nothing known."""
    try:
        hook = msgspec.json.decode(body, type=_Hook)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    told = hook.event_data
    if hook.event_type == "SUCCESSFUL_TRANSACTION":
        of = told.transaction_reference
        has_name = bool(of or told.payment_reference)
        return (
            [HeardPayment(told.payment_reference, None, provider_reference=of)] if has_name else []
        )
    if hook.event_type.endswith("_DISBURSEMENT") and told.reference:
        return [HeardPayout(told.reference)]
    if hook.event_type.endswith("_REFUND") and told.refund_reference:
        of = told.transaction_reference
        return [HeardRefund(told.refund_reference, told.refund_reference, of)]
    return []
