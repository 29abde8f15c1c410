"""Proof that a book's ledger agrees with its withdrawals."""

from collections.abc import AsyncIterator, Iterator
from uuid import UUID

from asyncpg import Record

from tillhouse.db.pool import Db
from tillhouse.kit.fault import Fault
from tillhouse.ledger.proof import each_row
from tillhouse.payouts.withdrawals.rules import SOURCE
from tillhouse.payouts.withdrawals.store.dues import list_with_dues
from tillhouse.payouts.withdrawals.store.proving import (
    STUCK_WITHDRAWALS,
    find_there,
    list_false_spends,
    list_with_money,
)
from tillhouse.room import SourceType

WAITING = "waiting withdrawal"
"""The subject of a withdrawal that no job brings to its end."""
DUE = "payout due"
"""The subject of a withdrawal of which the provider took more than the wallet had."""

# By status: the hold, what has left the wallet, what is on the way, what was paid out,
# each as a multiple of the amount, and the status of the transaction.
_MUST = {
    "requested": ("pending", 0, 0, 0, "pending"),
    "cancelled": ("released", 0, 0, 0, "failed"),
    "processing": ("posted", 1, 1, 0, "processing"),
    "completed": ("posted", 1, 0, 1, "successful"),
    "failed": ("posted", 0, 0, 0, "failed"),
    "reversed": ("posted", 0, 0, 0, "reversed"),
}


# By status: those in which the refund may be that it pays out.
_REFUND = {
    "requested": ("pending",),
    "cancelled": ("failed",),
    "processing": ("pending",),
    "completed": ("successful",),
    "failed": ("failed",),
    "reversed": ("failed", "reversed"),
}
_SEEN = {"successful": "successful", "reversed": "reversed"}


def withdrawal_faults(row: Record) -> Iterator[str]:
    """Every way in which a withdrawal and its money disagree."""
    hold, left, transit, paid, seen = _MUST[row["status"]]
    if row["hold"] != hold:
        yield f"is {row['status']} and its hold {row['hold']}, not {hold}"
    amount, fee = row["amount"], row["fee"]
    taken, due = fee - row["fee_due"], row["amount_due"]
    for what, has, must in (
        ("left the wallet", row["left"], left * amount - due + taken),
        ("is on the way", row["transit"], transit * amount - due),
        ("left the provider", row["paid"], (0 if row["is_refund"] else paid * amount) + fee),
        ("was paid out", row["funded"], (paid * amount if row["is_refund"] else 0) + taken),
        ("was its fee", row["fees"], fee),
    ):
        if has != must:
            yield f"is {row['status']}, and {has:f} {what} instead of {must:f}"
    if row["is_refund"]:
        yield from _refund_faults(row)
    elif (row["seen_status"], row["seen_amount"]) != (seen, amount):
        yield f"its transaction is {row['seen_status']}, of {row['seen_amount']}, not {seen}"


def _refund_faults(row: Record) -> Iterator[str]:
    """Both have one amount, one outcome and one transaction."""
    status, amount = row["refund_status"], row["amount"]
    if status not in _REFUND[row["status"]] or row["refund_amount"] != amount:
        yield f"is {row['status']}, and its refund {status}, of {row['refund_amount']}"
        return
    back = amount - row["shortfall"] if status in _SEEN else 0
    must = (_SEEN[status], -back) if back else (None, None)
    if (row["seen_status"], row["seen_amount"]) != must or not row["is_one"]:
        yield f"its transaction is {row['seen_status']}, of {row['seen_amount']}, not {must[0]}"


async def _prove(db: Db, book_id: UUID, batch: int) -> AsyncIterator[Fault]:
    async for row in each_row(list_with_money, db, book_id, batch):
        for told in withdrawal_faults(row):
            yield Fault("withdrawal", str(row["id"]), told)
    for row in await list_with_dues(db, book_id, batch):
        told = (
            f"{row['due']:f} of what the provider took is due: the wallet had less, and gives it "
            "as money comes in"
        )
        yield Fault(DUE, str(row["id"]), told)
    for row in await STUCK_WITHDRAWALS.list(db, book_id, batch):
        told = f"is {row['status']}, and nothing works on it: {row['reason']}"
        yield Fault(WAITING, str(row["id"]), told)
    for row in await list_false_spends(db, book_id):
        told = (
            f"counts {row['spent']:f} on {row['day']}, its withdrawals come to {row['counted']:f}"
        )
        yield Fault("withdrawal limit", str(row["lineage_id"] or "business"), told)


WITHDRAWAL_SOURCE = SourceType(SOURCE, find_there, _prove)
"""Withdrawals, as the proof of the ledger knows them."""
