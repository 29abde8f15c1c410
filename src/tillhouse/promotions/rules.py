"""The discount of a promotion, or the reason against it: a pure decision."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from tillhouse.kit.ids import CustomerId
from tillhouse.kit.money import EXPONENTS, largest_remainder, round_money
from tillhouse.promotions.facts import Discounts, Offer, PromotedLine

ZERO = Decimal(0)


def judge(
    offer: Offer, lines: Sequence[PromotedLine], customer_id: CustomerId | None, at: datetime
) -> Discounts | str:
    """The discount of the promotion on these lines, or the reason against it, for the cashier.

    The lines are all that the order sells, fees left out; `at` is any moment with a zone.
    """
    for rule in (_state, _window, _limits):
        for reason in rule(offer, customer_id, at):
            return reason
    for reason in _order(offer, lines):
        return reason
    shares = _CUTS[offer.type](offer, lines)
    total = sum(shares, ZERO)
    if not total:
        return f"{_named(offer)} takes nothing off this order."
    return Discounts(total, shares)


def _named(offer: Offer) -> str:
    return f"The promotion {offer.name}"


def _state(offer: Offer, _customer_id: UUID | None, at: datetime) -> Iterator[str]:
    if not offer.is_active:
        yield f"{_named(offer)} is switched off."
    if offer.starts_at is not None and at < offer.starts_at:
        yield f"{_named(offer)} has not begun yet."
    if offer.ends_at is not None and at > offer.ends_at:
        yield f"{_named(offer)} has ended."


def _window(offer: Offer, _customer_id: UUID | None, at: datetime) -> Iterator[str]:
    local = at.astimezone(ZoneInfo(offer.time_zone))
    day, minute = local.date(), local.hour * 60 + local.minute
    begins, ends = offer.from_minute, offer.to_minute
    if begins is not None and ends is not None:
        is_over_midnight = ends <= begins
        is_within = begins <= minute or minute < ends
        if not is_over_midnight:
            is_within = begins <= minute < ends
        if not is_within:
            yield f"{_named(offer)} is valid from {clock(begins)} to {clock(ends)}."
        if is_over_midnight and minute < ends:
            # The small hours belong to the evening before.
            day -= timedelta(days=1)
    if offer.days is not None and day.isoweekday() not in offer.days:
        yield f"{_named(offer)} is not valid on this day of the week."


def _limits(offer: Offer, customer_id: CustomerId | None, _at: datetime) -> Iterator[str]:
    if offer.limit_total is not None and offer.used >= offer.limit_total:
        yield f"{_named(offer)} has been used as often as it may be."
    if offer.limit_per_customer is None:
        return
    if customer_id is None:
        yield f"{_named(offer)} is limited per customer: name the customer of the order."
    elif offer.used_by_customer >= offer.limit_per_customer:
        yield f"This customer has used {offer.name} as often as each may."


def _order(offer: Offer, lines: Sequence[PromotedLine]) -> Iterator[str]:
    least = offer.minimum_subtotal
    if least is not None and sum((line.net for line in lines), ZERO) < least:
        decimals = EXPONENTS[offer.currency]
        yield f"{_named(offer)} needs an order of at least {least:.{decimals}f} {offer.currency}."
    if not any(matches(offer, line) for line in lines):
        yield f"{_named(offer)} is for other items than those of this order."


def matches(offer: Offer, line: PromotedLine) -> bool:
    """Whether the promotion is for the product of the line."""
    match offer.scope:
        case "order":
            return True
        case "products":
            return line.product_id in offer.product_ids
        case "categories":
            return line.category_id in offer.category_ids


def _percent(offer: Offer, lines: Sequence[PromotedLine]) -> list[Decimal]:
    weights = _weights(offer, lines)
    return _spread(offer, sum(weights, ZERO) * offer.value / 100, weights)


def _fixed(offer: Offer, lines: Sequence[PromotedLine]) -> list[Decimal]:
    return _spread(offer, offer.value, _weights(offer, lines))


def _free_item(offer: Offer, lines: Sequence[PromotedLine]) -> list[Decimal]:
    candidates = [n for n, line in enumerate(lines) if matches(offer, line) and line.net > 0]
    if not candidates:
        return [ZERO] * len(lines)
    cheapest = min(candidates, key=lambda n: lines[n].unit_price)
    line = lines[cheapest]
    # The price of one unit after earlier discounts of the line; half a kilo is a unit too.
    amount = line.net / max(line.quantity, Decimal(1))
    if offer.value:
        amount = min(amount, offer.value)
    only = [line.net if n == cheapest else ZERO for n in range(len(lines))]
    return _spread(offer, amount, only)


_CUTS: dict[str, Callable[[Offer, Sequence[PromotedLine]], list[Decimal]]] = {
    "percent": _percent,
    "fixed": _fixed,
    "free_item": _free_item,
}


def _weights(offer: Offer, lines: Sequence[PromotedLine]) -> list[Decimal]:
    return [line.net if matches(offer, line) else ZERO for line in lines]


def _spread(offer: Offer, amount: Decimal, weights: list[Decimal]) -> list[Decimal]:
    """The amount over the lines, and never more than they cost or than the promotion gives."""
    bounds = [round_money(amount, offer.currency), sum(weights, ZERO)]
    if offer.maximum_discount is not None:
        bounds.append(offer.maximum_discount)
    total = min(bounds)
    if total <= 0:
        return [ZERO] * len(weights)
    return largest_remainder(total, weights, offer.currency)


def clock(minute: int) -> str:
    """Minutes after midnight as people read them."""
    return f"{minute // 60:02}:{minute % 60:02}"
