"""Requests and answers of the routes of debts."""

from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged

DebtStatus = Literal["active", "paid", "voided", "removed"]


class DebtFilter(Paged):
    """Which debts, and which page of them."""

    status: DebtStatus | None = None
    """Only debts with this status."""
    customer_id: UUID | None = None
    order_id: UUID | None = None


class Debtor(msgspec.Struct, frozen=True, rename="camel"):
    """The customer who owes."""

    id: UUID
    name: str


class Debt(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The amount that a customer has yet to pay, or had, for an order."""

    id: UUID
    order_id: UUID
    """The order that is to be paid."""
    order_short_code: str
    customer: Debtor
    """The customer who owes."""
    status: DebtStatus
    balance: Decimal
    currency: str
    opened_at: Timestamp
    closed_at: Timestamp | None
    updated_at: Timestamp
