"""Accounts to pay into, payments that arrived, and how they are shown: values."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.access.callers import Book
from tillhouse.kit.ids import BusinessId
from tillhouse.providers.payments.provider import PART, Opens, PaymentProvider, ProviderSecrets

AccountStatus = Literal["opening", "open", "failed", "closed"]
PayinStatus = Literal["received", "reversed"]


class Origin(msgspec.Struct, frozen=True):
    """The book that a provider tells something to."""

    business_id: BusinessId
    book: Book
    provider: str


class ProviderConnection(msgspec.Struct, frozen=True):
    """A provider with the credentials of one book."""

    provider: PaymentProvider
    credentials: ProviderSecrets
    # The marks of its account, of which a call leaves the first.
    marks: Sequence[bytes]


class Collects(msgspec.Struct, frozen=True, kw_only=True):
    """The abilities that an account asks of its provider."""

    currency: str
    # An account number or a page; None: whichever it opens.
    opens: Opens | None = None
    # None: not known yet.
    amount: Decimal | None = None
    has_email: bool = True


class AccountTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The thing that is paid for, by type and id: `payment_link` or `order`."""

    book: Book
    type: str
    id: UUID
    amount: Decimal
    currency: str
    # The payer's, where it is known.
    email: str | None
    name: str
    description: str
    expires_at: datetime | None = None
    return_url: str | None = None
    # The order that it is for, in the end.
    order_id: UUID | None = None

    @property
    def opens(self) -> Opens | None:
        """Without a place to lead back to, no page of a provider's can be opened."""
        return None if self.return_url else "account"

    @property
    def collects(self) -> Collects:
        """The abilities that its provider needs."""
        return Collects(
            currency=self.currency,
            opens=self.opens,
            amount=self.amount,
            has_email=self.email is not None,
        )


class VirtualAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An account, or a page of a provider's, that one target is paid into."""

    book_id: UUID
    id: UUID
    target_type: str
    target_id: UUID
    provider: str
    reference: str
    status: AccountStatus
    amount: Decimal
    currency: str
    provider_reference: str | None
    account_number: str | None
    bank_name: str | None
    account_name: str | None
    url: str | None
    error: str | None
    expires_at: datetime | None
    asked_at: datetime | None
    created_at: datetime
    updated_at: datetime

    def is_open(self, now: datetime) -> bool:
        """Whether it can be paid into."""
        return self.status == "open" and (self.expires_at is None or self.expires_at > now)


class Payin(msgspec.Struct, frozen=True, kw_only=True):
    """Money that arrived: one payment of a provider's."""

    book_id: UUID
    id: UUID
    provider: str
    provider_transaction_id: str
    status: PayinStatus
    virtual_account_id: UUID | None
    target_type: str | None
    target_id: UUID | None
    amount: Decimal
    fee: Decimal
    currency: str
    payer_name: str | None
    paid_at: datetime
    applied_at: datetime | None
    reversed_at: datetime | None
    reversal_applied_at: datetime | None
    # By refunds of ours that are on their way, or are back.
    given_back: Decimal
    # By the provider itself: the told sum, the booked part of it, and the fee that came back.
    returned_told: Decimal
    returned_amount: Decimal
    returned_fee: Decimal
    # The part of it that the target has given back.
    returned_applied: Decimal
    # The part that disputes hold.
    disputed_amount: Decimal
    conditions: list[str]
    transaction_id: UUID | None
    created_at: datetime
    updated_at: datetime

    @property
    def transaction(self) -> str:
        """The provider's transaction that it is, or is a part of."""
        return self.provider_transaction_id.partition(PART)[0]

    @property
    def net(self) -> Decimal:
        """The part that reaches the wallet."""
        return self.amount - self.fee

    @property
    def is_to_apply(self) -> bool:
        """Whether its target has yet to take it."""
        return self.applied_at is None

    @property
    def is_to_take_back(self) -> bool:
        """Whether its target took it, and has yet to learn that it went back."""
        return self.to_take_back > 0

    @property
    def to_take_back(self) -> Decimal:
        """The part that its target has yet to give back."""
        return self.returned_amount - self.returned_applied

    @property
    def room(self) -> Decimal:
        """The part that refunds of ours leave for the provider to take back."""
        return max(self.amount - self.given_back, Decimal(0))

    @property
    def is_gone(self) -> bool:
        """Whether the provider left nothing of it."""
        return self.status == "reversed" or self.returned_amount >= self.amount


class ProviderMoney(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A payment by a payment provider, as the provider tells it."""

    provider: Annotated[str, Meta(examples=["stripe"])]
    """The payment provider that the payment came by."""
    currency: str
    gross: Decimal
    """The amount that was paid, before the provider's fee."""
    fee: Decimal
    """The fee that the provider tells of; 0 where it tells of none."""
    net: Decimal
    """`gross` less `fee`: the amount that reached the wallet."""
    fee_returned: Decimal
    """The part of `fee` that the provider tells it gave back when money went back; 0: it keeps
    it."""
