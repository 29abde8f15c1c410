"""The answer of the route of a customer's credit."""

from decimal import Decimal
from uuid import UUID

import msgspec


class CustomerCredit(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The amount that a customer has to come."""

    customer_id: UUID
    currency: str
    credit_balance: Decimal
    """The credit of the customer, in the currency beside it."""
    held: Decimal
    """The part of it that is spoken for."""
    available: Decimal
    """The part of it that can be spent."""
