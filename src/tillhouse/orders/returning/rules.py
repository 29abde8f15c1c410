"""Which payment goes back, what follows from a provider's word, and the postings: pure."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.errors import Invalid, Refused
from tillhouse.kit.ids import OrderId
from tillhouse.ledger.rules import Account, Postings, Transfer
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.money_types import PaymentState
from tillhouse.providers.payments.provider import RefundState

SOURCE = "refund"
"""The type of source that refunds through a provider are: they move money out of the wallet."""

Step = Literal["complete", "fail", "undo"]

FUNDING = Account("wallet_funding")
FUNDED = "refund_funding"
CLAIMED = "refund_claim"
SHORT = "refund_shortfall"
_REFERENCE = "rf-"
_ZERO = Decimal(0)


class Returnable(msgspec.Struct, frozen=True, kw_only=True):
    """A payment of an order that came by a provider, and how much of it can still go back."""

    payment_id: UUID
    payin_id: UUID
    provider: str
    left: Decimal
    # Its provider has refused to give it back.
    is_refused: bool = False


def check_returning(before: OrderState, after: OrderState) -> None:
    """Refuse to change what a refund that is on its way rests on."""
    if not before.returning_amount:
        return
    is_less = after.amount_paid < before.amount_paid
    is_other = (before.total_amount, before.customer_id) != (after.total_amount, after.customer_id)
    if is_less or is_other or after.status == "cancelled" != before.status:
        raise Refused(
            f"A refund of {before.returning_amount:f} is on its way through the payment provider: "
            "change amounts, customer or cancellation once it has ended."
        )


def reference_of(refund_id: UUID) -> str:
    """The name of a refund in every call about it."""
    return f"{_REFERENCE}{refund_id}"


def refund_id_of(reference: str | None) -> UUID | None:
    """The refund that a provider names; None: it is none of ours."""
    if reference is None or not reference.startswith(_REFERENCE):
        return None
    try:
        return UUID(reference.removeprefix(_REFERENCE))
    except ValueError:
        return None


NOT_RETURNABLE = "is no payment of this order that came by a provider"


def chosen(payments: Sequence[Returnable], amount: Decimal, payment_id: UUID | None) -> Returnable:
    """The payment that an amount goes back to: the one that is named, or the first with enough."""
    wanted = [one for one in payments if payment_id in (None, one.payment_id)]
    if not wanted:
        raise Invalid.field("payment_id", NOT_RETURNABLE)
    enough = [one for one in wanted if one.left >= amount]
    if enough:
        return enough[0]
    most = max(one.left for one in wanted)
    raise Refused(
        f"{amount:f} can't go back to one payment: at most {most:f} of one are left. Give back "
        "less at once, or name the method by which it was handed back otherwise."
    )


def step_of(status: PaymentState, seen: RefundState) -> Step | None:
    """The step from what is known to what the provider says.

    The provider's last word counts: money that went back after all is booked, and one that came
    home again is the order's again.
    """
    match status, seen:
        case (("pending" | "failed"), "successful"):
            return "complete"
        case "pending", "failed":
            return "fail"
        case "successful", "failed":
            return "undo"
        case _:
            return None


def funded(amount: Decimal, available: Decimal) -> Postings:
    """The postings of money that went back though nothing was held for it any more."""
    covered = max(_ZERO, min(amount, available))
    return _postings(
        Transfer(Account("wallet"), FUNDING, covered, FUNDED),
        Transfer(Account("unapplied_receipts"), FUNDING, amount - covered, CLAIMED),
    )


def short(amount: Decimal) -> Postings:
    """The postings of a part that went back and that the order no longer had: a claim."""
    claim = Account("unapplied_receipts")
    return _postings(Transfer(claim, Account("provider_clearing"), amount, SHORT))


def _postings(*transfers: Transfer) -> Postings:
    return Postings(tuple(one for one in transfers if one.amount))


def undone(order: OrderState, booked: Decimal, of_sale: Decimal) -> OrderState:
    """The order after money that had gone back came home again."""
    status = "completed" if order.status == "refunded" else order.status
    return msgspec.structs.replace(
        order,
        status=status,
        amount_paid=order.amount_paid + booked,
        refunded_amount=order.refunded_amount - min(of_sale, order.refunded_amount),
    )


class RefundFaultFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A refund through a provider, and all that the ledger holds of it."""

    id: UUID
    order_id: OrderId
    status: PaymentState
    amount: Decimal
    shortfall: Decimal
    hold: str | None
    credit_hold: str | None
    has_credit_hold: bool
    transaction: str | None
    # A withdrawal pays it out: the hold and what leaves the wallet are the withdrawal's.
    is_paid_out: bool
    # Given to the funding of the wallet, and taken from what the provider has.
    funded: Decimal
    short: Decimal
    # Of the payment that it gives back: its amount, and what of it went back or is about to.
    arrived: Decimal
    returned: Decimal


# By status: those in which the hold may be, and the status of the transaction.
_MUST: dict[PaymentState, tuple[tuple[str, ...], str | None]] = {
    "pending": (("pending",), None),
    "failed": (("released",), None),
    "successful": (("posted", "released"), "successful"),
    "reversed": (("posted", "released"), "reversed"),
}


def refund_faults(facts: RefundFaultFacts) -> Iterator[str]:
    """Every way in which a refund and its money disagree."""
    holds, transaction = _MUST[facts.status]
    if facts.hold not in holds and not facts.is_paid_out:
        yield f"is {facts.status} and its hold {facts.hold}"
    if facts.has_credit_hold and (facts.credit_hold == "pending") != (facts.status == "pending"):
        yield f"is {facts.status} and its hold of credit {facts.credit_hold}"
    if facts.shortfall < facts.amount and facts.transaction != transaction:
        yield f"is {facts.status} and its transaction {facts.transaction}, not {transaction}"
    is_back = facts.status == "successful"
    for what, has, must in (
        ("left the wallet", facts.funded, _ZERO if facts.is_paid_out else facts.amount),
        ("is a claim", facts.short, facts.shortfall),
    ):
        if has != (want := must if is_back else _ZERO):
            yield f"is {facts.status}, and {has:f} {what} instead of {want:f}"
    if facts.returned > facts.arrived:
        yield f"is of a payment of {facts.arrived:f}, of which {facts.returned:f} go back"
