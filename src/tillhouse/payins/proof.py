"""Proof that a book's ledger agrees with its payins, and with their disputes."""

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.kit.clock import now
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.payins.disputes import rules as dispute_rules
from tillhouse.payins.disputes import store as disputes
from tillhouse.payins.rules import SOURCE, PayinFacts, payin_faults
from tillhouse.payins.store.payins import find_there, list_with_money
from tillhouse.payins.store.waiting import list_waiting
from tillhouse.room import SourceType

WAITING = "waiting payin"
"""The subject of a payment that its target has not taken long after it came."""
APPLIED_WITHIN = timedelta(hours=1)


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for row in each_row(list_with_money, db, book_id, batch):
        facts = PayinFacts(**row)
        for wrong in payin_faults(facts):
            yield Fault("payin", str(facts.id), wrong)
    for row in await list_waiting(db, book_id, now() - APPLIED_WITHIN, batch):
        told = f"{row['amount']:f} {row['currency']} was recorded and is not {row['missing']}"
        yield Fault(WAITING, str(row["id"]), told)


PAYIN_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Payments that arrived, as the proof of the ledger knows them."""


async def _prove_disputes(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for facts in each_row(disputes.list_with_money, db, book_id, batch):
        for wrong in dispute_rules.dispute_faults(facts):
            yield Fault(dispute_rules.SOURCE, str(facts.id), wrong)


DISPUTE_SOURCE = SourceType(dispute_rules.SOURCE, disputes.find_there, _prove_disputes)
"""Disputes, as the proof of the ledger knows them."""
