"""An order's position in the ledger, and the postings of its changes: pure decisions.

An order holds, at every moment:

    receivable of its customer   total while sold - paid + excess (what is left to pay)
    sales                        total while sold
    tender accounts              paid, each payment where it came in
    excess                       what was paid beyond the total: change, credit or unapplied

So a change posts the difference between two positions, and nothing when there is none.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

import msgspec

from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import (
    NOBODY,
    Account,
    AccountKind,
    Closing,
    Movement,
    Owing,
    Postings,
    Transfer,
)

SOURCE = "order"
"""The type of source that orders are."""

Status = Literal["scheduled", "pending", "completed", "refunded", "cancelled", "deleted"]
Method = Literal["cash", "transfer", "pos", "cloove_pay", "credit", "other"]

TENDERS: dict[Method, AccountKind] = {
    "cash": "cash",
    "transfer": "bank",
    "pos": "pos",
    "cloove_pay": "provider_clearing",
    "credit": "other_tender",
    "other": "other_tender",
}
"""Where money of each method comes in."""

# Where an excess is kept → how it gets there, and how it comes back.
_WAYS = {
    "cash": ("change", "change_returned"),
    "customer_credit": ("credit_given", "credit_taken_back"),
    "unapplied_receipts": ("unapplied_kept", "unapplied_released"),
}
_MOVED = ("receivable_moved", "receivable_moved")
_ZERO = Decimal(0)


class LedgerPosition(msgspec.Struct, frozen=True, kw_only=True):
    """An order as the ledger sees it."""

    total: Decimal
    paid: Decimal
    method: Method
    customer_id: CustomerId | None
    status: Status

    @property
    def is_sold(self) -> bool:
        """Whether it counts as a sale: not scheduled, cancelled or deleted."""
        return self.status in ("pending", "completed", "refunded")

    @property
    def sold(self) -> Decimal:
        """The amount that it adds to the sales."""
        return self.total if self.is_sold else _ZERO

    @property
    def over(self) -> Decimal:
        """The amount paid beyond the total."""
        return max(self.paid - self.total, _ZERO)

    @property
    def debt(self) -> Decimal:
        """The balance of its active debt; without one, 0."""
        if self.customer_id is None or self.status not in ("pending", "completed"):
            return _ZERO
        return max(self.total - self.paid, _ZERO)


_CHANGE = Account("cash")


Excess = dict[Account, Decimal]
"""The overpayment, by the account that keeps it; under cash, the change."""


def postings(before: LedgerPosition | None, after: LedgerPosition) -> Postings:
    """The transfers, transactions and debt that lead from one position (or none) to the next."""
    start = before or msgspec.structs.replace(after, total=_ZERO, paid=_ZERO)
    return Postings(
        tuple(transfer for transfer in _transfers(start, after) if transfer.amount),
        tuple(_movements(start, after)),
        tuple(_owing(start, after)),
    )


def receivable(position: LedgerPosition) -> Account:
    """The account of what the order's customer, or nobody in particular, has yet to pay."""
    return Account("receivable", position.customer_id or NOBODY)


def excess(position: LedgerPosition) -> Excess:
    """The overpayment. A sale for cash gives change; anything else is kept for the payer.

    Nothing is too much yet for an order that is only scheduled. All is for one that ended, but
    the change that was handed out over its counter doesn't come back to the drawer.
    """
    if position.status in ("cancelled", "deleted"):
        amount = position.paid
    else:
        amount = position.over if position.is_sold else _ZERO
    change = min(position.over, amount) if position.method == "cash" else _ZERO
    found = {_CHANGE: change, _kept(position): amount - change}
    return {account: held for account, held in found.items() if held}


def turns_excess(before: LedgerPosition, after: LedgerPosition) -> bool:
    """Whether another method would make credit of change that was given, or change of credit.

    Neither moves by being called something else: only money that comes in, or a correction, does.
    Of an order that is only scheduled nothing was given yet.
    """
    is_other_way = (before.method == "cash") != (after.method == "cash")
    is_given = before.over > 0 and before.status != "scheduled"
    return is_other_way and is_given and after.over > 0


def _kept(position: LedgerPosition) -> Account:
    if position.customer_id is not None:
        return Account("customer_credit", position.customer_id)
    return Account("unapplied_receipts")


def _transfers(before: LedgerPosition, after: LedgerPosition) -> Iterator[Transfer]:
    """Every kind once at most: what comes back, then the owner, the sale, the money, the excess."""
    old, new = excess(before), excess(after)
    stays = {account: min(held, new.get(account, _ZERO)) for account, held in old.items()}
    for account, held in old.items():
        _, back = _WAYS[account.kind]
        yield Transfer(account, receivable(before), held - stays[account], back)
    if receivable(before) != receivable(after):
        left = before.sold - before.paid + sum(stays.values(), _ZERO)
        yield _signed(receivable(after), receivable(before), left, _MOVED)
    sold = after.sold - before.sold
    yield _signed(receivable(after), Account("sales"), sold, ("sale", "sale_reversed"))
    yield _payment(before, after)
    for account, held in new.items():
        given, _ = _WAYS[account.kind]
        yield Transfer(receivable(after), account, held - stays.get(account, _ZERO), given)


def _payment(before: LedgerPosition, after: LedgerPosition) -> Transfer:
    paid = after.paid - before.paid
    tender = Account(TENDERS[_tender(before, after)])
    less = "refund" if after.status == "cancelled" else "payment_correction"
    return _signed(tender, receivable(after), paid, ("payment", less))


def _tender(before: LedgerPosition, after: LedgerPosition) -> Method:
    # A correction takes back what was booked, so by the method that it was booked with.
    return after.method if after.paid >= before.paid else before.method


def _signed(debit: Account, credit: Account, amount: Decimal, kinds: tuple[str, str]) -> Transfer:
    """A transfer of a difference: one that is negative goes the other way."""
    forth, back = kinds
    if amount < 0:
        return Transfer(credit, debit, -amount, back)
    return Transfer(debit, credit, amount, forth)


def _movements(before: LedgerPosition, after: LedgerPosition) -> Iterator[Movement]:
    paid = after.paid - before.paid
    if paid > 0:
        yield Movement("debt_payment" if before.debt else "sale", after.method, paid)
    elif paid < 0:
        # Money of a cancelled order was handed back.
        less = "refund" if after.status == "cancelled" else "adjustment"
        yield Movement(less, _tender(before, after), paid)


def _owing(before: LedgerPosition, after: LedgerPosition) -> Iterator[Owing]:
    is_same = before.customer_id == after.customer_id
    if before.debt and before.customer_id and not (is_same and after.debt):
        yield Owing(before.customer_id, _ZERO, _closing(before, after))
    if after.debt and after.customer_id and not (is_same and after.debt == before.debt):
        yield Owing(after.customer_id, after.debt)


def _closing(before: LedgerPosition, after: LedgerPosition) -> Closing:
    if after.status == "deleted":
        return "removed"
    is_kept = before.customer_id == after.customer_id and after.status in ("pending", "completed")
    return "paid" if is_kept else "voided"
