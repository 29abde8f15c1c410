"""The wallet, and the money paid out of it: the face of the room."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.access.scopes import Scope
from tillhouse.db.constraints import taken
from tillhouse.db.pool import Db
from tillhouse.http.route import Group
from tillhouse.jobs.chores import walk
from tillhouse.jobs.kinds import Kind, LocalKind
from tillhouse.kit.clock import now
from tillhouse.payouts.accounts import checking
from tillhouse.payouts.events import EVENTS
from tillhouse.payouts.freezing.actions import RESUMING
from tillhouse.payouts.gateway import Finds, find
from tillhouse.payouts.routes import ROUTES
from tillhouse.payouts.wallet.store import insert_days
from tillhouse.payouts.withdrawals import sending
from tillhouse.payouts.withdrawals.outcome import COLLECTING
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE
from tillhouse.room import Room


def kinds(services: Services, finds: Finds = find) -> Sequence[Kind]:
    """Name enquiries, withdrawals, and those that waited while frozen."""
    return (checking.kind(services, finds), *sending.kinds(services, finds), RESUMING)


# No transaction takes so long, so that a day which ended before has all of its transfers.
_SETTLED_AFTER = timedelta(hours=1)
_ROWS = 200


async def _sum(db: Db, books: Sequence[UUID]) -> bool:
    """Sum up some days of these books that are over; whether there may be more."""
    return await insert_days(db, books, (now() - _SETTLED_AFTER).date(), _ROWS) > 0


SUM_DAYS = LocalKind(name="wallet_days", run=partial(walk, _sum), every=timedelta(hours=1))


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
