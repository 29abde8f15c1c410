"""Requests and answers of the routes of payout accounts."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged
from tillhouse.kit.text import Coded

PayoutAccountStatus = Literal["checking", "active", "failed", "inactive"]


class BankCode(
    Coded,
    pattern="^[0-9A-Za-z-]{1,20}$",
    wrong="must be a code of GET /v1/payout-accounts/banks",
    example="058",
):
    """The code of a bank."""


class AccountNumber(
    Coded,
    pattern="^[0-9A-Za-z]{4,34}$",
    wrong="must have 4 to 34 letters and digits",
    example="0123456789",
):
    """The number of an account at its bank."""


class NewPayoutAccount(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A bank account that money can be paid out to."""

    bank_code: BankCode
    """The bank, as `GET /v1/payout-accounts/banks` lists it."""
    account_number: AccountNumber
    """The number of the account at that bank."""


class PayoutAccountFilter(Paged):
    """Which page of the payout accounts."""


class PayoutAccount(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A bank account that money can be paid out to."""

    id: UUID
    status: PayoutAccountStatus
    """Only an `active` account takes withdrawals."""
    bank_code: Annotated[str, Meta(examples=["058"])]
    """The code of the bank."""
    bank_name: Annotated[str, Meta(examples=["Guaranty Trust Bank"])] | None
    """The name of the bank."""
    account_number: Annotated[str, Meta(examples=["0123456789"])]
    account_name: Annotated[str, Meta(examples=["Ada Okafor"])] | None
    """The name that the account is held in, as the bank tells it; null until then."""
    currency: str
    provider: Annotated[str, Meta(examples=["sandbox"])]
    """The payment provider that pays out to it."""
    error: Annotated[str, Meta(examples=["no such account"])] | None
    """The reason for which it failed."""
    usable_at: Timestamp | None
    """From then on it takes withdrawals."""
    version: int
    """Rises with each change."""
    created_at: Timestamp
    updated_at: Timestamp


class ListedBank(msgspec.Struct, frozen=True):
    """A bank that money can be paid out to."""

    code: Annotated[str, Meta(examples=["058"])]
    """The `bank_code` of its accounts."""
    name: Annotated[str, Meta(examples=["Guaranty Trust Bank"])]
