"""The faults between an order and its ledger, beside the rules: pure."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import CustomerId
from tillhouse.ledger.rules import Account
from tillhouse.orders.posting.rules import TENDERS, LedgerPosition, excess, receivable


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
    # Debits less credits by account, of its own transfers.
    accounts: dict[Account, Decimal]
    debts: dict[CustomerId, Decimal]
    active_debts: int


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
    """The share of an order in each account, debits less credits; under cash, the change."""
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


def _told(debts: Mapping[CustomerId, Decimal]) -> str:
    told = [f"{balance:f} of customer {customer}" for customer, balance in debts.items()]
    return ", ".join(told) or "none"
