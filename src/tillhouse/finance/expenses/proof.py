"""Proof that a book's ledger agrees with its expenses."""

from collections.abc import AsyncIterator
from uuid import UUID

from tillhouse.db.pool import Db
from tillhouse.finance.expenses.rules import SOURCE
from tillhouse.finance.expenses.store import find_there, list_with_money
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.room import SourceType


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for row in each_row(list_with_money, db, book_id, batch):
        want = 0 if row["is_voided"] else row["amount"]
        if row["posted"] != want:
            told = f"its transfers come to {row['posted']:f} and must come to {want:f}"
            yield Fault("expense", str(row["id"]), told)
        status = "reversed" if row["is_voided"] else "successful"
        if (row["status"], row["seen"]) != (status, row["amount"]):
            told = f"its transaction is {row['status']}, of {row['seen']:f}"
            yield Fault("expense", str(row["id"]), told)


EXPENSE_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Expenses, as the proof of the ledger knows them."""
