"""Strategies for the steps of walks; the simplest step is none at all."""

from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.orders.basket import Ask, Sale
from tests.orders.model import TENDERS
from tests.orders.world import (
    Adjust,
    Confirm,
    Create,
    Delete,
    Patch,
    Replay,
    Send,
    Setting,
    Stage,
    Step,
    Works,
)

SETTINGS = st.builds(
    Setting,
    type=st.sampled_from(["retail", "restaurant"]),
    is_inclusive=st.booleans(),
    restocks=st.sampled_from([True, True, False]),
)
_CUSTOMERS = st.sampled_from([None, "Ann Obi", "Ben Eze", "Cleo New", "Dan New"])
_METHODS = st.sampled_from(["cash", *TENDERS])
_PARTS = st.sampled_from(["0", "0.5", "1", "1.25"]).map(Decimal)
# Few orders, so that much happens to each.
_WHICH = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5, 6])
_KEYED = st.booleans()
_STAGES = st.sampled_from(["queued", "preparing", "ready", "served"])


@st.composite
def _asks(draw: st.DrawFn) -> Ask:
    ware = draw(st.sampled_from(["rice", "beer", "box", "soap", "ghost", "fee", "adhoc"]))
    quantity = Decimal(draw(st.sampled_from(["1", "2", "3", "0.5"])))
    if ware in ("fee", "adhoc"):
        return Ask(ware, quantity, Decimal(draw(st.sampled_from(["500", "0", "99.99"]))))
    price = draw(st.sampled_from([None, None, None, Decimal("800.01")]))
    return Ask(ware, quantity, price, has_extra=ware == "rice" and draw(st.booleans()))


def _telling(sale: Sale) -> Sale:
    """What by chance alone is rare, or too frequent."""
    if sale.is_import and sale.charge:
        # Most sales of the past are for no time to come.
        sale = msgspec.structs.replace(sale, when=None)
    if sale.promotion and sale.discount:
        # Both together may come to more than the price.
        sale = msgspec.structs.replace(sale, asks=(Ask("rice"),), discount=Decimal(800))
    return sale


_SALES = st.builds(
    Sale,
    asks=st.lists(_asks(), min_size=1, max_size=3).map(tuple),
    method=_METHODS,
    customer=_CUSTOMERS,
    when=st.sampled_from([None] * 6 + ["soon", "soon", "later", "later", "past"]),
    is_import=st.sampled_from([False, False, False, False, True]),
    in_store=st.booleans(),
    promotion=st.sampled_from([None, None, None, None, "few", "each"]),
    discount=st.sampled_from(["0", "0", "0", "0", "0", "10", "95.5", "1000"]).map(Decimal),
    charge=st.sampled_from([None, Decimal("120.50")]),
    kitchen=st.sampled_from([None, None, True, False]),
).map(_telling)
_CREATES = st.builds(Create, _SALES, paid=st.none() | _PARTS, is_keyed=_KEYED)

_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "status": st.sampled_from(["cancelled", "pending", "completed", "scheduled"]),
    "customer": st.sampled_from(["Ann Obi", "Ben Eze"]),
    "customer_name": st.sampled_from(["Ann Obi", "Cleo New", "Eve New"]),
    "payment_method": _METHODS,
    "amount_paid": _PARTS,
    "total_amount": st.sampled_from(["0", "0.5", "1", "1.5"]).map(Decimal),
    "term": st.booleans(),
    "scheduled_for": st.sampled_from(["soon", "later", "later", None, None, "past"]),
    "cancellation_reason": st.just("Rain"),
    "channel_fulfilled": st.booleans(),
}
_PATCHES = st.one_of(
    st.sampled_from(sorted(_FIELDS)).flatmap(lambda n: st.fixed_dictionaries({n: _FIELDS[n]})),
    st.lists(st.sampled_from(sorted(_FIELDS)), min_size=2, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({n: _FIELDS[n] for n in names})
    ),
    st.fixed_dictionaries({"status": _FIELDS["status"]}),
    st.fixed_dictionaries({"status": st.sampled_from(["cancelled", "pending"])}),
    st.fixed_dictionaries({"amount_paid": _PARTS}),
)
_CHANGES = st.builds(Patch, _WHICH, _PATCHES)


def _turn(order: int, back: Step, state: str) -> list[Step]:
    """Cancelled, and taken up again after something else."""
    return [Patch(order, {"status": "cancelled"}), back, Patch(order, {"status": state}), Works()]


def _alone(step: Step) -> list[Step]:
    return [step]


_SINGLE: dict[str, tuple[int, st.SearchStrategy[Step]]] = {
    # How often each comes, against the others.
    "none": (1, st.none()),
    "create": (9, _CREATES),
    "change": (14, _CHANGES),
    "confirm": (
        3,
        st.builds(Confirm, _WHICH, st.none() | _PARTS, st.none() | _METHODS, _KEYED),
    ),
    "delete": (2, st.builds(Delete, _WHICH)),
    "send": (2, st.builds(Send, _WHICH, _KEYED)),
    "stage": (3, st.builds(Stage, _WHICH, _STAGES, _KEYED)),
    "replay": (3, st.builds(Replay, _WHICH, st.booleans())),
    "adjust": (
        1,
        st.builds(
            Adjust, st.sampled_from(["rice", "beer", "ghost"]), st.booleans(), st.integers(1, 6)
        ),
    ),
    "works": (2, st.builds(Works)),
}
_STATES = st.sampled_from(["pending", "scheduled"])
STEPS: st.SearchStrategy[Step] = st.sampled_from(
    [name for name, (count, _) in _SINGLE.items() for _ in range(count)]
).flatmap(lambda name: _SINGLE[name][1])
_STRIDES: st.SearchStrategy[list[Step]] = st.integers(0, 9).flatmap(
    lambda lot: st.builds(_turn, _WHICH, STEPS, _STATES) if lot == 9 else STEPS.map(_alone)
)


def walks(length: int) -> st.SearchStrategy[list[Step]]:
    """Walks of so many strides, most of them one step; a shorter one has none in places."""
    strides = st.lists(_STRIDES, min_size=length, max_size=length)
    return strides.map(lambda taken: [step for stride in taken for step in stride])


def crowds() -> st.SearchStrategy[list[list[Step]]]:
    """Steps of one to four clients, without imports, which may sell what isn't there."""
    return st.lists(st.lists(STEPS.map(_as_of_now), min_size=8, max_size=8), min_size=1, max_size=4)


def _as_of_now(step: Step) -> Step:
    if isinstance(step, Create):
        return msgspec.structs.replace(step, sale=_now(step.sale))
    return step


def _now(sale: Sale) -> Sale:
    return msgspec.structs.replace(sale, is_import=False)


CREATES = _CREATES.map(_as_of_now)
OPENINGS = st.lists(CREATES, min_size=4, max_size=4)
