"""Expenses: the faults of a new one, and its postings. Pure decisions."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from tillhouse.finance.expenses.types import ExpenseMethod, NewExpense
from tillhouse.kit.errors import FieldError, unknown
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import faults
from tillhouse.ledger.rules import Account, AccountKind, Movement, Postings, Transfer
from tillhouse.orders.recording.rules.sale import CLOCK_TOLERANCE

SOURCE = "expense"
"""The type of source that expenses are."""

_PAID_FROM: dict[ExpenseMethod, AccountKind] = {
    "cash": "cash",
    "transfer": "bank",
    "pos": "pos",
    "card": "bank",
    "other": "other_tender",
}


class ExpenseFacts(msgspec.Struct, frozen=True):
    """The currency of the book, and whether the store that was named is missing."""

    currency: str
    lacks_store: bool


def expense_faults(new: NewExpense, facts: ExpenseFacts, now: datetime) -> list[FieldError]:
    """Everything that is wrong with a new expense, beside its form."""
    return faults(
        lambda: _amount_errors(new, facts.currency),
        lambda: _time_errors(new, now),
        lambda: [unknown("store_id", "store")] if facts.lacks_store else [],
    )


def _amount_errors(new: NewExpense, currency: str) -> Iterator[FieldError]:
    if wrong := check_scale(new.amount, currency):
        yield FieldError("amount", wrong)


def _time_errors(new: NewExpense, now: datetime) -> Iterator[FieldError]:
    if new.occurred_at is not None and new.occurred_at.at > now + CLOCK_TOLERANCE:
        yield FieldError("occurred_at", "must not be in the future")


def happened_at(new: NewExpense, now: datetime) -> datetime:
    """When it was spent."""
    return min(new.occurred_at.at, now) if new.occurred_at else now


def postings(new: NewExpense) -> Postings:
    """The money that leaves one of the business's accounts, and how it is seen."""
    paid_from = Account(_PAID_FROM[new.method])
    transfer = Transfer(Account("expenses"), paid_from, new.amount, "expense")
    return Postings((transfer,), (Movement("expense", new.method, new.amount),))
