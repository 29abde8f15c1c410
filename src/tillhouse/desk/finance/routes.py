"""The pages of finance, joined."""

from tillhouse.desk.finance import expenses, owed, summary, transactions
from tillhouse.desk.finance.operations import (
    LIST_DEBTS,
    LIST_DISPUTES,
    LIST_EXPENSES,
    LIST_TRANSACTIONS,
)
from tillhouse.desk.page import Goal, Live, PageRoute

_TRANSACTION = transactions.PATH + "/{transaction_id}"
_EXPENSE = expenses.PATH + "/{expense_id}"

_ROWS = ("list",)
_LIVE_TRANSACTIONS = Live(
    (LIST_TRANSACTIONS,), {"payment.": _ROWS, "order.": _ROWS, "wallet.": _ROWS}
)
# A dispute of an order's payment is told as a change of the order.
_LIVE_DISPUTES = Live((LIST_DISPUTES,), {"order.updated": _ROWS, "payment.disputed": _ROWS})
ROUTES = (
    PageRoute("GET", summary.PATH, summary.show_summary),
    PageRoute(
        "GET",
        transactions.PATH,
        transactions.show_list,
        live=_LIVE_TRANSACTIONS,
        goal=Goal("finance.part.transactions", (LIST_TRANSACTIONS,)),
    ),
    PageRoute("GET", _TRANSACTION, transactions.show_one),
    PageRoute("POST", f"{_TRANSACTION}/receipt", transactions.receipt),
    PageRoute(
        "POST", f"{_TRANSACTION}/requery", transactions.requery, refused=transactions.show_one
    ),
    PageRoute(
        "GET",
        expenses.PATH,
        expenses.show_list,
        goal=Goal("finance.part.expenses", (LIST_EXPENSES,)),
    ),
    PageRoute("POST", expenses.PATH, expenses.record, refused=expenses.show_list),
    PageRoute("GET", _EXPENSE, expenses.show_one),
    PageRoute("POST", f"{_EXPENSE}/delete", expenses.delete, refused=expenses.show_one),
    PageRoute("GET", owed.DEBTS, owed.show_debts, goal=Goal("finance.part.debts", (LIST_DEBTS,))),
    PageRoute("GET", owed.DEBTS + "/{debt_id}", owed.show_debt),
    PageRoute(
        "GET",
        owed.DISPUTES,
        owed.show_disputes,
        live=_LIVE_DISPUTES,
        goal=Goal("finance.part.disputes", (LIST_DISPUTES,)),
    ),
    PageRoute("GET", owed.DISPUTES + "/{dispute_id}", owed.show_dispute),
)
