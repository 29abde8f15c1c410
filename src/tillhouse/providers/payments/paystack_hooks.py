"""Paystack's hooks: the subject of each, never an amount."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import (
    Heard,
    HeardPayment,
    HeardPayout,
    HeardRefund,
)


class _Referred(msgspec.Struct):
    reference: str | None = None


class _About(msgspec.Struct):
    reference: str | None = None
    transaction_reference: str | None = None
    # Of a dispute.
    transaction: _Referred | int | str | None = None
    id: int | str | None = None


class _Hook(msgspec.Struct):
    event: str
    data: _About


def heard(body: bytes) -> Sequence[Heard]:
    """The things that a hook tells of; none of a body that tells of nothing known."""
    try:
        hook = msgspec.json.decode(body, type=_Hook)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return []
    kind, _, _ = hook.event.partition(".")
    told = hook.data
    if hook.event == "charge.success" and told.reference:
        return [HeardPayment(told.reference, str(told.id) if told.id else None)]
    if hook.event.startswith("charge.dispute.") and isinstance(told.transaction, _Referred):
        of = told.transaction.reference
        return [HeardPayment(of, None, may_be_back=True)] if of else []
    if kind == "transfer" and told.reference:
        return [HeardPayout(told.reference)]
    if kind == "refund" and told.transaction_reference:
        of = told.transaction_reference
        # A refund by the dashboard is none of ours: the payment is looked at, too.
        back = HeardPayment(of, None, may_be_back=True)
        return [HeardRefund(None, None, payment_reference=of), back]
    return []
