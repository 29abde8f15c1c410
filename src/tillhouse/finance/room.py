"""The summary, transactions and expenses of a business: the face of the room."""

from tillhouse.access.scopes import Scope
from tillhouse.db.constraints import not_allowed
from tillhouse.finance.expenses.proof import EXPENSE_SOURCE
from tillhouse.finance.routes import ROUTES
from tillhouse.finance.transactions.receipts.actions import pages
from tillhouse.http.route import Group
from tillhouse.room import Room

ROOM = Room(
    name="finance",
    routes=ROUTES,
    groups=(
        Group("/v1/ledger", "Ledger", "The books: accounts and entries.", "finance"),
        Group("/v1/finance", "Finance", "What came in, what went out, what is left.", "finance"),
    ),
    pages=pages,
    scopes=(
        Scope(
            "finance:read",
            "Read the summary and transactions",
            "Finance",
            "medium",
            grants=("finance:summary:read", "finance:transactions:read"),
        ),
        Scope("finance:summary:read", "Read the financial summary", "Finance", "medium"),
        Scope("finance:transactions:read", "Read transactions", "Finance", "medium"),
        Scope("finance:expenses:write", "Record expenses", "Finance", "medium"),
        Scope(
            "finance:closings:write",
            "Close the books up to a day",
            "Finance",
            "high",
            granters=("owner", "admin"),
        ),
    ),
    kept_tables=("expenses",),
    refusals=(
        not_allowed(
            "books_period_is_open",
            "The books are closed up to {closed_until}, and this is of {day}: a sale, a payment or "
            "an expense that is told late goes without its date and is of today, a sale of then is "
            "refunded instead, one that was cancelled stays as it is; or let the owner open the "
            "period again.",
            has_blanks=True,
        ),
    ),
    sources=(EXPENSE_SOURCE,),
)
