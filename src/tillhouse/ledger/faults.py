"""The faults of the ledger's rows, beside the rules: pure."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """Something that must hold and doesn't: of what, of which one, how."""

    subject: str
    id: str
    what: str


class BalanceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A bounded account: what its balance keeps, and what its transfers come to."""

    kind: str
    owner_id: UUID
    debits: Decimal
    credits: Decimal
    transfers_debits: Decimal
    transfers_credits: Decimal


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
