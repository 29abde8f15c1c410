"""The faults of the ledger's rows, beside the rules: pure."""

from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.fault import Fault


class BalanceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A bounded account: its kept balance, and the sum of its transfers."""

    kind: str
    owner_id: UUID
    debits: Decimal
    credits: Decimal
    held: Decimal
    transfers_debits: Decimal
    transfers_credits: Decimal
    pending_holds: Decimal


def balance_faults(facts: BalanceFacts) -> Iterator[Fault]:
    """Every way in which a balance and its transfers disagree."""
    named = f"{facts.kind} {facts.owner_id}"
    for side, kept, summed in (
        ("debits", facts.debits, facts.transfers_debits),
        ("credits", facts.credits, facts.transfers_credits),
    ):
        if kept != summed:
            yield Fault("balance", named, f"keeps {kept:f} {side}, its transfers {summed:f}")
    if facts.held != facts.pending_holds:
        holds = f"its pending holds {facts.pending_holds:f}"
        yield Fault("balance", named, f"keeps {facts.held:f} held, {holds}")
    available = facts.credits - facts.debits - facts.held
    if available < 0:
        yield Fault("balance", named, f"has {available:f} available, below zero")
