"""The faults of an order's or a balance's rows, beside the rules: pure."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.ledger.rules import TENDERS, Account, LedgerPosition, excess, receivable

BOUNDED = ("wallet", "customer_credit")
"""Accounts that keep a balance, which must not fall below zero."""


class Fault(msgspec.Struct, frozen=True):
    """Something that must hold and doesn't: of what, of which one, how."""

    subject: str
    id: str
    what: str


class OrderFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An order, and all that the ledger holds of it at the same moment."""

    id: UUID
    short_code: str
    position: LedgerPosition
    # Its next sequence number, and the one that follows its last transfer.
    postings: int
    used: int
    # Payments less corrections, from the transfers and from the transactions.
    paid: Decimal
    received: Decimal
    # Debits less credits by account, of its own transfers.
    accounts: dict[Account, Decimal]
    debts: dict[UUID, Decimal]
    active_debts: int


class BalanceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A bounded account: what its balance keeps, and what its transfers come to."""

    kind: str
    owner_id: UUID
    debits: Decimal
    credits: Decimal
    transfers_debits: Decimal
    transfers_credits: Decimal


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
    if facts.used > facts.postings:
        yield f"its next posting is number {facts.postings}, which is taken already"


def _holdings(facts: OrderFacts) -> Iterator[str]:
    tenders = {Account(kind) for kind in TENDERS.values()}
    wanted = holdings(facts.position)
    for account in sorted({*wanted, *facts.accounts} - tenders, key=str):
        want, held = wanted.get(account, Decimal(0)), facts.accounts.get(account, Decimal(0))
        if held != want:
            yield f"{account.kind} of {account.owner_id} holds {held:f} and must hold {want:f}"
    want = facts.position.paid - wanted.get(Account("cash"), Decimal(0))
    held = sum((facts.accounts.get(tender, Decimal(0)) for tender in tenders), Decimal(0))
    if held != want:
        yield f"its tenders hold {held:f} and must hold {want:f}"


def holdings(position: LedgerPosition) -> dict[Account, Decimal]:
    """What an order makes each account hold, debits less credits; under cash, the change."""
    over = excess(position)
    wanted = {
        receivable(position): position.sold - position.paid + sum(over.values(), Decimal(0)),
        Account("sales"): -position.sold,
    }
    for account, amount in over.items():
        wanted[account] = amount if account.kind == "cash" else -amount
    return wanted


def _debts(facts: OrderFacts) -> Iterator[str]:
    position = facts.position
    wanted = {position.customer_id: position.debt} if position.customer_id and position.debt else {}
    if facts.active_debts > 1:
        yield f"it has {facts.active_debts} active debts"
    elif facts.debts != wanted:
        yield f"its active debt is {_told(facts.debts)} and must be {_told(wanted)}"


def _told(debts: dict[UUID, Decimal]) -> str:
    told = [f"{balance:f} of customer {customer}" for customer, balance in debts.items()]
    return ", ".join(told) or "none"


def balance_faults(facts: BalanceFacts) -> Iterator[Fault]:
    """Every way in which a balance and its transfers disagree."""
    named = f"{facts.kind} {facts.owner_id}"
    for side, kept, summed in (
        ("debits", facts.debits, facts.transfers_debits),
        ("credits", facts.credits, facts.transfers_credits),
    ):
        if kept != summed:
            yield Fault("balance", named, f"keeps {kept:f} {side}, its transfers {summed:f}")
    if facts.credits < facts.debits:
        yield Fault("balance", named, f"is {facts.credits - facts.debits:f}, below zero")
