"""Which moves cross a threshold, and what there was too little of: for any numbers."""

import itertools
from decimal import Decimal
from uuid import UUID

import asyncpg
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tillhouse.kit.clock import now
from tillhouse.stock.events import LOW_STOCK, OUT_OF_STOCK
from tillhouse.stock.facts import MovedStock
from tillhouse.stock.rules import crossings, events, shorts
from tillhouse.stock.store.moving import NO_THRESHOLD_CROSSED

# Small whole numbers meet the lines exactly; the others lie anywhere.
QUANTITIES = st.integers(-4, 4).map(Decimal) | st.decimals(-1000, 1000, places=3)
THRESHOLDS = st.none() | st.integers(0, 4).map(Decimal) | st.decimals(0, 1000, places=3)
ZERO = Decimal(0)


def _moved(
    change: Decimal, available: Decimal, threshold: Decimal | None, *, is_moved: bool = True
) -> MovedStock:
    return MovedStock(
        variant_id=UUID(int=1),
        product_id=UUID(int=2),
        store_id=None,
        on_hand_change=change,
        reserved_change=ZERO,
        on_hand=available,
        reserved=ZERO,
        threshold=threshold,
        is_moved=is_moved,
    )


@given(QUANTITIES, st.lists(QUANTITIES, max_size=20), THRESHOLDS)
def test_each_event_alternates_with_its_rearming(
    start: Decimal, changes: list[Decimal], threshold: Decimal | None
) -> None:
    """Between two of the same event the stock was above the line; below it none fires."""
    lines = {LOW_STOCK: threshold, OUT_OF_STOCK: ZERO}
    available = start
    for change in changes:
        before, available = available, available + change
        fired = set(crossings(_moved(change, available, threshold)))
        for event, line in lines.items():
            goes_below = line is not None and before > line >= available
            assert (event in fired) == goes_below


@given(QUANTITIES, QUANTITIES, THRESHOLDS)
def test_what_adds_fires_nothing(
    change: Decimal, available: Decimal, threshold: Decimal | None
) -> None:
    """Neither does what was not moved."""
    assert not list(crossings(_moved(abs(change), available, threshold)))
    stuck = _moved(change, available, threshold, is_moved=False)
    assert events([stuck], UUID(int=3), now()) == []


def test_a_reservation_counts_like_a_sale() -> None:
    """The available quantity crosses the threshold, not the quantity on hand."""
    moved = MovedStock(
        variant_id=UUID(int=1),
        product_id=UUID(int=2),
        store_id=UUID(int=3),
        on_hand_change=ZERO,
        reserved_change=Decimal(3),
        on_hand=Decimal(10),
        reserved=Decimal(6),
        threshold=Decimal(5),
    )
    [(event, data)] = events([moved], UUID(int=4), now())
    assert event == LOW_STOCK
    assert data.store_id == UUID(int=3)
    assert data.metadata["available"] == Decimal(4)
    assert data.metadata["onHand"] == Decimal(10)


def test_a_shortage_says_what_was_asked_and_what_there_is() -> None:
    """By name where it is known; only of what was not moved."""
    stuck = _moved(Decimal("-3.500"), Decimal("2.000"), None, is_moved=False)
    [short] = shorts([stuck, _moved(Decimal(-1), Decimal(4), None)])
    assert short.sentence() == (
        f"There is not enough of variant {UUID(int=1)}: 3.5 requested, 2 available."
    )
    assert short.sentence("Rice") == (
        f"There is not enough of Rice (variant {UUID(int=1)}): 3.5 requested, 2 available."
    )


async def test_sql_knows_as_well_when_there_is_nothing_to_tell(sql: asyncpg.Connection) -> None:
    """A sale that writes all at once asks the database; the rule says the same of every move."""
    numbers = [Decimal(number) for number in ("-1", "0", "0.5", "1", "2", "3")]
    moves = [
        msgspec.structs.replace(
            _moved(on_hand, available + reserved, threshold, is_moved=is_moved),
            reserved_change=change,
            reserved=reserved,
        )
        for on_hand, change, available, threshold, reserved, is_moved in itertools.product(
            [-2, 0, 1], [-1, 0, 2], numbers, [None, *numbers], [Decimal(0), Decimal(1)],
            [True, False],
        )
    ]  # fmt: skip
    rows = await sql.fetch(
        f"""
        SELECT {NO_THRESHOLD_CROSSED} AS is_steady
        FROM unnest($1::boolean[], $2::numeric[], $3::numeric[],
            $4::numeric[], $5::numeric[], $6::numeric[]) WITH ORDINALITY
            AS m (is_moved, on_hand, reserved, on_hand_change, reserved_change, threshold, place)
        ORDER BY place
        """,  # noqa: S608 - a text of ours
        *([getattr(move, name) for move in moves] for name in (
            "is_moved", "on_hand", "reserved", "on_hand_change", "reserved_change", "threshold",
        )),
    )  # fmt: skip
    told = [row["is_steady"] for row in rows]
    assert told == [move.is_moved and not list(crossings(move)) for move in moves]
    assert 0.1 < told.count(True) / len(told) < 0.9
