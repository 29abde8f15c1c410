"""The payment that goes back, the steps after a provider's word, and the postings: pure."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Literal
from uuid import UUID

import msgspec

from tillhouse.kit.errors import Invalid, Refused
from tillhouse.kit.ids import OrderId
from tillhouse.ledger.rules import Account, EntryKind, Movement, Postings, Transfer
from tillhouse.orders.changing.rules import OrderState
from tillhouse.orders.money_types import ONLINE, PaymentState
from tillhouse.orders.posting.rules import Method, move_between
from tillhouse.providers.payments.provider import OWN_REFUND, RefundState

SOURCE = "refund"
"""The type of source that refunds through a provider are: they move money out of the wallet."""

Step = Literal["complete", "fail", "undo"]

FUNDING = Account("wallet_funding")
FUNDED: EntryKind = "refund_funding"
CLAIMED: EntryKind = "refund_claim"
SHORT: EntryKind = "refund_shortfall"
_ZERO = Decimal(0)


class ReturnablePayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payment of an order that came by a provider, and how much of it can still go back."""

    payment_id: UUID
    payin_id: UUID
    provider: str
    left: Decimal
    # A dispute holds this part of it.
    disputed: Decimal = _ZERO
    # Its provider has refused to give it back.
    is_refused: bool = False


def check_returning(before: OrderState, after: OrderState) -> None:
    """Refuse to change the facts under a refund that is on its way."""
    if not before.returning_amount:
        return
    is_less = after.amount_paid < before.amount_paid
    is_other = (before.total_amount, before.customer_id) != (after.total_amount, after.customer_id)
    is_cancelled = after.status == "cancelled" and before.status != "cancelled"
    if is_less or is_other or is_cancelled:
        raise Refused(
            f"A refund of {before.returning_amount:f} is on its way through the payment provider: "
            "change amounts, customer or cancellation once it has ended."
        )


def check_corrected(before: OrderState, after: OrderState, provided: Decimal) -> None:
    """Refuse to correct money that a provider proved, or more than came by that method.

    Proved money is in the wallet. A correction takes from its own method what was said of it by
    hand; money of a cancelled order may be handed back by any, but not by the provider's.
    """
    corrected = before.amount_paid - after.amount_paid
    if corrected <= 0:
        return
    if after.amount_paid < provided:
        raise Refused(
            f"{provided:f} of what was paid came through a payment provider: the amount paid can't "
            "become less than that by a correction. Give it back by a refund."
        )
    move = move_between(before.position(), after.position())
    by_hand = _by_hand(before, move.method, provided)
    if corrected <= by_hand or (move.is_refund and move.method != ONLINE):
        return
    proved = " beside what came through a payment provider" if provided else ""
    raise Refused(
        f"{by_hand:f} of what was paid came by {move.method}{proved}, and no more of it is "
        "corrected: to correct what was paid otherwise, send its payment_method first. What was "
        "handed back is told by a refund."
    )


def _by_hand(order: OrderState, method: Method, provided: Decimal) -> Decimal:
    """The amount that an order was said to be paid by a method, the change in cash included."""
    beside = {"cash": order.change_amount, ONLINE: -provided}
    return max(order.tendered.get(method, _ZERO) + beside.get(method, _ZERO), _ZERO)


def reference_of(refund_id: UUID) -> str:
    """The name of a refund in every call about it."""
    return f"{OWN_REFUND}{refund_id}"


def refund_id_of(reference: str | None) -> UUID | None:
    """The refund that a provider names; None: it is none of ours."""
    if reference is None or not reference.startswith(OWN_REFUND):
        return None
    try:
        return UUID(reference.removeprefix(OWN_REFUND))
    except ValueError:
        return None


NOT_RETURNABLE = "is no payment of this order that came by a provider"


def chosen(
    payments: Sequence[ReturnablePayment], amount: Decimal, payment_id: UUID | None
) -> ReturnablePayment:
    """The payment that an amount goes back to: the one that is named, or the first with enough."""
    wanted = [one for one in payments if payment_id in (None, one.payment_id)]
    if not wanted:
        raise Invalid.field("payment_id", NOT_RETURNABLE)
    enough = [one for one in wanted if one.left >= amount]
    if enough:
        return enough[0]
    most, disputed = max(one.left for one in wanted), sum((one.disputed for one in wanted), _ZERO)
    left = f"{amount:f} can't go back to one payment: at most {most:f} of one are left"
    otherwise = "name the method by which it was handed back otherwise"
    raise Refused(f"{left}{instead(most, disputed, otherwise)}")


def instead(most: Decimal, disputed: Decimal, otherwise: str) -> str:
    """The way out of a refund that is too much for its payment."""
    if not disputed:
        return f". Give back less at once, or {otherwise}."
    now = f"Give back at most {most:f} until then" if most > 0 else "Wait for that"
    return (
        f", and {disputed:f} are disputed (GET /v1/disputes): the payer has them back if the "
        f"dispute is lost, and they can go back by a refund if it is won. {now}: "
        "handed back otherwise, they may reach the payer twice."
    )


def uncovered(amount: Decimal, available: Decimal, instead: str) -> str:
    """Why the wallet gives no refund of an amount, and the remedy."""
    return (
        f"The wallet holds less than this refund takes: {max(available, _ZERO):f} of {amount:f}, "
        f"since the fee of a payment stays with the provider. {instead}"
    )


def step_of(status: PaymentState, seen: RefundState) -> Step | None:
    """The step from the known state to the provider's.

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
    """The postings of a part that went back and that the order no longer had: a claim.

    The order tells nothing of it, so it has a transaction of its own.
    """
    claim = Transfer(Account("unapplied_receipts"), Account("provider_clearing"), amount, SHORT)
    return Postings((claim,), (Movement("refund", ONLINE, -amount),))


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
    # The part of that which its provider had taken back by itself before.
    taken_before: Decimal
    # Its provider has undone the whole payment.
    is_undone: bool
    hold: str | None
    credit_hold: str | None
    has_credit_hold: bool
    transaction: str | None
    # A withdrawal pays it out: the hold and the transfer out of the wallet are the withdrawal's.
    is_paid_out: bool
    # Given to the funding of the wallet, and taken from the money at the provider.
    funded: Decimal
    short: Decimal
    # Of the payment that it gives back: its amount, and the part that went back or is about to.
    arrived: Decimal
    returned: Decimal


# By status: those in which the hold may be, and the statuses of the transaction, which stands on a
# past day when the refund comes home.
_MUST: dict[PaymentState, tuple[tuple[str, ...], tuple[str | None, ...]]] = {
    "pending": (("pending",), (None,)),
    "failed": (("released",), (None,)),
    "successful": (("posted", "released"), ("successful",)),
    "reversed": (("posted", "released"), ("reversed", "successful")),
}


def refund_faults(facts: RefundFaultFacts) -> Iterator[str]:
    """Every way in which a refund and its money disagree."""
    holds, transactions = _MUST[facts.status]
    if facts.hold not in holds and not facts.is_paid_out:
        yield f"is {facts.status} and its hold {facts.hold}"
    if facts.has_credit_hold and (facts.credit_hold == "pending") != (facts.status == "pending"):
        yield f"is {facts.status} and its hold of credit {facts.credit_hold}"
    if facts.shortfall < facts.amount and facts.transaction not in transactions:
        yield f"is {facts.status} and its transaction {facts.transaction}, not {transactions[0]}"
    is_back, given = facts.status == "successful", facts.amount - facts.taken_before
    if is_back and facts.taken_before and not facts.is_undone:
        before = f"{facts.taken_before:f} of it by itself before, which is booked once"
        yield f"its provider gave back {facts.amount:f}, and took {before}: ask it what is true"
    for what, has, must in (
        ("left the wallet", facts.funded, _ZERO if facts.is_paid_out else given),
        ("is a claim", facts.short, facts.shortfall - facts.taken_before),
    ):
        if has != (want := must if is_back else _ZERO):
            yield f"is {facts.status}, and {has:f} {what} instead of {want:f}"
    if facts.returned > facts.arrived:
        yield f"is of a payment of {facts.arrived:f}, of which {facts.returned:f} go back"
