"""Payments as their links see them: pure decisions."""

from decimal import Decimal

import msgspec

from tillhouse.checkout.types import LinkCondition, LinkStatus, TargetType


class LinkPayment(msgspec.Struct, frozen=True, kw_only=True):
    """The change that a payment makes to its link."""

    amount: Decimal
    conditions: list[LinkCondition]
    # Whether it is paid by that; a link of an order closes with the order.
    is_paid: bool
    # The amount that a link of a stay asked for last, if it asked for any.
    asked: Decimal | None = None


def conditions_of(
    status: LinkStatus, payments: int, amount: Decimal, owed: Decimal
) -> list[LinkCondition]:
    """Everything that is unusual about a payment of a link that asked for so much.

    A link that is paid without a payment of its own ended when its target was settled otherwise.
    """
    found: list[LinkCondition] = []
    if amount < owed:
        found.append("partial")
    if amount > owed:
        found.append("over")
    if status in ("EXPIRED", "CANCELLED") or (status == "PAID" and not payments):
        found.append("late")
    return found


def status_after_reversal(status: LinkStatus, target: TargetType, left: Decimal) -> LinkStatus:
    """The status of a link of which so much is left that came in and stayed."""
    if status != "PAID" or left > 0:
        return status
    # A link of the wallet asks again, until its time is over; an order asks for itself.
    return "active" if target == "wallet" else "CANCELLED"
