"""The money of disputes: its amounts, its postings, and their proof. Pure decisions.

The money that a provider takes for a dispute is a loss of its own, and no refund: the thing that
was paid for keeps its payment.

    disputes → provider_clearing         what was taken; back when the dispute is won
    fees → provider_clearing             the fee of the dispute
    wallet → wallet_funding              both, as far as the wallet goes; the rest is a claim,
                                         which is taken as money comes in (claims.py)

Of an unknown payment, the money leaves the unapplied receipts instead.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid5

import msgspec

from tillhouse.ledger.rules import NO_OWNER, Account, AccountKind, Movement, Postings, Transfer
from tillhouse.payins.arrival_rules import SETTLED_AFTER
from tillhouse.payins.disputes.types import DisputeRow
from tillhouse.payins.rules import Money
from tillhouse.payins.types import Payin
from tillhouse.providers.payments.provider import SeenDispute

SOURCE = "dispute"
"""The type of source that disputes are."""
POSTINGS_MAX = 6
"""So many transfers are posted at once at most."""
CLOSED = ("won", "lost")

_METHOD = "cloove_pay"
_ZERO = Decimal(0)


class Step(msgspec.Struct, frozen=True):
    """The amounts to book of a dispute now: taken, or below zero given back; and of its fee."""

    taken: Decimal
    fee: Decimal

    @property
    def net(self) -> Decimal:
        """The amount that the wallet loses, or below zero gets back."""
        return self.taken + self.fee


def is_older(own: DisputeRow, seen: SeenDispute, now: datetime) -> bool:
    """Whether an answer is from before the dispute was closed a moment ago."""
    is_closed = own.status in CLOSED and seen.state not in CLOSED
    return is_closed and own.updated_at > now - SETTLED_AFTER


def bookings(payin: Payin, disputes: Sequence[DisputeRow]) -> Iterator[tuple[DisputeRow, Decimal]]:
    """The amount to book of each dispute of a payment: never more than is left of that."""
    room = max(payin.room - payin.returned_amount, _ZERO)
    for one in disputes:
        taken = min(one.taken_told, room)
        room -= taken
        yield one, taken


def postings(paid: Money, step: Step, claimed: Decimal, available: Decimal) -> Postings:
    """The postings of a step: the wallet gives all it has; returns settle the claim first."""
    clearing, fees = _account("provider_clearing", paid), _account("fees", paid)
    lost = _account("unapplied_receipts" if paid.is_unapplied else "disputes", paid)
    transfers = [
        Transfer(lost, clearing, max(step.taken, _ZERO), "dispute"),
        Transfer(clearing, lost, max(-step.taken, _ZERO), "dispute_returned"),
        Transfer(fees, clearing, max(step.fee, _ZERO), "dispute_fee"),
        Transfer(clearing, fees, max(-step.fee, _ZERO), "dispute_fee_returned"),
    ]
    if not paid.is_unapplied:
        transfers += _of_wallet(step.net, claimed, available)
    movements: list[Movement] = []
    if paid.foreign is None:
        # Sums of transactions are in the currency of the book.
        if step.taken:
            movements.append(Movement("reversal", _METHOD, -step.taken))
        if step.fee:
            movements.append(Movement("fee", _METHOD, step.fee))
    return Postings(tuple(one for one in transfers if one.amount), tuple(movements))


def _of_wallet(net: Decimal, claimed: Decimal, available: Decimal) -> list[Transfer]:
    wallet, funding = Account("wallet"), Account("wallet_funding")
    claims = Account("unapplied_receipts")
    if net >= 0:
        covered = max(_ZERO, min(net, available))
        return [
            Transfer(wallet, funding, covered, "dispute_funding"),
            Transfer(claims, funding, net - covered, "dispute_claim"),
        ]
    of_claim = min(claimed, -net)
    return [
        Transfer(funding, claims, of_claim, "dispute_claim_settled"),
        Transfer(funding, wallet, -net - of_claim, "dispute_funding_returned"),
    ]


def settled(given: Decimal) -> Postings:
    """The postings with which the wallet gives the claimed amount."""
    wallet, funding = Account("wallet"), Account("wallet_funding")
    transfers = (
        Transfer(funding, Account("unapplied_receipts"), given, "dispute_claim_settled"),
        Transfer(wallet, funding, given, "dispute_funding"),
    )
    return Postings(transfers, ())


def claim_after(step: Step, claimed: Decimal, available: Decimal) -> Decimal:
    """The claim that is left of a dispute after a step."""
    if step.net >= 0:
        return claimed + step.net - max(_ZERO, min(step.net, available))
    return claimed - min(claimed, -step.net)


def _account(kind: AccountKind, paid: Money) -> Account:
    """An account of the book; each foreign currency has its own."""
    return Account(kind, uuid5(NO_OWNER, paid.foreign) if paid.foreign else NO_OWNER)


class DisputeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute, and the sums of its transfers, by kind."""

    id: UUID
    taken_told: Decimal
    taken_amount: Decimal
    fee: Decimal
    claimed: Decimal
    is_unapplied: bool
    kinds: list[str]
    amounts: list[Decimal]


def dispute_faults(facts: DisputeFacts) -> Iterator[str]:
    """Every way in which a dispute, its provider and its transfers disagree."""
    posted: defaultdict[str, Decimal] = defaultdict(Decimal)
    for kind, amount in zip(facts.kinds, facts.amounts, strict=True):
        posted[kind] += amount
    if facts.taken_told > facts.taken_amount:
        booked = f"{facts.taken_amount:f} of it were left of the payment, and are booked"
        yield f"its provider took {facts.taken_told:f}; {booked}"
    net = _ZERO if facts.is_unapplied else facts.taken_amount + facts.fee - facts.claimed
    claim = posted["dispute_claim"] - posted["dispute_claim_settled"]
    funding = posted["dispute_funding"] - posted["dispute_funding_returned"]
    for what, has, must in (
        ("taken", posted["dispute"] - posted["dispute_returned"], facts.taken_amount),
        ("fee", posted["dispute_fee"] - posted["dispute_fee_returned"], facts.fee),
        ("claim", claim, facts.claimed),
        ("part of the wallet", funding, net),
    ):
        if has != must:
            yield f"its {what} comes to {has:f} and must come to {must:f}"
