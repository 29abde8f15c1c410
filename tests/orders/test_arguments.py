"""Decisions leave what they were handed as it was: a caller compares before and after."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from tests.orders.test_baskets import DECIMALS, PRODUCTS, trade_of
from tillhouse.http.fields import parse
from tillhouse.kit.errors import Refused
from tillhouse.orders.changing import rules
from tillhouse.orders.changing.rules import OrderState, StockState
from tillhouse.orders.importing.rules import ask
from tillhouse.orders.recording.rules.figures import (
    PricedLine,
    add_up,
    discountable,
    discounted,
    taxed,
)
from tillhouse.orders.types import Confirmation, OrderPatch, PaymentMethod, Status

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AMOUNTS = st.integers(0, 10**6).map(Decimal)
MOMENTS = st.sampled_from([None, NOW - timedelta(days=1), NOW + timedelta(days=1)])
IDS = st.sampled_from([None, UUID(int=1), UUID(int=2)])
LINES = st.lists(
    st.builds(
        PricedLine,
        line_type=st.sampled_from(["product", "fee"]),
        product=st.sampled_from([None, *PRODUCTS]),
        variant=st.none(),
        product_name=st.just("Rice"),
        quantity=st.just(Decimal(1)),
        unit_price=AMOUNTS,
        original_unit_price=AMOUNTS,
        subtotal=AMOUNTS,
        modifiers=st.just([]),
        components=st.just([]),
        discount=st.just(Decimal(0)),
        tax=st.just(Decimal(0)),
        total=st.just(Decimal(0)),
    ),
    max_size=6,
)
ORDERS = st.builds(
    OrderState,
    id=st.just(UUID(int=3)),
    short_code=st.just("A1"),
    status=st.sampled_from(get_args(Status)),
    currency=st.just("NGN"),
    total_amount=AMOUNTS,
    adjustment_amount=AMOUNTS,
    amount_paid=AMOUNTS,
    change_amount=AMOUNTS,
    refunded_amount=AMOUNTS,
    credit_amount=AMOUNTS,
    tip_amount=AMOUNTS,
    payment_method=st.sampled_from(get_args(PaymentMethod)),
    customer_id=IDS,
    store_id=IDS,
    channel_fulfilled_at=MOMENTS,
    scheduled_at=MOMENTS,
    scheduled_confirmed_at=MOMENTS,
    academic_term_id=IDS,
    cancellation=st.none() | st.builds(lambda: {"reason": None, "previousStatus": "pending"}),
    fires_at=MOMENTS,
    stock_state=st.sampled_from(get_args(StockState)),
    promotion_id=IDS,
    promotion_customer_id=IDS,
    stock_round=st.integers(0, 9),
    postings=st.integers(0, 9),
    preparation_minutes=st.integers(0, 1440),
    occurred_at=st.just(NOW),
    ticket_id=IDS,
    stock_policy=st.just("deny"),
    deleted_at=MOMENTS,
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["scheduled", "pending", "completed", "cancelled"]),
        "payment_method": st.sampled_from(["cash", "credit"]),
        "amount_paid": st.integers(0, 10**6),
        "total_amount": st.integers(0, 10**6),
        "academic_term_id": st.sampled_from([None, str(UUID(int=1))]),
        "scheduled_for": st.sampled_from([None, "2026-03-02T12:00:00Z"]),
        "channel_fulfilled": st.booleans(),
    },
)


@given(
    lines=LINES,
    currency=st.sampled_from(list(DECIMALS)),
    inclusive=st.booleans(),
    part=st.integers(0, 4),
)
def test_totals_leave_the_lines(
    lines: list[PricedLine], currency: str, inclusive: bool, part: int
) -> None:
    """Discounts and taxes are in other lines than those that they were worked out of."""
    before, trade = deepcopy(lines), trade_of(currency, inclusive=inclusive)
    sold = taxed(lines, discountable(lines) * part // 4, trade)
    add_up(sold, Decimal(part))
    discounted(lines, dict.fromkeys(range(len(lines)), Decimal(part)))
    assert lines == before
    assert sum(one.discount for one in sold) == discountable(lines) * part // 4


@given(order=ORDERS, change=CHANGES, is_confirmed=st.booleans())
def test_a_change_leaves_the_order(
    order: OrderState, change: dict[str, Any], is_confirmed: bool
) -> None:
    """The state before is what events, stock and ledger are worked out of."""
    before, actor = deepcopy(order), {"id": "1", "name": "Ada"}
    try:
        if is_confirmed:
            paid = {k: v for k, v in change.items() if k in ("amount_paid", "payment_method")}
            after = rules.confirmed(order, parse(paid, Confirmation), NOW, actor)
        else:
            after = rules.patched(order, parse(change, OrderPatch), NOW, actor)
    except Refused:
        after = order
    rules.stock_goal(order, after)
    rules.what_changed(order, after)
    assert order == before
    assert actor == {"id": "1", "name": "Ada"}


ITEMS = st.fixed_dictionaries(
    {"quantity": st.integers(1, 3)},
    optional={
        "product_sku": st.sampled_from(["RICE", "", 5]),
        "product_name": st.sampled_from(["Rice", None]),
        "product_id": st.just(str(UUID(int=1))),
    },
)
ROWS = st.fixed_dictionaries(
    {"items": st.lists(st.one_of(ITEMS, st.none()), max_size=3)},
    optional={
        "row_key": st.sampled_from(["1", None, 5]),
        "customer_phone": st.sampled_from(["+2348030000000", "5"]),
        "customer_id": st.just(str(UUID(int=1))),
    },
)


@given(row=ROWS)
def test_an_imported_order_is_taken_apart_as_a_copy(row: dict[str, Any]) -> None:
    """The fields that only files have are still in what was handed in."""
    before = deepcopy(row)
    asked = ask(row)
    assert row == before
    assert not {"row_key", "customer_phone"} & asked.value.keys()
