"""Strategies for the steps of walks; the simplest step is none at all."""

from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.orders.basket_model import Ask
from tests.orders.modelled_shop import (
    TABLES,
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
    Send,
    Setting,
    Stage,
    Step,
    Threshold,
    Works,
)
from tests.orders.order_model import TENDERS
from tests.orders.store_price_model import Sale

SETTINGS = st.builds(
    Setting,
    type=st.sampled_from(["retail", "restaurant"]),
    is_inclusive=st.booleans(),
    restocks=st.sampled_from([True, True, False]),
    stocks=st.sampled_from([1, 1, 4]),
    low=st.sampled_from([2, 2, 4, 0]),
)
_CUSTOMERS = st.sampled_from([None, "Ann Obi", "Ben Eze", "Cleo New", "Dan New"])
_METHODS = st.sampled_from(["cash", *TENDERS])
_PARTS = st.sampled_from(["0", "0.5", "1", "1.25"]).map(Decimal)
# Few orders, so that much happens to each; or the latest.
_WHICH = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4, 5, -1, -1])
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


# So much of a price that some promotions leave as much of it, and others don't.
_NEARLY = {"rice": Decimal(800), "soap": Decimal("78.08")}


def _telling(sale: Sale) -> Sale:
    """Weights of steps that chance alone makes rare, or too frequent."""
    if sale.is_import and sale.charge:
        # Most sales of the past are for no time to come.
        sale = msgspec.structs.replace(sale, when=None)
    if sale.promotion and sale.discount:
        # Both together may come to more than the price.
        asks = (Ask("soap") if sale.promotion == "taste" else Ask("rice"),)
        sale = msgspec.structs.replace(sale, asks=asks, discount=_NEARLY[asks[0].ware])
    return sale


_SALES = st.builds(
    Sale,
    asks=st.lists(_asks(), min_size=1, max_size=3).map(tuple),
    method=_METHODS,
    customer=_CUSTOMERS,
    when=st.sampled_from([None] * 6 + ["soon", "soon", "later", "later", "past"]),
    is_import=st.sampled_from([False, False, False, False, True]),
    in_store=st.booleans(),
    promotion=st.sampled_from([None] * 6 + ["few", "each", "gift", "gift", "taste"]),
    discount=st.sampled_from(["0", "0", "0", "0", "0", "10", "95.5", "1000"]).map(Decimal),
    charge=st.sampled_from([None, Decimal("120.50")]),
    kitchen=st.sampled_from([None, None, True, False]),
    table=st.sampled_from([None] * 4 + [*TABLES]),
).map(_telling)
_CREATES = st.builds(Create, _SALES, paid=st.none() | _PARTS, is_keyed=_KEYED)

# Plain sales of what there is little of: each is tried as one statement, much is refused, much
# runs low.
_LITTLE = st.builds(
    Create,
    st.builds(
        Sale,
        asks=st.lists(
            st.builds(
                Ask,
                st.sampled_from(["rice", "rice", "rice", "beer", "box"]),
                st.sampled_from(["1", "1", "2", "0.5"]).map(Decimal),
            ),
            min_size=1,
            max_size=2,
        ).map(tuple),
        customer=st.sampled_from([None, "Ann Obi"]),
        when=st.sampled_from([None, None, None, "later"]),
        in_store=st.booleans(),
        table=st.sampled_from([None, None, None, "Door"]),
    ),
    paid=st.none() | _PARTS,
    is_keyed=_KEYED,
)
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


_CONFIRMS = st.builds(Confirm, _WHICH, st.none() | _PARTS, st.none() | _METHODS, _KEYED)
_COUNTS = st.sampled_from([1, 2, 3, 4, 6, -1, -2, -4])
_ADJUSTS = st.builds(
    Adjust, st.sampled_from(["rice", "rice", "beer", "ghost"]), st.booleans(), _COUNTS
)
_TABLE = st.sampled_from(TABLES)


def _turn(order: int, back: Step, state: str) -> list[Step]:
    """Cancelled, and taken up again after something else."""
    return [Patch(order, {"status": "cancelled"}), back, Patch(order, {"status": state}), Works()]


def _promise(create: Create, between: Step, confirm: Confirm) -> list[Step]:
    """For later, and confirmed after something else."""
    later = msgspec.structs.replace(create.sale, when="later", is_import=False)
    return [msgspec.structs.replace(create, sale=later), between, confirm]


def _alone(step: Step) -> list[Step]:
    return [step]


_SINGLE: dict[str, tuple[int, st.SearchStrategy[Step]]] = {
    # How often each comes, against the others.
    "none": (1, st.none()),
    "create": (8, _CREATES),
    "sell": (7, _LITTLE),
    "change": (14, _CHANGES),
    "confirm": (3, _CONFIRMS),
    "delete": (2, st.builds(Delete, _WHICH)),
    "send": (2, st.builds(Send, _WHICH, _KEYED)),
    "stage": (3, st.builds(Stage, _WHICH, _STAGES, _KEYED)),
    "replay": (3, st.builds(Replay, _WHICH, st.booleans())),
    "retry": (2, st.builds(Retry, _WHICH)),
    "adjust": (2, _ADJUSTS),
    "threshold": (
        1,
        st.builds(
            Threshold, st.sampled_from(["rice", "beer"]), st.sampled_from([None, 0, 1, 2, 3, 6])
        ),
    ),
    "price": (
        1,
        st.builds(
            Price,
            st.sampled_from(["rice", "beer", "soap", "box"]),
            st.sampled_from([None, Decimal("0.99"), Decimal("420.07")]),
        ),
    ),
    "seat": (2, st.builds(Seat, _TABLE)),
    "leave": (2, st.builds(Leave, _TABLE, st.booleans())),
    "works": (2, st.builds(Works)),
}
_STATES = st.sampled_from(["pending", "scheduled"])


def _of(kinds: dict[str, tuple[int, st.SearchStrategy[Step]]]) -> st.SearchStrategy[Step]:
    """One of these kinds, each as often as it says."""
    names = [name for name, (count, _) in kinds.items() for _ in range(count)]
    return st.sampled_from(names).flatmap(lambda name: kinds[name][1])


STEPS = _of(_SINGLE)
_STRIDES: st.SearchStrategy[list[Step]] = st.sampled_from(
    [STEPS.map(_alone)] * 8
    + [st.builds(_turn, _WHICH, STEPS, _STATES), st.builds(_promise, _LITTLE, STEPS, _CONFIRMS)]
).flatmap(lambda stride: stride)


def walks(length: int) -> st.SearchStrategy[list[Step]]:
    """Walks of so many strides, most of them one step; a shorter one has none in places."""
    strides = st.lists(_STRIDES, min_size=length, max_size=length)
    return strides.map(lambda taken: [step for stride in taken for step in stride])


def _at_the_door(step: Create) -> Create:
    return msgspec.structs.replace(step, sale=msgspec.structs.replace(step.sale, table="Door"))


_RUSHES: dict[str, tuple[int, st.SearchStrategy[Step]]] = {
    "none": (1, st.none()),
    "create": (12, _LITTLE),
    "adjust": (3, _ADJUSTS),
    "cancel": (2, st.builds(Patch, _WHICH, st.just({"status": "cancelled"}))),
    "revive": (2, st.builds(Patch, _WHICH, st.just({"status": "pending"}))),
    "delete": (1, st.builds(Delete, _WHICH)),
    "seat": (1, st.builds(Seat, _TABLE)),
    "leave": (1, st.builds(Leave, _TABLE, st.booleans())),
}
# Guests who order while others of their table leave.
_EVENINGS: dict[str, tuple[int, st.SearchStrategy[Step]]] = {
    "none": (1, st.none()),
    "create": (6, _LITTLE.map(_at_the_door)),
    "seat": (2, st.just(Seat("Door"))),
    "leave": (2, st.builds(Leave, st.just("Door"), st.sampled_from([True, True, False]))),
    "pay": (1, st.builds(Patch, _WHICH, st.just({"amount_paid": Decimal(9)}))),
}


def clients_of(length: int) -> st.SearchStrategy[list[list[Step]]]:
    """So many steps of one to four clients, many as greedy, or as restless, as can be."""
    kinds = st.sampled_from([_of(_RUSHES), _of(_EVENINGS), STEPS.map(_as_of_now)])
    # The simplest is drawn by far the most often, so that is all four.
    return st.tuples(kinds, st.sampled_from([4, 3, 2, 1])).flatmap(
        lambda drawn: st.lists(
            st.lists(drawn[0], min_size=length, max_size=length),
            min_size=drawn[1],
            max_size=drawn[1],
        )
    )


def _as_of_now(step: Step) -> Step:
    """Without imports, which may sell what isn't there, and what would change prices."""
    match step:
        case Create():
            return msgspec.structs.replace(step, sale=_now(step.sale))
        case Price() | Threshold() | Retry():
            return None
        case _:
            return step


def _made_now(step: Create) -> Create:
    return msgspec.structs.replace(step, sale=_now(step.sale))


def _now(sale: Sale) -> Sale:
    return msgspec.structs.replace(sale, is_import=False)


CREATES = _CREATES.map(_made_now)
OPENINGS = st.lists(CREATES, min_size=4, max_size=4)
