"""Transfers, holds, transactions and debts: what this room brings along."""

from datetime import timedelta

from tillhouse.access.process import Services
from tillhouse.db.constraints import not_allowed, taken
from tillhouse.db.pool import Db
from tillhouse.jobs.folding import folding_worker
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.jobs.worker import Worker
from tillhouse.kit.clock import now
from tillhouse.ledger.posting import AlreadyReversed
from tillhouse.ledger.store.holds import end_expired
from tillhouse.ledger.store.tallies import update_tallies
from tillhouse.room import Room

_HOLDS_AT_ONCE = 1000


async def _release(db: Db, _job: Job) -> bool:
    """Release holds whose time is over; whoever needed the amount before did so already."""
    return await end_expired(db, now(), _HOLDS_AT_ONCE) == _HOLDS_AT_ONCE


def _chores(_services: Services) -> tuple[LocalKind, ...]:
    return (LocalKind(name="expired_holds", run=_release, every=timedelta(hours=1)),)


async def _folding(services: Services) -> Worker:
    """The worker that folds the tallies of transactions in one process."""
    return folding_worker("transaction tallies", services.pool, update_tallies)


ROOM = Room(
    name="ledger",
    kept_tables=(
        "customer_credit_tallies",
        "debt_tallies",
        "debts",
        "ledger_accounts",
        "ledger_balances",
        "ledger_holds",
        "ledger_transfers",
        "transaction_tallies",
        "transactions",
    ),
    swept_tables={"transaction_tally_changes": "transaction tallies"},
    refusals=(
        not_allowed(
            "ledger_balances_not_below_zero",
            "The customer's credit doesn't cover this: lower the amount, or record what they pay "
            "another way.",
        ),
        not_allowed(
            "ledger_wallets_not_below_zero",
            "The wallet holds less than this takes: lower the amount, or wait for more to come in.",
        ),
        taken("ledger_transfers_reversed_once", AlreadyReversed.message),
    ),
    redrawn=("transactions_reference_key",),
    chores=_chores,
    workers=(_folding,),
)
