"""The postings of payments that arrive, and their proof. Pure decisions.

A payment for a target funds the wallet with the money handed over, whatever it was for:

    wallet_funding → wallet          amount less fee
    fees → provider_clearing         fee

The target itself posts its payment: an order by its own rules, a top-up of the wallet by
`deposit`. An unknown payment, or one of another currency, is an unapplied receipt.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from uuid import UUID, uuid5

import msgspec

from tillhouse.ledger.rules import (
    NO_OWNER,
    Account,
    AccountKind,
    Movement,
    Postings,
    Transfer,
)
from tillhouse.payins.types import Payin

SOURCE = "payin"
"""The type of source that payments are."""

UNKNOWN = "unknown"
OTHER_CURRENCY = "other_currency"
LATE = "late"
# Its provider tells of less since.
SHORT = "short"
# The wallet had been spent when the payment went back.
UNCOVERED = "uncovered"

POSTINGS_MAX = 4
"""So many transfers are posted at once at most."""

_METHOD = "cloove_pay"
_ZERO = Decimal(0)


class Money(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as the ledger sees it."""

    amount: Decimal
    fee: Decimal
    # Its own currency, where that isn't the one of the book.
    foreign: str | None
    is_unapplied: bool

    @property
    def net(self) -> Decimal:
        """The part that the provider hands over."""
        return self.amount - self.fee


def money(payin: Payin, own_currency: str) -> Money:
    """A payment that was recorded, as the ledger sees it."""
    foreign = payin.currency if payin.currency != own_currency else None
    return Money(
        amount=payin.amount,
        fee=payin.fee,
        foreign=foreign,
        is_unapplied=payin.target_id is None or foreign is not None,
    )


def received(paid: Money) -> Postings:
    """The postings of a payment that arrives."""
    clearing, unapplied = _account("provider_clearing", paid), _account("unapplied_receipts", paid)
    if paid.is_unapplied:
        arrival = Transfer(clearing, unapplied, paid.amount, "unapplied_receipt")
    else:
        arrival = Transfer(Account("wallet_funding"), Account("wallet"), paid.net, "wallet_funding")
    fee = Transfer(_account("fees", paid), clearing, paid.fee, "provider_fee")
    movements: list[Movement] = []
    if paid.foreign is None:
        # Sums of transactions are in the currency of the book.
        if paid.is_unapplied:
            movements.append(Movement("credit", _METHOD, paid.amount))
        if paid.fee:
            movements.append(Movement("fee", _METHOD, paid.fee))
    return _postings((arrival, fee), movements)


class ReturnedAmount(msgspec.Struct, frozen=True):
    """An amount of a payment that its provider took back, and the fee that came back with it."""

    amount: Decimal
    fee: Decimal
    # All of the payment at once.
    is_whole: bool = False

    @property
    def net(self) -> Decimal:
        """The part that the wallet loses."""
        return self.amount - self.fee


def returned(paid: Money, back: ReturnedAmount, available: Decimal) -> Postings:
    """The postings of its way back; the wallet gives all it has, the rest is a claim."""
    clearing, unapplied = _account("provider_clearing", paid), _account("unapplied_receipts", paid)
    fee = Transfer(clearing, _account("fees", paid), back.fee, "provider_fee_reversed")
    movements: list[Movement] = []
    if paid.foreign is None and not back.is_whole:
        if paid.is_unapplied and back.amount:
            movements.append(Movement("reversal", _METHOD, -back.amount))
        if back.fee:
            movements.append(Movement("fee", _METHOD, -back.fee))
    if paid.is_unapplied:
        gone = Transfer(unapplied, clearing, back.amount, "unapplied_receipt_reversed")
        return _postings((gone, fee), movements)
    covered = max(_ZERO, min(back.net, available))
    funding = Account("wallet_funding")
    given = Transfer(Account("wallet"), funding, covered, "wallet_funding_reversed")
    claim = Transfer(unapplied, funding, max(back.net - covered, _ZERO), "reversal_claim")
    # Only its fee came back, for an earlier return.
    more = Transfer(funding, Account("wallet"), max(-back.net, _ZERO), "wallet_fee_returned")
    return _postings((given, claim, more, fee), movements)


def shortfall(paid: Money, amount: Decimal) -> Postings:
    """The postings of a part that went back and that its target no longer holds: a claim."""
    movements = [Movement("reversal", _METHOD, -amount)] if paid.foreign is None else []
    claim = Transfer(
        Account("unapplied_receipts"), Account("provider_clearing"), amount, "reversal_shortfall"
    )
    return _postings((claim,), movements)


def deposit(paid: Money) -> Postings:
    """The postings of a top-up of the wallet, beside its funding."""
    transfer = Transfer(
        Account("provider_clearing"), Account("wallet_funding"), paid.amount, "wallet_deposit"
    )
    return _postings((transfer,), [Movement("wallet_deposit", _METHOD, paid.amount)])


def deposit_reversed(amount: Decimal, *, is_whole: bool) -> Postings:
    """The postings of a top-up that goes back, or of a part of it."""
    transfer = Transfer(
        Account("wallet_funding"),
        Account("provider_clearing"),
        amount,
        "wallet_deposit_reversed",
    )
    movements = [] if is_whole else [Movement("reversal", _METHOD, -amount)]
    return _postings((transfer,), movements)


def _account(kind: AccountKind, paid: Money) -> Account:
    """An account of the book; each foreign currency has its own."""
    return Account(kind, uuid5(NO_OWNER, paid.foreign) if paid.foreign else NO_OWNER)


def _postings(transfers: Sequence[Transfer], movements: Sequence[Movement]) -> Postings:
    return Postings(tuple(one for one in transfers if one.amount), tuple(movements))


class PayinFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A payment, and the sums of its transfers, by kind."""

    id: UUID
    status: str
    amount: Decimal
    fee: Decimal
    given_back: Decimal
    returned_told: Decimal
    returned_amount: Decimal
    returned_fee: Decimal
    returned_applied: Decimal
    disputed_amount: Decimal
    conditions: list[str]
    is_unapplied: bool
    kinds: list[str]
    amounts: list[Decimal]


def payin_faults(facts: PayinFacts) -> Iterator[str]:
    """Every way in which a payment and its transfers disagree."""
    posted: defaultdict[str, Decimal] = defaultdict(Decimal)
    for kind, amount in zip(facts.kinds, facts.amounts, strict=True):
        posted[kind] += amount
    if SHORT in facts.conditions and facts.status != "reversed":
        yield "its provider tells of less since: the audit log says how much"
    yield from _excess(facts)
    net, back = facts.amount - facts.fee, facts.returned_amount
    wanted = {"provider_fee": facts.fee, "provider_fee_reversed": facts.returned_fee}
    if facts.is_unapplied:
        wanted["unapplied_receipt"] = facts.amount
        wanted["unapplied_receipt_reversed"] = back
    else:
        wanted["wallet_funding"] = net
        claim, again = posted["reversal_claim"], posted["wallet_fee_returned"]
        if claim and UNCOVERED not in facts.conditions:
            yield f"it claims {claim:f} and doesn't say so"
        wanted["reversal_claim"] = claim
        wanted["wallet_fee_returned"] = again
        wanted["reversal_shortfall"] = posted["reversal_shortfall"] if back else _ZERO
        wanted["wallet_funding_reversed"] = back - facts.returned_fee + again - claim
        wanted |= _deposited(facts, posted["wallet_deposit"])
    for kind in sorted({*wanted, *posted}):
        if posted[kind] != (want := wanted.get(kind, _ZERO)):
            yield f"its {kind} comes to {posted[kind]:f} and must come to {want:f}"


def _excess(facts: PayinFacts) -> Iterator[str]:
    """A provider that says that it took back more than there was."""
    if facts.status == "reversed" and facts.returned_amount < facts.amount - facts.given_back:
        yield "it went back, and a part of it counts as here"
    gone = facts.given_back + facts.returned_told
    if facts.status != "reversed" and gone > facts.amount:
        told = f"{facts.returned_told:f} by itself and {facts.given_back:f} by refunds of ours"
        yield f"its provider gave back {told}, of {facts.amount:f} that came in"
    if facts.returned_amount + facts.given_back + facts.disputed_amount > facts.amount:
        yield "more of it is booked as gone back than came in"


def _deposited(facts: PayinFacts, deposited: Decimal) -> dict[str, Decimal]:
    return {
        "wallet_deposit": facts.amount if deposited else _ZERO,
        "wallet_deposit_reversed": facts.returned_applied if deposited else _ZERO,
    }
