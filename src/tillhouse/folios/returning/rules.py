"""The payment of a stay that goes back, and its conditions: pure decisions."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.folios.rules import Funds
from tillhouse.kit.errors import Invalid, Refused
from tillhouse.kit.ids import CustomerId
from tillhouse.orders.money_types import PaymentState
from tillhouse.orders.returning.rules import instead

SOURCE = "folio_return"
"""The type of source that these are: they move money out of the wallet."""

HEARD = "stay_refund_heard"
"""The job that asks about one once more."""

_ZERO = Decimal(0)


class ReturnableStayPayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payment of a stay that came by a provider, and how much of it can still go back."""

    payment_id: UUID
    payin_id: UUID
    provider: str
    # The customer whose credit it became.
    customer_id: CustomerId
    left: Decimal
    # A dispute holds this part of it.
    disputed: Decimal = _ZERO


class StayRefundPart(msgspec.Struct, frozen=True):
    """An amount that goes back to one payment."""

    payment: ReturnableStayPayment
    amount: Decimal


def chosen(
    payments: Sequence[ReturnableStayPayment], available: Funds, amount: Decimal
) -> StayRefundPart:
    """The first payment that an amount can go back to: of it, and unspent."""
    if not payments:
        raise Invalid.field("method", "must be another: no payment of this stay came by a provider")
    most = {one.payment_id: _most(one, available) for one in payments}
    for one in payments:
        if most[one.payment_id] >= amount:
            return StayRefundPart(one, amount)
    highest, disputed = max(most.values()), sum((one.disputed for one in payments), _ZERO)
    left = f"at most {highest:f} of one are left and unspent"
    words = instead(highest, disputed, "hand it back by another method")
    raise Refused(f"{amount:f} can't go back to one payment: {left}{words}")


def everything(
    payments: Sequence[ReturnableStayPayment], available: Funds
) -> Iterator[StayRefundPart]:
    """All that can go back: of each payment as much as is left of it and unspent."""
    unspent = dict(available)
    for one in payments:
        amount = _most(one, unspent)
        if amount > 0:
            unspent[one.customer_id] -= amount
            yield StayRefundPart(one, amount)


def _most(payment: ReturnableStayPayment, available: Funds) -> Decimal:
    return max(min(payment.left, available.get(payment.customer_id, _ZERO)), _ZERO)


class ReturnFaultFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A refund of a stay through a provider, and all that the ledger holds of it."""

    id: UUID
    status: PaymentState
    amount: Decimal
    shortfall: Decimal
    # The part of that which its provider had taken back by itself before.
    taken_before: Decimal
    # Its provider has undone the whole payment.
    is_undone: bool
    hold: str | None
    credit_hold: str | None
    # The refund of the stay that it became.
    booked: Decimal | None
    # Given to the funding of the wallet, and taken from the money at the provider.
    funded: Decimal
    short: Decimal
    # Of the payment that it gives back: its amount, and the part that refunds give back.
    arrived: Decimal
    given_back: Decimal
    told: Decimal


_HOLDS: dict[PaymentState, tuple[str, ...]] = {
    "pending": ("pending",),
    "failed": ("released",),
    "successful": ("posted", "released"),
    "reversed": ("posted", "released"),
}


def return_faults(facts: ReturnFaultFacts) -> Iterator[str]:
    """Every way in which such a refund and its money disagree."""
    if facts.hold not in _HOLDS[facts.status]:
        yield f"is {facts.status} and its hold {facts.hold}"
    if (facts.credit_hold == "pending") != (facts.status == "pending"):
        yield f"is {facts.status} and its hold of credit {facts.credit_hold}"
    is_back, given = facts.status == "successful", facts.amount - facts.taken_before
    if is_back and facts.taken_before and not facts.is_undone:
        before = f"{facts.taken_before:f} of it by itself before, which is booked once"
        yield f"its provider gave back {facts.amount:f}, and took {before}: ask it what is true"
    was_back = facts.status in ("successful", "reversed")
    booked = facts.amount - facts.shortfall if was_back else _ZERO
    for what, has, want in (
        ("left the wallet", facts.funded, given if is_back else _ZERO),
        ("is a claim", facts.short, facts.shortfall - facts.taken_before if is_back else _ZERO),
        ("is a refund of the stay", facts.booked or _ZERO, booked),
    ):
        if has != want:
            yield f"is {facts.status}, and {has:f} {what} instead of {want:f}"
    if facts.told != facts.given_back or facts.given_back > facts.arrived:
        yield (
            f"is of a payment of {facts.arrived:f}, which counts {facts.given_back:f} as given "
            f"back, and refunds of it come to {facts.told:f}"
        )
