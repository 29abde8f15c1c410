"""Transfers, holds, transactions and debts: the face of the room."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID

from tillhouse.access.process import Services
from tillhouse.db.constraints import not_allowed, taken
from tillhouse.db.pool import Db
from tillhouse.jobs.chores import walk
from tillhouse.jobs.kinds import Job, LocalKind
from tillhouse.kit.clock import now
from tillhouse.ledger.posting import AlreadyReversed
from tillhouse.ledger.store.holds import end_expired
from tillhouse.ledger.store.sums import ACCOUNT_TALLIES, TRANSACTION_TALLIES, insert_days
from tillhouse.room import Room

_HOLDS_AT_ONCE = 1000
# No transaction takes so long, so that a day which ended before has all of its entries.
_SETTLED_AFTER = timedelta(hours=1)
_BOOKS_AT_ONCE = 20


async def _release(db: Db, _job: Job) -> bool:
    """Release holds whose time is over; a posting that needed the amount before did so already."""
    return await end_expired(db, now(), _HOLDS_AT_ONCE) == _HOLDS_AT_ONCE


async def _sum_days(db: Db, books: Sequence[UUID]) -> bool:
    """Sum up some days of these books that are over; whether there may be more."""
    return await insert_days(db, books, (now() - _SETTLED_AFTER).date(), _BOOKS_AT_ONCE) > 0


def _chores(_services: Services) -> tuple[LocalKind, ...]:
    return (
        LocalKind(name="expired_holds", run=_release, every=timedelta(hours=1)),
        LocalKind(name="ledger_days", run=partial(walk, _sum_days), every=timedelta(hours=1)),
    )


ROOM = Room(
    name="ledger",
    kept_tables=(
        "customer_credit_tallies",
        "debt_tallies",
        "debts",
        "ledger_accounts",
        "ledger_balances",
        "ledger_holds",
        "ledger_summed_days",
        "ledger_sums",
        "ledger_tallies",
        "ledger_transfers",
        "transaction_tallies",
        "transactions",
    ),
    swept_tables={
        "ledger_tally_changes": "tallies",
        "transaction_tally_changes": "tallies",
    },
    refusals=(
        not_allowed(
            "ledger_balances_not_below_zero",
            "The customer's credit doesn't cover this: see what there is by "
            "GET /v1/customers/{customer_id}/credit, and lower the amount, or record what they pay "
            "another way.",
        ),
        not_allowed(
            "ledger_wallets_not_below_zero",
            "The wallet holds less than this takes: see what there is by GET /v1/wallet, and lower "
            "the amount, or wait for more to come in.",
        ),
        taken("ledger_transfers_reversed_once", AlreadyReversed.message),
    ),
    redrawn=("transactions_reference_key",),
    chores=_chores,
    foldings=(TRANSACTION_TALLIES, ACCOUNT_TALLIES),
)
