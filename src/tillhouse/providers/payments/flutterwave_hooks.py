"""Flutterwave's hooks: the id or the reference to look up."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import Heard, HeardPayment, HeardPayout
from tillhouse.providers.payments.skeleton import Hook


class _About(msgspec.Struct):
    id: int | str | None = None
    tx_ref: str | None = None
    reference: str | None = None


class FlutterwaveHook(Hook):
    """A hook of Flutterwave's."""

    event: str
    data: _About

    def heard(self) -> Sequence[Heard]:
        """The things that it tells of; none where it tells of nothing known."""
        told = self.data
        if self.event == "charge.completed" and (told.id or told.tx_ref):
            return [HeardPayment(told.tx_ref, str(told.id) if told.id else None)]
        if self.event == "transfer.completed" and told.reference:
            return [HeardPayout(told.reference)]
        return []
