"""The comparison of both sides' records: pure decisions."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from tillhouse.finance.reconciling.types import (
    Kind,
    OwnDispute,
    OwnPayment,
    OwnPayout,
    OwnRefund,
    Remedy,
)
from tillhouse.orders.returning.rules import step_of as refund_step
from tillhouse.payouts.withdrawals.rules import step_of
from tillhouse.providers.payments.provider import (
    ListedRefund,
    SeenDispute,
    SeenPayment,
    SeenPayout,
    SeenRefund,
)

_ZERO = Decimal(0)
# A payout that the provider doesn't know so long after the call is not on its way.
_ARRIVES_WITHIN = timedelta(hours=1)

Verdict = tuple[Kind, str, Remedy | None]


def judge_payments(own: Sequence[OwnPayment], told: Sequence[SeenPayment]) -> Verdict | None:
    """The difference between the record of one transaction and the provider's."""
    arrived = [one for one in told if one.state in ("successful", "reversed") and one.amount > 0]
    kept = [one for one in own if one.status == "received"]
    if not arrived:
        if not kept:
            return None
        return "payment_unknown", "it is recorded, and the provider knows of no such money", None
    there = f"{_sum(arrived):f} {arrived[0].currency}"
    if not own:
        return "payment_unrecorded", f"{there} arrived, and is not recorded", "record"
    if any(one.state == "reversed" for one in arrived):
        if not kept:
            return None
        return "payment_reversed", f"{there} went back, and counts as received here", "record"
    if not kept:
        return "payment_restored", f"{there} is there, and counts as gone back here", "record"
    return _judge_amounts(kept, arrived, there)


def _judge_amounts(
    kept: Sequence[OwnPayment], arrived: Sequence[SeenPayment], there: str
) -> Verdict | None:
    here = f"{_sum(kept):f} {kept[0].currency}"
    if here != there and (_sum(kept) != _sum(arrived) or kept[0].currency != arrived[0].currency):
        is_more = _sum(kept) < _sum(arrived) and kept[0].currency == arrived[0].currency
        words = f"it is {here} here, and {there} at the provider"
        return "payment_differs", words, "record" if is_more else None
    fees = sum((one.fee for one in kept), _ZERO), sum((one.fee for one in arrived), _ZERO)
    if fees[0] != fees[1]:
        words = f"its fee is {fees[0]:f} here, and {fees[1]:f} at the provider"
        return "payment_differs", words, None
    return None


def _sum(payments: Sequence[OwnPayment] | Sequence[SeenPayment]) -> Decimal:
    return sum((one.amount for one in payments), _ZERO)


def judge_refund(own: OwnRefund, seen: SeenRefund | None, now: datetime) -> Verdict | None:
    """The difference between a refund and the provider's record; None: it has none."""
    if seen is not None:
        state = f"it is {own.status} here, and {seen.state} at the provider"
        step = refund_step(own.status, seen.state)
        return None if step is None else ("refund_differs", state, "ask")
    is_late = own.asked_at is not None and now - own.asked_at >= _ARRIVES_WITHIN
    if own.status == "successful" or (own.status == "pending" and is_late):
        remedy: Remedy | None = "ask" if own.status == "pending" else None
        words = f"it is {own.status} here, and the provider knows nothing of it"
        return "refund_unknown", words, remedy
    return None


def judge_listed_refund(own: OwnRefund, line: ListedRefund, now: datetime) -> Verdict | None:
    """The difference between a refund and a line of the provider's list."""
    if line.state != "failed" and line.amount != own.amount:
        words = f"it is {own.amount:f} here, and {line.amount:f} at the provider"
        return "refund_differs", words, None
    seen = SeenRefund(reference=line.reference or "", provider_reference=None, state=line.state)
    return judge_refund(own, seen, now)


def judge_dispute(own: OwnDispute | None, seen: SeenDispute) -> Verdict | None:
    """The difference between a dispute and the provider's record; None: it is not recorded here."""
    if own is None:
        return _unrecorded(seen)
    if (own.status, own.taken_told, own.fee) == (seen.state, seen.taken, seen.fee):
        return None
    here = f"{own.status}, with {own.taken_told:f} taken and a fee of {own.fee:f}"
    return "dispute_differs", f"it is {here} here, and {_told(seen)} at the provider", "record"


def _unrecorded(seen: SeenDispute) -> Verdict:
    there = _told(seen)
    words = f"{seen.amount:f} {seen.currency} are disputed ({there}), and no dispute says so"
    return "dispute_unrecorded", words, "record"


def _told(seen: SeenDispute) -> str:
    return f"{seen.state}, with {seen.taken:f} taken and a fee of {seen.fee:f}"


def unrecorded_dispute(seen: SeenDispute, paid: Verdict) -> Verdict:
    """The difference of a dispute whose payment isn't recorded either, for this reason."""
    kind, words, _ = _unrecorded(seen)
    return kind, f"{words}; nor is its payment recorded: {paid[1]}", paid[2]


def unknown_dispute(own: OwnDispute) -> Verdict:
    """The difference of a dispute that the provider knows nothing of."""
    words = (
        f"it is {own.status} here, with {own.taken_amount:f} {own.currency} taken and a fee of "
        f"{own.fee:f}, and the provider knows nothing of it: ask its support what became of it"
    )
    return "dispute_unknown", words, None


def judge_payout(own: OwnPayout, seen: SeenPayout | None, now: datetime) -> Verdict | None:
    """The difference between a withdrawal and the provider's record; None: it has none."""
    if seen is None:
        return _judge_unknown(own, now)
    state = f"it is {own.status} here, and {seen.state} at the provider"
    if own.status in ("requested", "cancelled"):
        is_gone = seen.state in ("processing", "completed")
        return ("payout_differs", state, None) if is_gone else None
    step = step_of(own.status, seen.state, is_refund=own.is_refund)
    if step is not None:
        return "payout_differs", state, "ask"
    if own.status == "reversed" and seen.state == "completed":
        return "payout_differs", state, None
    if seen.amount is not None and seen.amount != own.amount:
        words = f"it is {own.amount:f} here, and {seen.amount:f} at the provider"
        return "payout_differs", words, None
    if own.status == "completed" and seen.fee != own.fee:
        words = f"its fee is {own.fee:f} here, and {seen.fee:f} at the provider"
        return "payout_differs", words, "ask" if seen.fee > own.fee else None
    return None


def _judge_unknown(own: OwnPayout, now: datetime) -> Verdict | None:
    is_late = own.asked_at is not None and now - own.asked_at >= _ARRIVES_WITHIN
    if own.status == "completed" or (own.status == "processing" and is_late):
        remedy: Remedy | None = "ask" if own.status == "processing" else None
        words = f"it is {own.status} here, and the provider knows nothing of it"
        return "payout_unknown", words, remedy
    return None
