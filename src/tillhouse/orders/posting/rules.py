"""An order's position in the ledger, and the postings of its changes: pure decisions.

An order holds, at every moment:

    receivable of its customer   total - refunded while sold - paid + excess (what is left to pay)
    sales                        total while sold
    refunds                      refunded while sold
    tips                         tips
    customer credit              what was paid with it
    tender accounts              paid otherwise, each payment where it came in, and tips
    excess                       what was paid beyond the total: change, credit or unapplied

So a change posts the difference between two positions, and nothing when there is none.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

import msgspec

from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import (
    NO_OWNER,
    Account,
    AccountKind,
    Closing,
    EntryKind,
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
"""Where money of each method comes in; credit of a customer that is spent is no money that does."""

# Where an excess is kept → how it gets there, and how it comes back.
_WAYS: dict[AccountKind, tuple[EntryKind, EntryKind]] = {
    "cash": ("change", "change_returned"),
    "customer_credit": ("credit_given", "credit_taken_back"),
    "unapplied_receipts": ("unapplied_kept", "unapplied_released"),
}
_MOVED: tuple[EntryKind, EntryKind] = ("receivable_moved", "receivable_moved")
_ENDED: tuple[str, ...] = ("cancelled", "deleted")
_ZERO = Decimal(0)


class LedgerPosition(msgspec.Struct, frozen=True, kw_only=True):
    """An order as the ledger sees it."""

    total: Decimal
    paid: Decimal
    method: Method
    customer_id: CustomerId | None
    status: Status
    # The part of `paid` that was handed out as change.
    change: Decimal = _ZERO
    # The part of the sale that was given back.
    refunded: Decimal = _ZERO
    # The credit of the customer in `paid`, less refunds as credit.
    credit: Decimal = _ZERO
    tip: Decimal = _ZERO

    @property
    def is_sold(self) -> bool:
        """Whether it counts as a sale: not scheduled, cancelled or deleted."""
        return self.status in ("pending", "completed", "refunded")

    @property
    def sold(self) -> Decimal:
        """The amount that it adds to the sales."""
        return self.total if self.is_sold else _ZERO

    @property
    def returned(self) -> Decimal:
        """The amount that it adds to the refunds."""
        return self.refunded if self.is_sold else _ZERO

    @property
    def due(self) -> Decimal:
        """The amount to be paid in all."""
        return self.total - self.refunded

    @property
    def over(self) -> Decimal:
        """The amount paid beyond the due one."""
        return max(self.paid - self.due, _ZERO)

    @property
    def beyond(self) -> Decimal:
        """The amount paid too much: for a scheduled order nothing is too much yet."""
        return _ZERO if self.status == "scheduled" else self.over

    @property
    def surplus(self) -> Decimal:
        """The amount paid that no sale needs; of an order that ended, all of it."""
        return self.paid if self.status in _ENDED else self.beyond

    @property
    def kept(self) -> Decimal:
        """The part of the surplus that is kept for the payer."""
        return self.surplus - self.change

    @property
    def debt(self) -> Decimal:
        """The balance of its active debt; without one, 0."""
        if self.customer_id is None or self.status not in ("pending", "completed"):
            return _ZERO
        return max(self.due - self.paid, _ZERO)


class MoneyMove(msgspec.Struct, frozen=True, kw_only=True):
    """How the amount paid changes: by which method, and whether money is handed back."""

    method: Method
    is_refund: bool = False
    # Whether the change that was handed out stays so: a refund gives back the rest.
    keeps_change: bool = False


_CHANGE = Account("cash")


Excess = dict[Account, Decimal]
"""The overpayment, by the account that keeps it; under cash, the change."""


def move_between(before: LedgerPosition | None, after: LedgerPosition) -> MoneyMove:
    """The move that an order tells by its own method.

    A correction takes back booked money, so by the method that it was booked with. Money of a
    cancelled order was handed back.
    """
    if before is None or after.paid >= before.paid:
        return MoneyMove(method=after.method)
    return MoneyMove(method=before.method, is_refund=after.status == "cancelled")


def divided(
    before: LedgerPosition | None, after: LedgerPosition, move: MoneyMove | None = None
) -> LedgerPosition:
    """The position with its change and the credit that was spent, as the move of money leaves them.

    An overpayment that grows is change if it grows by cash, and is kept otherwise. One that shrinks
    is taken from what the same method made of it first.
    """
    start = before or _nothing(after)
    move = move or move_between(before, after)
    change = _change(start, after, move)
    return msgspec.structs.replace(after, change=change, credit=_credit(start, after, move))


def _nothing(after: LedgerPosition) -> LedgerPosition:
    return msgspec.structs.replace(
        after, total=_ZERO, paid=_ZERO, change=_ZERO, refunded=_ZERO, credit=_ZERO, tip=_ZERO
    )


def _change(before: LedgerPosition, after: LedgerPosition, move: MoneyMove) -> Decimal:
    change = before.change
    grown = after.beyond - before.beyond
    is_cash = move.method == "cash"
    if move.keeps_change or (after.status in _ENDED and grown >= 0):
        # An order that ends hands nothing out.
        pass
    elif grown >= 0:
        change += grown if is_cash else _ZERO
    elif is_cash:
        change -= min(-grown, change)
    else:
        kept = max(before.beyond - change, _ZERO)
        change -= max(-grown - kept, _ZERO)
    return max(min(change, after.surplus), _ZERO)


def _credit(before: LedgerPosition, after: LedgerPosition, move: MoneyMove) -> Decimal:
    paid = after.paid - before.paid
    if move.method != "credit" or after.customer_id is None:
        return before.credit
    if paid < 0 and not move.keeps_change:
        # A correction takes back spent credit; other bookings go another way.
        return before.credit - min(-paid, max(before.credit, _ZERO))
    return before.credit + paid


def postings(
    before: LedgerPosition | None, after: LedgerPosition, move: MoneyMove | None = None
) -> Postings:
    """The transfers, transactions and debt that lead from one position (or none) to the next.

    Both positions are divided.
    """
    start = before or _nothing(after)
    move = move or move_between(before, after)
    return Postings(
        tuple(transfer for transfer in _transfers(start, after, move) if transfer.amount),
        tuple(_movements(start, after, move)),
        tuple(_owing(start, after)),
    )


def receivable(position: LedgerPosition) -> Account:
    """The account of the debt, of the order's customer or an unnamed one."""
    return Account("receivable", position.customer_id or NO_OWNER)


def excess(position: LedgerPosition) -> Excess:
    """The overpayment: change that was handed out, and the rest, which is kept for the payer.

    Nothing is too much yet for an order that is only scheduled. All is for one that ended, but
    the change that was handed out over its counter doesn't come back to the drawer.
    """
    found = {_CHANGE: position.change, _kept(position): position.kept}
    return {account: held for account, held in found.items() if held}


def turns_excess(before: LedgerPosition, after: LedgerPosition) -> bool:
    """Whether another method would make credit of change that was given, or change of credit.

    Neither moves by being called something else: only money that comes in, or a correction, does.
    Of an order that is only scheduled nothing was given yet. Change stays change while the method
    becomes cash, and so does credit that stands beside none.
    """
    is_other_way = (before.method == "cash") != (after.method == "cash")
    turned = before.change if before.method == "cash" else before.over - before.change
    is_given = turned > 0 and before.status != "scheduled"
    return is_other_way and is_given and after.over > 0


def _kept(position: LedgerPosition) -> Account:
    if position.customer_id is not None:
        return Account("customer_credit", position.customer_id)
    return Account("unapplied_receipts")


def _transfers(
    before: LedgerPosition, after: LedgerPosition, move: MoneyMove
) -> Iterator[Transfer]:
    """The excess that comes back, then the owner, the sale, the money, the new excess."""
    old, new = excess(before), excess(after)
    stays = {account: min(held, new.get(account, _ZERO)) for account, held in old.items()}
    for account, held in old.items():
        _, back = _WAYS[account.kind]
        yield Transfer(account, receivable(before), held - stays[account], back)
    if receivable(before) != receivable(after):
        left = before.sold - before.returned - before.paid + sum(stays.values(), _ZERO)
        yield _signed(receivable(after), receivable(before), left, _MOVED)
    sold, returned = after.sold - before.sold, after.returned - before.returned
    yield _signed(receivable(after), Account("sales"), sold, ("sale", "sale_reversed"))
    kinds: tuple[EntryKind, EntryKind] = ("sale_refunded", "sale_refund_reversed")
    yield _signed(Account("refunds"), receivable(after), returned, kinds)
    yield from _payments(before, after, move)
    for account, held in new.items():
        given, _ = _WAYS[account.kind]
        yield Transfer(receivable(after), account, held - stays.get(account, _ZERO), given)


def _payments(before: LedgerPosition, after: LedgerPosition, move: MoneyMove) -> Iterator[Transfer]:
    back: EntryKind = "refund" if move.is_refund else "payment_correction"
    kinds: tuple[EntryKind, EntryKind] = ("payment", back)
    tender, owner = Account(TENDERS[move.method]), receivable(after)
    spent = after.credit - before.credit
    yield _signed(tender, owner, after.paid - before.paid - spent, kinds)
    yield _signed(Account("customer_credit", owner.owner_id), owner, spent, kinds)
    tip = after.tip - before.tip
    yield _signed(tender, Account("tips"), tip, ("tip", "tip_returned"))


def _signed(
    debit: Account, credit: Account, amount: Decimal, kinds: tuple[EntryKind, EntryKind]
) -> Transfer:
    """A transfer of a difference: one that is negative goes the other way."""
    forth, back = kinds
    if amount < 0:
        return Transfer(credit, debit, -amount, back)
    return Transfer(debit, credit, amount, forth)


def _movements(
    before: LedgerPosition, after: LedgerPosition, move: MoneyMove
) -> Iterator[Movement]:
    """The payment, the correction or the refund comes first, then its tip, then other change."""
    paid, tip = after.paid - before.paid, after.tip - before.tip
    if paid > 0:
        yield Movement("debt_payment" if before.debt else "sale", move.method, paid)
    elif paid < 0:
        yield Movement("refund" if move.is_refund else "adjustment", move.method, paid)
    if tip:
        yield Movement("tip", move.method, tip)
    change = after.change - before.change
    if moved := change - change_told(change, _ZERO if move.is_refund else paid):
        yield Movement("change", "cash", -moved)


def change_told(change: Decimal, paid: Decimal) -> Decimal:
    """The part of a difference in change that is told with a payment: change of it, and no more.

    The rest is of earlier payments: a lower total makes change of them, a higher one takes it back.
    """
    return max(min(change, paid), _ZERO)


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
