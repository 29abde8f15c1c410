"""Stripe's hooks: the ids to look up."""

from collections.abc import Sequence

import msgspec

from tillhouse.providers.payments.provider import Heard, HeardPayment, HeardRefund
from tillhouse.providers.payments.skeleton import Hook


class _Marked(msgspec.Struct):
    reference: str | None = None


class _Object(msgspec.Struct):
    id: str
    object: str
    client_reference_id: str | None = None
    payment_intent: str | None = None
    metadata: _Marked | None = None


class _Data(msgspec.Struct):
    object: _Object


class StripeHook(Hook):
    """A hook of Stripe's."""

    type: str
    data: _Data

    def heard(self) -> Sequence[Heard]:
        """The things that it tells of; none where it tells of nothing known."""
        told = self.data.object
        marked = told.metadata.reference if told.metadata is not None else None
        match told.object:
            case "checkout.session" if told.payment_intent:
                of = told.client_reference_id
                return [HeardPayment(of, told.payment_intent, provider_reference=told.id)]
            case "payment_intent":
                return [HeardPayment(marked, told.id)]
            case "charge" | "dispute" if told.payment_intent:
                return [HeardPayment(None, told.payment_intent, may_be_back=True)]
            case "refund":
                return [HeardRefund(marked, told.id, told.payment_intent)]
            case _:
                return []
