"""The wallet, and the money paid out of it: the face of the room."""

from tillhouse.access.scopes import Scope
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.payouts.events import EVENTS
from tillhouse.payouts.jobs import kinds
from tillhouse.payouts.routes import ROUTES
from tillhouse.payouts.wallet.days import SUM_DAYS
from tillhouse.payouts.withdrawals.dues import COLLECTING
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE
from tillhouse.room import Room

ROOM = Room(
    name="payouts",
    routes=ROUTES,
    groups=(
        Group("/v1/wallet", "Wallet", "What is in the wallet, and what leaves it.", "wallet"),
        Group(
            "/v1/payout-accounts", "Wallet", "What is in the wallet, and what leaves it.", "wallet"
        ),
    ),
    refusals=(
        taken(
            "payout_accounts_once",
            "This account is among the payout accounts already: use that one.",
        ),
    ),
    jobs=kinds,
    sources=(WITHDRAWAL_SOURCE,),
    kept_tables=(
        "payout_accounts",
        "payout_controls",
        "wallet_days",
        "withdrawal_spends",
        "withdrawals",
    ),
    chores=lambda _services: (SUM_DAYS, COLLECTING),
    events=EVENTS,
    scopes=(
        Scope("wallet:read", "Read the wallet", "Payouts", "medium"),
        Scope("payouts:read", "Read payout accounts", "Payouts", "medium"),
        Scope(
            "payouts:write",
            "Change payout accounts",
            "Payouts",
            "critical",
            granters=("owner", "admin"),
            is_finance_write=True,
        ),
        Scope(
            "wallet:withdrawals:create",
            "Withdraw money from the wallet",
            "Payouts",
            "critical",
            granters=("owner",),
            is_finance_write=True,
            needs_withdrawal_policy=True,
        ),
    ),
)
