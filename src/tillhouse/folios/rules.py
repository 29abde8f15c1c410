"""The money of a stay: how much of it is unspent, and which orders it pays. Pure decisions.

Money that comes in for a stay becomes the credit of its guest, and pays the orders of the stay from
there. An order that needs less than that later gives the rest back to the folio:

    unspent = payments - refunds - what its orders hold of it
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal

import msgspec

from tillhouse.hotel.rates.rules import NightCost
from tillhouse.kit.clock import end_of_day, start_of_day
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.kit.values import DayClock
from tillhouse.ledger.rules import Account, Movement, Postings, Transfer
from tillhouse.orders.posting.rules import TENDERS, LedgerPosition, Method
from tillhouse.orders.recording.rules.figures import KnownTax

SOURCE = "folio_payment"
"""The type of source that payments of folios are."""

_ZERO = Decimal(0)
_NAMED_MAX = 3
_NAME_LENGTH_MAX = 120
_OPEN = ("pending", "completed")

IN_BOOKS = ("booked", "checked_in")
"""Statuses of stays whose nights are to come."""

Funds = dict[CustomerId, Decimal]
"""The unspent money of a folio, by the customer whose credit it is."""
_DAY = timedelta(days=1)


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """Money of a folio that came in as a payment, or left it: handed back, or used for orders."""

    customer_id: CustomerId
    kind: str
    amount: Decimal

    @property
    def signed(self) -> Decimal:
        """The amount that it adds to the payments."""
        return self.amount if self.kind == "payment" else -self.amount


class StayOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order of a stay, and the money of the folio that was used for it."""

    id: OrderId
    short_code: str
    position: LedgerPosition
    used: Decimal

    @property
    def held(self) -> Decimal:
        """The folio's money that it still needs."""
        return max(min(self.used, self.position.credit - self.position.kept), _ZERO)

    @property
    def owed(self) -> Decimal:
        """The amount that is to be paid for it now."""
        if self.position.status not in _OPEN:
            return _ZERO
        return max(self.position.due - self.position.paid, _ZERO)

    @property
    def is_to_come(self) -> bool:
        """Whether it is scheduled, and not paid in full yet."""
        position = self.position
        return position.status == "scheduled" and position.paid < position.due


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """An amount of a folio's money for one order."""

    order_id: OrderId
    customer_id: CustomerId
    amount: Decimal


def funds(moved: Iterable[Moved], orders: Iterable[StayOrder]) -> Funds:
    """The unspent money of a folio: money that orders no longer need is unspent again."""
    found: defaultdict[CustomerId, Decimal] = defaultdict(Decimal)
    for one in moved:
        found[one.customer_id] += one.signed
    for order in orders:
        if order.position.customer_id is not None:
            found[order.position.customer_id] += order.used - order.held
    return dict(found)


def uses(orders: Sequence[StayOrder], unspent: Mapping[CustomerId, Decimal]) -> Iterator[Use]:
    """The orders that the unspent money pays, in the order in which they come."""
    left = dict(unspent)
    for order in orders:
        customer_id = order.position.customer_id
        if customer_id is None:
            continue
        amount = min(order.owed, left.get(customer_id, _ZERO))
        if amount > 0:
            left[customer_id] -= amount
            yield Use(order_id=order.id, customer_id=customer_id, amount=amount)


def taken_back(orders: Sequence[StayOrder], customer_id: CustomerId, amount: Decimal) -> list[Use]:
    """The orders that an amount is taken back from, the latest first.

    An order gives the part that it holds: a refund by another method has left the house.
    """
    found: list[Use] = []
    for order in reversed(orders):
        is_theirs = order.position.customer_id == customer_id
        part = min(order.held, order.position.paid, amount) if is_theirs else _ZERO
        if part > 0:
            amount -= part
            found.append(Use(order_id=order.id, customer_id=customer_id, amount=-part))
    return found


def refunded_to(
    available: Mapping[CustomerId, Decimal], guest: CustomerId, amount: Decimal
) -> CustomerId:
    """The customer whose credit is handed back: the guest's, or an earlier guest's of the stay."""
    for customer_id in sorted(available, key=lambda one: (one != guest, one)):
        if available[customer_id] >= amount:
            return customer_id
    most = max(available.values(), default=_ZERO)
    raise Refused(f"{amount:f} can't be handed back: {most:f} of the stay's money are unspent.")


def received(customer_id: CustomerId, method: Method, amount: Decimal) -> Postings:
    """The postings of money that comes in for a stay."""
    credit = Account("customer_credit", customer_id)
    transfer = Transfer(Account(TENDERS[method]), credit, amount, "folio_payment")
    return Postings((transfer,), (Movement("credit", method, amount),))


def handed_back(customer_id: CustomerId, method: Method, amount: Decimal) -> Postings:
    """The postings of money that goes back to the guest, or to the provider."""
    credit = Account("customer_credit", customer_id)
    transfer = Transfer(credit, Account(TENDERS[method]), amount, "folio_refund")
    return Postings((transfer,), (Movement("refund", method, -amount),))


def slept(nights: Mapping[date, NightCost], today: date) -> dict[date, NightCost]:
    """The nights that a stay owes when it ends today: the first one, and those before today."""
    first = min(nights)
    return {night: cost for night, cost in nights.items() if night == first or night < today}


def night_name(room: str, room_type: str, night: date) -> str:
    """The words for a night on a bill."""
    said = f"Room {room}, night of {night}"
    named = f"{said} ({room_type})"
    return named if len(named) <= _NAME_LENGTH_MAX else said


def night_time(night: date, zone: str, now: datetime) -> datetime:
    """The time at which a night is sold: by the end of its day, and not later than now."""
    return min(end_of_day(night, zone), now)


def night_tax(cost: NightCost) -> KnownTax:
    """The taxes of a night, in its price and on top."""
    included = sum((tax.amount for tax in cost.taxes if tax.is_inclusive), _ZERO)
    added = sum((tax.amount for tax in cost.taxes if not tax.is_inclusive), _ZERO)
    return KnownTax(included, added)


def owed_by(orders: Iterable[StayOrder]) -> Decimal:
    """The amount that orders owe."""
    return sum((order.owed for order in orders), _ZERO)


def check_settled(orders: Sequence[StayOrder], currency: str, *, leaves_debt: bool) -> None:
    """Refuse to let a guest leave who owes, unless it is to be a debt."""
    to_come = [order.short_code for order in orders if order.is_to_come]
    if to_come:
        more = f" and {len(to_come) - _NAMED_MAX} more" if len(to_come) > _NAMED_MAX else ""
        raise Refused(
            f"Scheduled for the stay: {', '.join(to_come[:_NAMED_MAX])}{more}. Confirm or cancel "
            "these orders first."
        )
    if (owed := owed_by(orders)) and not leaves_debt:
        raise Refused(
            f"The stay owes {owed:f} {currency}: record a payment of the stay, or check out with "
            "leave_as_debt."
        )


def latest_day(zone: str, audit_time: str, now: datetime) -> date:
    """The last day whose audit is due: yesterday, once it is late enough by the clock there.

    It is a day of the calendar, so that one of 23 or 25 hours is one day, too.
    """
    today = DayClock.at_midnight(zone).today(now)
    hours, minutes = audit_time.split(":")
    begins = start_of_day(today, zone, timedelta(hours=int(hours), minutes=int(minutes)))
    return today - (_DAY if now >= begins else 2 * _DAY)


def due_days(last: date | None, first: date | None, until: date) -> Iterator[date]:
    """The days that are to be audited up to one, each after the other.

    `last`: the last that was; without one they begin with the `first` day of any stay.
    """
    day = last + _DAY if last else first
    while day is not None and day <= until:
        yield day
        day += _DAY
