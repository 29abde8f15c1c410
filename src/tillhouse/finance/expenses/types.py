"""Requests and answers of the routes of expenses."""

from decimal import Decimal
from typing import Annotated, Literal, cast
from uuid import UUID

import msgspec
from msgspec import Meta

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import StoreId
from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.page import Paged
from tillhouse.kit.text import Paragraphs
from tillhouse.kit.values import DateOrTimestamp, Label, Moment
from tillhouse.orders.types import Person

# The wallet is missing: money leaves it by withdrawals alone.
ExpenseMethod = Literal["cash", "transfer", "pos", "card", "other"]


class Spent(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=AMOUNT_LIMIT,
    wrong="must be more than 0",
    example=12500,
):
    """An amount above 0."""

    __slots__ = ()


class ExpensePurpose(Paragraphs, longest=500, example="Diesel for the generator, two drums"):
    """The purpose of an expense, in the words of the business."""


class NewExpense(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Money that the business spent."""

    amount: Spent
    """The amount, in the currency of the business."""
    category: Label = cast("Label", "Other")
    """A heading of the business's own, such as `Rent`."""
    description: ExpensePurpose | None = None
    """The purpose, in the words of the business."""
    method: ExpenseMethod = "cash"
    """How it was paid: where the money is less now."""
    store_id: StoreId | None = None
    occurred_at: Moment | None = None
    """When it was spent; left out: now."""


class ExpenseFilter(Paged, rename={"since": "from", "until": "to"}):
    """Which expenses, and which page of them."""

    store_id: StoreId | None = None
    """Only expenses of this store."""
    since: DateOrTimestamp | None = None
    """From this day or moment on; a day is the business's, or the store's with `store_id`."""
    until: DateOrTimestamp | None = None
    """Up to this day, all of it, or up to this moment; days as in `from`."""


class Expense(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Money that the business spent."""

    id: UUID
    amount: Decimal
    """The amount, in the currency beside it."""
    currency: str
    category: Annotated[str, Meta(examples=["Fuel"])]
    """A heading of the business's own, such as `Rent`."""
    description: str | None
    """The purpose, in the words of the business."""
    method: ExpenseMethod
    """How it was paid."""
    store_id: UUID | None
    transaction_id: UUID
    """The transaction of this expense, as the list of transactions shows it."""
    recorded_by: Person
    """The person or key that recorded it."""
    occurred_at: Timestamp
    created_at: Timestamp
