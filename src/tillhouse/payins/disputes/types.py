"""Disputes as they are kept and as they are shown."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import HoldId, OrderId
from tillhouse.kit.page import Paged
from tillhouse.providers.payments.provider import DisputeState


class DisputeFilter(Paged):
    """Which disputes, and which page of them."""

    status: Annotated[list[DisputeState], Meta(min_length=1)] | None = None
    """Only disputes with one of these statuses, split by commas."""
    order_id: OrderId | None = None
    """Only disputes of payments of this order."""
    reservation_id: UUID | None = None
    """Only disputes of payments of this stay."""


class Dispute(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A payment that the payer's bank wants back: a chargeback."""

    id: UUID
    status: DisputeState
    """`evidence_due` waits for your evidence at the provider; `opened` is being decided there."""
    amount: Decimal
    """The amount that is disputed, in the currency beside it."""
    taken_amount: Decimal
    """The part of it that the provider has taken and not given back, as it is booked."""
    fee: Decimal
    """The provider's fee for the dispute, as it tells it; 0 where it tells of none."""
    currency: str
    reason: Annotated[str, Meta(examples=["fraudulent"])] | None
    """The reason, in the provider's words."""
    evidence_due_by: Timestamp | None
    """The end of the time in which the provider takes evidence."""
    provider: Annotated[str, Meta(examples=["stripe"])]
    """The payment provider that the payment came by."""
    provider_dispute_id: Annotated[str, Meta(examples=["dp_1QZ8"])]
    """The name that the provider gave it."""
    provider_transaction_id: Annotated[str, Meta(examples=["pi_3QZ8"])]
    """The provider's name of the payment."""
    order_id: OrderId | None
    """The order that was paid; null: the payment was for no order."""
    order_short_code: Annotated[str, Meta(examples=["7KQ4M2XB"])] | None
    """Its code."""
    debt_id: UUID | None
    """The debt of that order, where the link was for the debt."""
    reservation_id: UUID | None
    """The stay that was paid; null: the payment was for no stay."""
    reservation_short_code: Annotated[str, Meta(examples=["7KQ4M2XB"])] | None
    """The code of that stay."""
    payment_link_id: UUID | None
    """The payment link that the payment came through; null: through none."""
    payment_amount: Decimal
    """The amount of the payment."""
    opened_at: Timestamp
    closed_at: Timestamp | None
    """When it was won or lost."""
    created_at: Timestamp
    updated_at: Timestamp


class DisputedCredit(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute that has taken money, or holds credit, locked."""

    id: UUID
    payin_id: UUID
    taken_amount: Decimal
    credit_hold_id: HoldId | None
    # How often it has held some.
    credit_holds: int


class DisputedStayCredit(DisputedCredit, frozen=True, kw_only=True):
    """A dispute of money of a stay, as one of the orders needs it that were paid by that money."""

    # The amount that it holds.
    held: Decimal
    # The part of the stay's money that the order was paid by.
    used: Decimal


class DisputeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute as it is kept."""

    id: UUID
    payin_id: UUID
    status: DisputeState
    amount: Decimal
    currency: str
    # The amount that the provider says it took, and the part that is booked.
    taken_told: Decimal
    taken_amount: Decimal
    fee: Decimal
    # The part of both that the wallet lacked.
    claimed: Decimal
    closed_at: datetime | None
    updated_at: datetime
