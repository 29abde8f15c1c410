"""Transfers, transactions and debts: what this room brings along."""

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
)
