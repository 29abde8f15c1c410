"""The pages of finance, joined."""

from tillhouse.desk.finance import expenses, owed, summary, transactions
from tillhouse.desk.page import PageRoute

_TRANSACTION = transactions.PATH + "/{transaction_id}"
_EXPENSE = expenses.PATH + "/{expense_id}"

ROUTES = (
    PageRoute("GET", summary.PATH, summary.show_summary),
    PageRoute("GET", transactions.PATH, transactions.show_list),
    PageRoute("GET", _TRANSACTION, transactions.show_one),
    PageRoute("POST", f"{_TRANSACTION}/receipt", transactions.receipt),
    PageRoute("POST", f"{_TRANSACTION}/requery", transactions.requery),
    PageRoute("GET", expenses.PATH, expenses.show_list),
    PageRoute("POST", expenses.PATH, expenses.record),
    PageRoute("GET", _EXPENSE, expenses.show_one),
    PageRoute("POST", f"{_EXPENSE}/delete", expenses.delete),
    PageRoute("GET", owed.DEBTS, owed.show_debts),
    PageRoute("GET", owed.DEBTS + "/{debt_id}", owed.show_debt),
    PageRoute("GET", owed.DISPUTES, owed.show_disputes),
    PageRoute("GET", owed.DISPUTES + "/{dispute_id}", owed.show_dispute),
)
