"""Transfers, transactions and debts: what this room brings along."""

from tillhouse.db.constraints import not_allowed
from tillhouse.ledger.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="ledger",
    routes=ROUTES,
    tables=(
        "debt_tallies",
        "debts",
        "ledger_accounts",
        "ledger_balances",
        "ledger_transfers",
        "transactions",
    ),
    refusals=(
        not_allowed(
            "ledger_balances_not_below_zero",
            "The customer has spent the credit that this would take back: record what they pay, "
            "or leave the amounts as they are.",
        ),
    ),
    redrawn=("transactions_reference_key",),
)
