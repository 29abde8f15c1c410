"""A refund through a provider as its jobs see it, whatever it gives back."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.access.callers import Book
from tillhouse.kit.ids import BookId, BookKey, BusinessId, HoldId
from tillhouse.orders.money_types import PaymentState
from tillhouse.payins.types import Origin
from tillhouse.providers.payments.provider import PART


class SentRefund(msgspec.Struct, frozen=True, kw_only=True):
    """A refund that goes back, locked, with the payment that it gives back."""

    book_id: BookId
    id: UUID
    status: PaymentState
    amount: Decimal
    reason: str | None
    provider: str
    provider_refund_id: str | None
    # None: a withdrawal pays it out, which has the hold.
    hold_id: HoldId | None
    credit_hold_id: HoldId | None
    asked_at: datetime | None
    asked_with: bytes | None
    is_unclear: bool
    created_at: datetime
    shortfall: Decimal
    # The part of its shortfall that the provider had taken back by itself before.
    taken_before: Decimal
    transaction_id: UUID | None
    payin_id: UUID
    currency: str
    provider_transaction_id: str
    payment_reference: str | None
    business_id: BusinessId
    environment: str

    @property
    def key(self) -> BookKey:
        """The key of its row."""
        return BookKey(self.book_id, self.id)

    @property
    def book(self) -> Book:
        """The book that it is in."""
        return Book(self.book_id, "live" if self.environment == "live" else "test")

    @property
    def transaction(self) -> str:
        """The provider's own name of the payment, of which this one may be a part."""
        return self.provider_transaction_id.partition(PART)[0]

    @property
    def origin(self) -> Origin:
        """The provider that gives it back, in its book."""
        return Origin(self.business_id, self.book, self.provider)
