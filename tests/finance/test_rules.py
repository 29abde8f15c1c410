"""Closings and expenses by the pure rules: which days may be closed, and what pays for what."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tillhouse.finance.closing import rules
from tillhouse.finance.closing.rules import NewClosing
from tillhouse.finance.expenses import rules as expenses
from tillhouse.finance.expenses.types import ExpenseMethod, NewExpense, Spent
from tillhouse.kit.values import Day
from tillhouse.ledger.rules import AccountKind

TODAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_a_day_is_closed_when_it_is_over() -> None:
    """Yesterday may be closed; today may not, though it is no future day."""
    assert rules.closing_faults(NewClosing(closed_until=Day("2026-03-01")), TODAY) == []
    faults = rules.closing_faults(NewClosing(closed_until=Day("2026-03-02")), TODAY)
    assert [one.field for one in faults] == ["closed_until"]


def test_the_same_day_reopens_nothing() -> None:
    """An earlier end or none reopens; a book that was open has nothing to reopen."""
    assert not rules.reopens(NOON, NOON)
    assert rules.reopens(NOON, NOON - timedelta(milliseconds=1))
    assert rules.reopens(NOON, None)
    assert not rules.reopens(None, NOON)


@pytest.mark.parametrize(
    ("method", "account"),
    [
        ("cash", "cash"),
        ("transfer", "bank"),
        ("pos", "pos"),
        ("card", "bank"),
        ("other", "other_tender"),
    ],
)
def test_an_expense_leaves_the_account_of_its_method(
    method: ExpenseMethod, account: AccountKind
) -> None:
    """A card of the business is paid by its bank; `pos` is money that customers paid by card."""
    new = NewExpense(amount=Spent(30), method=method)
    [paid] = expenses.postings(new).transfers
    assert (paid.debit.kind, paid.credit.kind, paid.amount) == ("expenses", account, 30)
