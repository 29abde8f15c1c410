"""The faults between an order and its ledger, beside the rules: pure."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import Account
from tillhouse.orders.posting.rules import (
    TENDERS,
    LedgerPosition,
    Method,
    excess,
    receivable,
)

_ZERO = Decimal(0)


class OrderFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An order, and all that the ledger holds of it at the same moment."""

    id: UUID
    short_code: str
    position: LedgerPosition
    # Its next sequence number, and the one that follows its last transfer.
    postings: int
    used: int
    # Payments less corrections and refunds, from the transfers and from the transactions.
    paid: Decimal
    received: Decimal
    # Payments less refunds by method, and their tips, from the rows of both.
    tenders: dict[Method, Decimal]
    tips: dict[Method, Decimal]
    # Its own columns: the amounts by their method, less the change.
    tendered: dict[Method, Decimal]
    # Debits less credits by account, of its own transfers.
    accounts: dict[Account, Decimal]
    debts: dict[CustomerId, Decimal]
    active_debts: int
    # Its refunds that are on their way, as its row and as they themselves tell.
    returning: Decimal = _ZERO
    pending: Decimal = _ZERO
    # Whether credit beyond its debt was spent on it, and given back by the same change.
    is_overspent: bool = False


def order_faults(facts: OrderFacts) -> Iterator[Fault]:
    """Every way in which an order and its ledger disagree."""
    named = str(facts.id)
    for wrong in (*_sums(facts), *_holdings(facts), *_debts(facts)):
        yield Fault("order", named, f"{facts.short_code}: {wrong}")


def _sums(facts: OrderFacts) -> Iterator[str]:
    paid = facts.position.paid
    if facts.paid != paid:
        yield f"its amount paid is {paid:f}, its payments come to {facts.paid:f}"
    if facts.received != paid:
        yield f"its amount paid is {paid:f}, its transactions come to {facts.received:f}"
    if (told := sum(facts.tenders.values(), _ZERO)) != paid:
        yield f"its amount paid is {paid:f}, its payments less its refunds come to {told:f}"
    yield from _by_method(facts)
    if (tips := sum(facts.tips.values(), _ZERO)) != facts.position.tip:
        yield f"its tips are {facts.position.tip:f}, those of its payments {tips:f}"
    if facts.returning != facts.pending:
        told = f"its pending refunds come to {facts.pending:f}"
        yield f"{facts.returning:f} of it are on their way, {told}"
    if facts.is_overspent and (lent := _overspent(facts.position)):
        yield (
            f"{lent:f} of its customer's credit was spent on it without being owed: lower its "
            "amount paid by that"
        )
    if facts.used > facts.postings:
        yield f"its next posting is number {facts.postings}, which is taken already"


def _overspent(position: LedgerPosition) -> Decimal:
    """The credit that an order both has spent and keeps; once it has ended, all is kept."""
    return min(position.credit, position.kept) if position.is_sold else _ZERO


def _by_method(facts: OrderFacts) -> Iterator[str]:
    held = dict.fromkeys(TENDERS, _ZERO)
    held.update(facts.tenders)
    held["cash"] -= facts.position.change
    for method, amount in held.items():
        if (told := facts.tendered.get(method, _ZERO)) != amount:
            yield f"it says that it was paid {told:f} by {method}, its payments {amount:f}"


def _holdings(facts: OrderFacts) -> Iterator[str]:
    tenders = {Account(kind) for kind in TENDERS.values()}
    wanted = holdings(facts.position)
    for account in sorted({*wanted, *facts.accounts} - tenders, key=str):
        want, held = wanted.get(account, _ZERO), facts.accounts.get(account, _ZERO)
        if held != want:
            yield f"{account.kind} of {account.owner_id} holds {held:f} and must hold {want:f}"
    for account, want in sorted(_in_tenders(facts).items(), key=str):
        held = facts.accounts.get(account, _ZERO)
        if held != want:
            yield f"its tenders hold {held:f} in {account.kind} and must hold {want:f}"


def _in_tenders(facts: OrderFacts) -> dict[Account, Decimal]:
    """The money of an order in each tender, as its payments and refunds tell it."""
    held = {Account(kind): _ZERO for kind in TENDERS.values()}
    for told in (facts.tenders, facts.tips):
        for method, amount in told.items():
            held[Account(TENDERS[method])] += amount
    held[Account("cash")] -= facts.position.change
    # Credit that was spent is no money in a tender.
    held[Account(TENDERS["credit"])] -= facts.position.credit
    return held


def holdings(position: LedgerPosition) -> dict[Account, Decimal]:
    """The share of an order in each account but the tenders, debits less credits."""
    over = excess(position)
    left = position.sold - position.returned - position.paid + sum(over.values(), _ZERO)
    wanted = {
        receivable(position): left,
        Account("sales"): -position.sold,
        Account("refunds"): position.returned,
        Account("tips"): -position.tip,
    }
    for account, amount in over.items():
        if account.kind != "cash":
            wanted[account] = -amount
    if position.credit and position.customer_id:
        credit = Account("customer_credit", position.customer_id)
        wanted[credit] = wanted.get(credit, _ZERO) + position.credit
    return wanted


def _debts(facts: OrderFacts) -> Iterator[str]:
    position = facts.position
    wanted = {position.customer_id: position.debt} if position.customer_id and position.debt else {}
    if facts.active_debts > 1:
        yield f"it has {facts.active_debts} active debts"
    elif facts.debts != wanted:
        yield f"its active debt is {_told(facts.debts)} and must be {_told(wanted)}"


def _told(debts: Mapping[CustomerId, Decimal]) -> str:
    told = [f"{balance:f} of customer {customer}" for customer, balance in debts.items()]
    return ", ".join(told) or "none"
