"""Monnify's hooks: the references to look up."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import (
    Heard,
    HeardPayment,
    HeardPayout,
    HeardRefund,
)
from tillhouse.providers.payments.skeleton import Hook


class _About(msgspec.Struct, rename="camel"):
    transaction_reference: str | None = None
    payment_reference: str | None = None
    reference: str | None = None
    refund_reference: str | None = None


class MonnifyHook(Hook, rename="camel"):
    """A hook of Monnify's."""

    event_type: str
    event_data: _About

    def heard(self) -> Sequence[Heard]:
        """The things that it tells of; none where it tells of nothing known."""
        told = self.event_data
        if self.event_type == "SUCCESSFUL_TRANSACTION":
            of = told.transaction_reference
            has_name = bool(of or told.payment_reference)
            return (
                [HeardPayment(told.payment_reference, None, provider_reference=of)]
                if has_name
                else []
            )
        if self.event_type.endswith("_DISBURSEMENT") and told.reference:
            return [HeardPayout(told.reference)]
        if self.event_type.endswith("_REFUND") and told.refund_reference:
            of = told.transaction_reference
            return [HeardRefund(told.refund_reference, told.refund_reference, of)]
        return []
