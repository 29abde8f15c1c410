"""The request and the answer of the route of search."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.text import OneLine

OF_EACH_MAX = 10

Kind = Literal[
    "order", "customer", "product", "payment_link", "transaction", "table", "staff"
]  # fmt: skip


class Sought(OneLine, shortest=2, longest=60, example="Ada"):
    """Words, a code, a phone number, an e-mail address or an id."""

    @classmethod
    def check(cls, value: str) -> str:
        """Counted as it came and without the blanks around it."""
        cls.bound(value)
        return super().check(value)


class Search(msgspec.Struct):
    """Words to find things by."""

    q: Sought | None = None
    """A code, a reference, an id, a number or an address, whole, or how a name begins; without
    it nothing is found."""
    limit: Annotated[int, Meta(ge=1, le=OF_EACH_MAX)] = 5
    """The most of each kind."""


class Found(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A thing that a search found."""

    kind: Kind
    """The list that it is of."""
    id: UUID
    name: str
    """Its name; of an order the customer's, else its lines, and of a transaction its type."""
    more: str | None
    """The short code, phone number, SKU, reference, area or role beside it."""
    amount: Decimal | None
    """The amount of an order, a link or a transaction."""
    currency: str | None
    is_exact: bool
    """Whether it has just this code, reference, number, address or id."""
