"""Proof that the ledger agrees with payments of stays and their refunds, and none is overspent."""

from collections.abc import AsyncIterator
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.folios.returning import rules as return_rules
from tillhouse.folios.returning import store as returns
from tillhouse.folios.rules import SOURCE
from tillhouse.folios.store.payments import find_there, list_overspent, list_with_money
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.orders.posting.proof import WAITING
from tillhouse.room import SourceType


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for row in each_row(list_with_money, db, book_id, batch):
        for wrong in _payment_faults(row):
            yield Fault(SOURCE, str(row["id"]), wrong)
    async for row in each_row(list_overspent, db, book_id, batch):
        for wrong in _stay_faults(row):
            yield Fault("folio", str(row["id"]), f"{row['short_code']}: {wrong}")


def _payment_faults(row: Record) -> list[str]:
    want = row["amount"] if row["kind"] == "payment" else -row["amount"]
    found: list[str] = []
    if row["posted"] != want:
        found.append(f"its transfers come to {row['posted']:f} and must come to {want:f}")
    if (row["status"], row["seen"], row["seen_method"]) != ("successful", want, row["method"]):
        told = f"{row['status']}, of {row['seen']:f} by {row['seen_method']}"
        found.append(f"its transaction is {told}")
    return found


def _stay_faults(row: Record) -> list[str]:
    found: list[str] = []
    if row["used"] > row["paid"]:
        told = f"{row['paid']:f} came in for it, less what went back"
        found.append(f"its orders hold {row['used']:f} of its money, and {told}")
    if row["false_uses"]:
        found.append(f"{row['false_uses']} of its uses aren't what the payments of orders say")
    return found


FOLIO_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Payments of folios, as the proof of the ledger knows them."""


async def _prove_returns(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(returns.list_with_money, db, book_id, batch):
        for told in return_rules.return_faults(facts):
            yield Fault(return_rules.SOURCE, str(facts.id), told)
    for row in await returns.STUCK_STAY_REFUNDS.list(db, book_id, batch):
        told = f"is on its way, and nothing works on it: {row['reason']}"
        yield Fault(WAITING, str(row["id"]), told)


RETURN_SOURCE = SourceType(return_rules.SOURCE, returns.find_there, _prove_returns)
"""Refunds of stays through providers, as the proof of the ledger knows them."""
