"""The postings of payments that arrive, and their proof. Pure decisions.

A payment for a target funds the wallet with what the provider hands over, whatever it was for:

    wallet_funding → wallet          amount less fee
    fees → provider_clearing         fee

The target itself posts what it was paid: an order by its own rules, a top-up of the wallet by
`deposit`. A payment that nobody knows, or of another currency, is an unapplied receipt.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from uuid import UUID, uuid5

import msgspec

from tillhouse.ledger.rules import (
    NOBODY,
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


def reversed_(paid: Money, available: Decimal) -> Postings:
    """The postings of its way back; the wallet gives what it has, the rest is a claim."""
    clearing, unapplied = _account("provider_clearing", paid), _account("unapplied_receipts", paid)
    fee = Transfer(clearing, _account("fees", paid), paid.fee, "provider_fee_reversed")
    if paid.is_unapplied:
        back = Transfer(unapplied, clearing, paid.amount, "unapplied_receipt_reversed")
        return _postings((back, fee), ())
    covered = max(_ZERO, min(paid.net, available))
    funding = Account("wallet_funding")
    given = Transfer(Account("wallet"), funding, covered, "wallet_funding_reversed")
    claim = Transfer(unapplied, funding, paid.net - covered, "reversal_claim")
    return _postings((given, claim, fee), ())


def shortfall(amount: Decimal) -> Postings:
    """The postings of a part that went back and that its target no longer holds: a claim."""
    claim = Transfer(
        Account("unapplied_receipts"), Account("provider_clearing"), amount, "reversal_shortfall"
    )
    return _postings((claim,), ())


def is_uncovered(paid: Money, available: Decimal) -> bool:
    """Whether the wallet has less than goes back."""
    return not paid.is_unapplied and available < paid.net


def deposit(paid: Money) -> Postings:
    """The postings of a top-up of the wallet, beside its funding."""
    transfer = Transfer(
        Account("provider_clearing"), Account("wallet_funding"), paid.amount, "wallet_deposit"
    )
    return _postings((transfer,), [Movement("wallet_deposit", _METHOD, paid.amount)])


def deposit_reversed(paid: Money) -> Postings:
    """The postings of a top-up that goes back."""
    transfer = Transfer(
        Account("wallet_funding"),
        Account("provider_clearing"),
        paid.amount,
        "wallet_deposit_reversed",
    )
    return _postings((transfer,), ())


def _account(kind: AccountKind, paid: Money) -> Account:
    """An account of the book; each foreign currency has its own."""
    return Account(kind, uuid5(NOBODY, paid.foreign) if paid.foreign else NOBODY)


def _postings(transfers: Sequence[Transfer], movements: Sequence[Movement]) -> Postings:
    return Postings(tuple(one for one in transfers if one.amount), tuple(movements))


class PayinFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A payment, and what its transfers come to, by kind."""

    id: UUID
    status: str
    amount: Decimal
    fee: Decimal
    conditions: list[str]
    is_unapplied: bool
    is_taken_back: bool
    kinds: list[str]
    amounts: list[Decimal]


def payin_faults(facts: PayinFacts) -> Iterator[str]:
    """Every way in which a payment and its transfers disagree."""
    posted: defaultdict[str, Decimal] = defaultdict(Decimal)
    for kind, amount in zip(facts.kinds, facts.amounts, strict=True):
        posted[kind] += amount
    is_back = facts.status == "reversed"
    if SHORT in facts.conditions and not is_back:
        yield "its provider tells of less since: the audit log says how much"
    net = facts.amount - facts.fee
    wanted = {"provider_fee": facts.fee, "provider_fee_reversed": facts.fee if is_back else _ZERO}
    if facts.is_unapplied:
        wanted["unapplied_receipt"] = facts.amount
        wanted["unapplied_receipt_reversed"] = facts.amount if is_back else _ZERO
    else:
        wanted["wallet_funding"] = net
        claim = posted["reversal_claim"]
        if claim and UNCOVERED not in facts.conditions:
            yield f"it claims {claim:f} and doesn't say so"
        wanted["reversal_claim"] = claim
        wanted["reversal_shortfall"] = posted["reversal_shortfall"] if is_back else _ZERO
        wanted["wallet_funding_reversed"] = net - claim if is_back else _ZERO
        wanted |= _deposited(facts, posted["wallet_deposit"])
    for kind in sorted({*wanted, *posted}):
        if posted[kind] != (want := wanted.get(kind, _ZERO)):
            yield f"its {kind} comes to {posted[kind]:f} and must come to {want:f}"


def _deposited(facts: PayinFacts, deposited: Decimal) -> dict[str, Decimal]:
    is_back = facts.status == "reversed" and facts.is_taken_back
    return {
        "wallet_deposit": facts.amount if deposited else _ZERO,
        "wallet_deposit_reversed": deposited if is_back else _ZERO,
    }
