"""Walks that are taken every time, since what is drawn by chance may miss something."""

from decimal import Decimal

from tests.orders.basket_model import Ask
from tests.orders.modelled_shop import (
    Adjust,
    Confirm,
    Create,
    Delete,
    Leave,
    Patch,
    Price,
    Replay,
    Retry,
    Seat,
    Step,
    Threshold,
    Works,
)
from tests.orders.store_price_model import Sale

ONE, TWO, THREE = Decimal(1), Decimal(2), Decimal(3)


def _rice(count: Decimal, *, is_keyed: bool = True) -> Create:
    return Create(Sale(asks=(Ask("rice", count),)), is_keyed=is_keyed)


def _with(promotion: str, *asks: Ask, customer: str | None = "Ann Obi") -> Create:
    return Create(Sale(asks=asks, customer=customer, promotion=promotion))


_AT_THE_DOOR = Create(Sale(asks=(Ask("soap"),), table="Door"), is_keyed=True)
_IN_STORE = Create(Sale(asks=(Ask("rice", has_extra=True), Ask("beer")), in_store=True), paid=ONE)
_LATER = Create(Sale(asks=(Ask("rice", TWO),), when="later"))

# Of five, where two are few.
TOUR: list[Step] = [
    _rice(ONE),
    # Down to two, and no further by three; with more of it the refused one is welcome.
    _rice(TWO),
    _rice(THREE),
    Adjust("rice", in_store=False, count=3),
    Retry(-1),
    _rice(TWO),
    _rice(ONE),
    Replay(1),
    Replay(1, is_other=True),
    # The same crossings once more, by what was only promised.
    Adjust("rice", in_store=False, count=4),
    _LATER,
    _LATER,
    Confirm(-1),
    Patch(0, {"status": "cancelled"}),
    Patch(0, {"status": "pending"}),
    Threshold("rice", 0),
    Patch(0, {"status": "cancelled"}),
    Delete(0),
    # The price of the store, before and after a change.
    _IN_STORE,
    Price("beer", None),
    _IN_STORE,
    # A gift of the cheapest, twice for each; part of one, once for each; none for nobody.
    Adjust("rice", in_store=False, count=6),
    _with("gift", Ask("beer", TWO), Ask("soap")),
    _with("gift", Ask("box")),
    _with("gift", Ask("soap")),
    _with("gift", Ask("soap"), customer="Cleo New"),
    _with("taste", Ask("adhoc", ONE, Decimal(5)), Ask("soap", THREE)),
    _with("taste", Ask("beer"), customer=None),
    _with("each", Ask("soap"), customer="Cleo New"),
    Patch(-1, {"status": "cancelled"}),
    _with("each", Ask("soap"), customer="Cleo New"),
    # Guests who first have to pay.
    _AT_THE_DOOR,
    Seat("Door"),
    Leave("Door", is_forced=False),
    Patch(-1, {"amount_paid": ONE}),
    Leave("Door", is_forced=False),
    _AT_THE_DOOR,
    Seat("Door"),
    Retry(-1),
    _AT_THE_DOOR,
    Leave("Door", is_forced=True),
    Works(),
]

# Four clients, who want twice what there is, at a table whose guests come and go.
OPENING: list[Step] = [_rice(ONE), _with("gift", Ask("soap"))]
ONCE = _rice(ONE)
RUSH: list[list[Step]] = [
    [_rice(ONE), _AT_THE_DOOR, _rice(TWO, is_keyed=False), _rice(ONE), _IN_STORE, Replay(0)],
    [_rice(ONE), Leave("Door", is_forced=True), _rice(TWO), Seat("Door"), _IN_STORE, Replay(0)],
    [_rice(ONE), _AT_THE_DOOR, Adjust("rice", in_store=False, count=2), _LATER, _IN_STORE],
    [_rice(ONE), _AT_THE_DOOR, Patch(0, {"status": "cancelled"}), _rice(TWO), _IN_STORE],
]
# Three who order all the time while their table changes hands.
EVENING: list[list[Step]] = [
    [Leave("Door", is_forced=True), Seat("Door")] * 8,
    *([_AT_THE_DOOR] * 16 for _ in range(3)),
]
