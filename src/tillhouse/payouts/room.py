"""The wallet, and what is paid out of it: announced; operations come later."""

from tillhouse.access.scopes import Scope
from tillhouse.payouts.events import EVENTS
from tillhouse.room import Room

ROOM = Room(
    name="payouts",
    events=EVENTS,
    scopes=(
        Scope("wallet:read", "Read the wallet", "Payouts", "medium"),
        Scope("payouts:read", "Read payout accounts", "Payouts", "medium"),
        Scope(
            "payouts:write", "Change payout accounts", "Payouts", "critical", is_finance_write=True
        ),
        Scope(
            "wallet:withdrawals:create",
            "Withdraw money from the wallet",
            "Payouts",
            "critical",
            is_finance_write=True,
            needs_withdrawal_policy=True,
        ),
    ),
)
