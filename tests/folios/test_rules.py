"""The money of a stay by its pure rules: nothing is spent twice, and nothing is lost."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.folios import rules
from tillhouse.folios.rules import Moved, StayOrder
from tillhouse.hotel.rates.rules import night_cost
from tillhouse.kit.errors import Refused
from tillhouse.kit.ids import CustomerId, OrderId
from tillhouse.orders.posting.rules import LedgerPosition
from tillhouse.orders.types import Status

GUESTS = [CustomerId(UUID(int=number)) for number in (1, 2)]
ZONES = ("Africa/Lagos", "Europe/Berlin", "America/Santiago", "Africa/Cairo", "Pacific/Apia")
_AMOUNTS = st.integers(0, 500).map(lambda cents: Decimal(cents) / 100)


@st.composite
def _orders(draw: st.DrawFn) -> list[StayOrder]:
    found: list[StayOrder] = []
    for number in range(draw(st.integers(0, 6))):
        total, paid = draw(_AMOUNTS), draw(_AMOUNTS)
        credit = draw(_AMOUNTS.map(lambda most, paid=paid: min(most, paid)))
        position = LedgerPosition(
            total=total,
            paid=paid,
            method="credit",
            customer_id=draw(st.sampled_from([*GUESTS, None])),
            status=draw(st.sampled_from(["pending", "completed", "cancelled", "deleted"])),
            credit=credit,
        )
        used = draw(_AMOUNTS.map(lambda most, credit=credit: min(most, credit)))
        order_id = OrderId(UUID(int=number))
        found.append(StayOrder(id=order_id, short_code=str(number), position=position, used=used))
    return found


@given(_orders(), st.dictionaries(st.sampled_from(GUESTS), _AMOUNTS))
def test_uses_spend_what_there_is_and_no_more(
    orders: list[StayOrder], unspent: dict[CustomerId, Decimal]
) -> None:
    """Each order gets what it owes at most, of its own customer's money, the oldest first."""
    found = list(rules.uses(orders, unspent))
    owed = {order.id: order for order in orders}
    spent: Counter[CustomerId] = Counter()
    for use in found:
        order = owed[use.order_id]
        assert 0 < use.amount <= order.owed
        assert order.position.customer_id == use.customer_id
        spent[use.customer_id] += use.amount  # type: ignore[assignment]
    for guest in GUESTS:
        left = unspent.get(guest, Decimal(0)) - spent[guest]
        assert left >= 0
        paid = {use.order_id: use.amount for use in found}
        open_ = [
            order
            for order in orders
            if order.position.customer_id == guest and order.owed > paid.get(order.id, 0)
        ]
        assert left == 0 or not open_
        partly = [order for order in open_ if order.id in paid]
        assert partly in ([], open_[:1])


@given(_orders(), st.sampled_from(GUESTS), _AMOUNTS)
def test_what_is_taken_back_was_held(
    orders: list[StayOrder], guest: CustomerId, amount: Decimal
) -> None:
    """From no order more than it holds, and as much as asked for if they hold that."""
    found = rules.taken_back(orders, guest, amount)
    held = {order.id: order.held for order in orders}
    assert all(0 < -use.amount <= held[use.order_id] for use in found)
    mine = sum((one.held for one in orders if one.position.customer_id == guest), Decimal(0))
    assert -sum((use.amount for use in found), Decimal(0)) == min(mine, amount)


@given(_orders(), st.lists(st.tuples(st.sampled_from(GUESTS), _AMOUNTS)))
def test_funds_are_payments_less_what_orders_hold(
    orders: list[StayOrder], paid: list[tuple[CustomerId, Decimal]]
) -> None:
    """Orders may have been cancelled or deleted since."""
    moved = [Moved(customer_id=whose, kind="payment", amount=amount) for whose, amount in paid]
    moved += [
        Moved(customer_id=order.position.customer_id, kind="use", amount=order.used)
        for order in orders
        if order.position.customer_id
    ]
    found = rules.funds(moved, orders)
    for guest in GUESTS:
        held = sum((one.held for one in orders if one.position.customer_id == guest), Decimal(0))
        came = sum((amount for whose, amount in paid if whose == guest), Decimal(0))
        assert found.get(guest, Decimal(0)) == came - held


def test_an_order_holds_what_it_needs() -> None:
    """Of one that was cancelled nothing, of one that became cheaper the rest."""
    position = LedgerPosition(
        total=Decimal(80), paid=Decimal(80), method="credit", customer_id=GUESTS[0],
        status="completed", credit=Decimal(80),
    )  # fmt: skip

    def held(**changes: object) -> Decimal:
        values = {name: getattr(position, name) for name in position.__struct_fields__}
        other = LedgerPosition(**{**values, **changes})
        order = StayOrder(id=OrderId(UUID(int=9)), short_code="9", position=other, used=Decimal(50))
        return order.held

    assert held() == 50
    assert held(status="cancelled") == held(status="deleted") == 0
    assert held(total=Decimal(40)) == 40
    assert held(credit=Decimal(20)) == 20


def test_no_more_is_taken_back_than_is_still_paid() -> None:
    """Of 50 that an order used, 30 were refunded in cash since: 20 are there to be taken back."""
    position = LedgerPosition(
        total=Decimal(50), paid=Decimal(20), method="credit", customer_id=GUESTS[0],
        status="completed", credit=Decimal(50),
    )  # fmt: skip
    order_id = OrderId(UUID(int=9))
    order = StayOrder(id=order_id, short_code="9", position=position, used=Decimal(50))
    assert order.held == 50
    [use] = rules.taken_back([order], GUESTS[0], Decimal(50))
    assert use.amount == -20


def test_nights_that_were_slept() -> None:
    """The first always, then those before today."""
    cost = night_cost(Decimal(100), [], "NGN")
    nights = [date(2026, 11, day) for day in (20, 21, 22)]
    costs = dict.fromkeys(nights, cost)
    assert [*rules.slept(costs, date(2026, 11, 20))] == nights[:1]
    assert [*rules.slept(costs, date(2026, 11, 22))] == nights[:2]
    assert rules.slept(costs, date(2026, 12, 1)) == costs


def test_a_night_is_sold_on_its_day() -> None:
    """At the end of it, or now if that is earlier."""
    now = datetime(2026, 11, 23, 3, tzinfo=ZoneInfo("UTC"))
    night = rules.night_time(date(2026, 11, 22), "Africa/Lagos", now)
    assert night.isoformat() == "2026-11-22T22:59:59.999000+00:00"
    assert rules.night_time(date(2026, 11, 23), "Africa/Lagos", now) == now


@given(
    st.sampled_from(ZONES),
    st.integers(0, 11 * 60 + 59),
    st.integers(0, 2 * 365 * 24 * 60),
    st.integers(1, 4000),
)
def test_each_day_is_due_once_whatever_the_clocks_do(
    zone: str, minutes: int, begin: int, gap: int
) -> None:
    """However long the gaps between two looks are: no day is left out, and none comes again."""
    audit_time = f"{minutes // 60:02}:{minutes % 60:02}"
    moment, seen = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=begin), list[date]()
    first = rules.latest_day(zone, audit_time, moment)
    last = first - timedelta(days=1)
    for _ in range(40):
        until = rules.latest_day(zone, audit_time, moment)
        for day in rules.due_days(last, None, until):
            seen.append(day)
            last = day
        moment += timedelta(minutes=gap)
    assert seen == [first + timedelta(days=number) for number in range(len(seen))]


def test_days_of_23_and_25_hours_are_days() -> None:
    """At 3 in the morning the night before is due, by whichever clock that is."""
    zone = "Europe/Berlin"
    for day in (date(2026, 3, 28), date(2026, 10, 24)):
        there = datetime(day.year, day.month, day.day + 1, 3, tzinfo=ZoneInfo(zone))
        due = there.astimezone(UTC)
        assert rules.latest_day(zone, "03:00", due) == day
        before = due - timedelta(seconds=1)
        assert rules.latest_day(zone, "03:00", before) == day - timedelta(days=1)
    # 02:30 comes twice: the first time counts. And once it never comes: when the clock jumps.
    twice = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert rules.latest_day(zone, "02:30", twice) == date(2026, 10, 24)
    never = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    assert rules.latest_day(zone, "02:30", never) == date(2026, 3, 28)


def test_a_bill_says_which_night() -> None:
    """Also where the room type has a long name."""
    told = rules.night_name("101", "Standard", date(2026, 11, 2))
    assert told == "Room 101, night of 2026-11-02 (Standard)"
    assert rules.night_name("101", "x" * 120, date(2026, 11, 2)) == told.removesuffix(" (Standard)")


def test_the_longest_name_of_a_night_keeps_its_type() -> None:
    """A line of a bill has 120 characters: with one more the type of the room is left out."""
    night = date(2026, 1, 31)
    plain = len(rules.night_name("7", "", night))
    longest = "x" * (120 - plain)
    assert rules.night_name("7", longest, night).endswith(f"({longest})")
    assert rules.night_name("7", longest + "x", night) == "Room 7, night of 2026-01-31"


def test_all_of_a_guests_credit_can_be_handed_back() -> None:
    """To the unit; one unit more is refused, though two guests hold it together."""
    unspent = {GUESTS[0]: Decimal(30), GUESTS[1]: Decimal(50)}
    assert rules.refunded_to(unspent, GUESTS[0], Decimal(30)) == GUESTS[0]
    assert rules.refunded_to(unspent, GUESTS[0], Decimal(50)) == GUESTS[1]
    with pytest.raises(Refused, match="51 can't be handed back: 50 of"):
        rules.refunded_to(unspent, GUESTS[0], Decimal(51))


def _order(code: str, *, paid: int, status: Status = "scheduled") -> StayOrder:
    position = LedgerPosition(
        total=Decimal(10), paid=Decimal(paid), method="cash", customer_id=None, status=status
    )
    order_id = OrderId(UUID(int=ord(code)))
    return StayOrder(id=order_id, short_code=code, position=position, used=Decimal(0))


def test_a_scheduled_order_that_is_paid_keeps_no_guest() -> None:
    """An order that owes nothing more may be served after the check-out."""
    rules.check_settled([_order("A", paid=10)], "NGN", leaves_debt=False)
    with pytest.raises(Refused, match=r"Scheduled for the stay: A\. "):
        rules.check_settled([_order("A", paid=9)], "NGN", leaves_debt=False)


def test_a_refusal_names_three_scheduled_orders_and_counts_the_others() -> None:
    """The sentence says of how many orders it is silent, and nothing where it names them all."""
    three = [_order(code, paid=0) for code in "ABC"]
    with pytest.raises(Refused, match=r"A, B, C\. Confirm"):
        rules.check_settled(three, "NGN", leaves_debt=True)
    with pytest.raises(Refused, match=r"A, B, C and 1 more\. Confirm"):
        rules.check_settled([*three, _order("D", paid=0)], "NGN", leaves_debt=True)


def test_an_order_paid_beyond_its_total_owes_nothing() -> None:
    """Its change is no part of what another order still owes."""
    orders = [
        _order("A", paid=12, status="completed"), _order("B", paid=7, status="pending")
    ]  # fmt: skip
    assert rules.owed_by(orders) == 3
