"""The summary, transactions and expenses of a business: announced; operations come later."""

from tillhouse.access.scopes import Scope
from tillhouse.room import Room

ROOM = Room(
    name="finance",
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
)
