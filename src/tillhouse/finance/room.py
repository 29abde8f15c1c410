"""The summary, transactions and expenses of a business: what this room brings along."""

from tillhouse.access.scopes import Scope
from tillhouse.finance.expenses.proof import EXPENSE_SOURCE
from tillhouse.finance.routes import ROUTES
from tillhouse.finance.transactions.receipts.pages import pages
from tillhouse.http.route import Group
from tillhouse.room import Room

ROOM = Room(
    name="finance",
    routes=ROUTES,
    groups=(
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
    ),
    kept_tables=("expenses",),
    sources=(EXPENSE_SOURCE,),
)
