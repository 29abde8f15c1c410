"""Paystack's hooks: the subject of each, never an amount."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import (
    Heard,
    HeardPayment,
    HeardPayout,
    HeardRefund,
)
from tillhouse.providers.payments.skeleton import Hook


class _Referred(msgspec.Struct):
    reference: str | None = None


class _About(msgspec.Struct):
    reference: str | None = None
    transaction_reference: str | None = None
    # Of a dispute.
    transaction: _Referred | int | str | None = None
    id: int | str | None = None


class PaystackHook(Hook):
    """A hook of Paystack's."""

    event: str
    data: _About

    def heard(self) -> Sequence[Heard]:
        """The things that it tells of; none where it tells of nothing known."""
        kind, _, _ = self.event.partition(".")
        told = self.data
        if self.event == "charge.success" and told.reference:
            return [HeardPayment(told.reference, str(told.id) if told.id else None)]
        if self.event.startswith("charge.dispute.") and isinstance(told.transaction, _Referred):
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
