"""Walks through payments, corrections, refunds and cancellations, held against the model."""

import copy
from decimal import Decimal

import asyncpg
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.make import Make
from tests.orders.payments.money_model import TENDERS, MoneyModel, Refusal
from tests.orders.payments.till import Till
from tests.orders.shop import Body
from tillhouse.app import App

TOTAL = Decimal(100)
AMOUNTS = st.sampled_from(["0.01", "20", "30", "50", "99.99", "100", "120"]).map(Decimal)
METHODS = st.sampled_from(sorted(TENDERS))
STEPS = st.one_of(
    st.tuples(st.just("pay"), AMOUNTS, METHODS, st.sampled_from([Decimal(0), Decimal(5)])),
    st.tuples(st.just("correct"), st.just(Decimal(0)) | AMOUNTS),
    st.tuples(st.just("give_back"), AMOUNTS, METHODS),
    st.tuples(st.just("cancel")),
    st.tuples(st.just("revive")),
)


async def _take(till: Till, order: Body, step: tuple[object, ...]) -> int:
    """Ask for a step; the status of the answer."""
    path = f"/v1/orders/{order['id']}"
    match step:
        case ("pay", amount, method, tip):
            answer = await till.post_payment(
                order, {"amount": str(amount), "method": method, "tip": str(tip)}
            )
        case ("correct", amount):
            answer = await till.api.patch(path, {"amount_paid": str(amount)})
        case ("give_back", amount, method):
            answer = await till.post_refund(order, {"amount": str(amount), "method": method})
        case (word,):
            status = "cancelled" if word == "cancel" else "pending"
            answer = await till.api.patch(path, {"status": status})
        case _:
            raise AssertionError(step)
    assert answer.status in (200, 201, 400), answer
    return answer.status


def _shown(model: MoneyModel) -> tuple[object, ...]:
    remaining = max(model.due - model.paid, Decimal(0))
    return (
        model.status, model.paid, model.change, model.refunded, model.tips, remaining,
    )  # fmt: skip


@given(st.lists(STEPS, max_size=8))
@example([("pay", Decimal(120), "cash", Decimal(0)), ("cancel",), ("correct", Decimal(0))])
@example(
    [
        ("pay", Decimal(120), "cash", Decimal(0)),
        ("cancel",),
        ("give_back", Decimal(100), "cash"),
        ("revive",),
    ]
)
@example(
    [
        ("pay", Decimal(120), "pos", Decimal(5)),
        ("give_back", Decimal(50), "pos"),
        ("cancel",),
        ("revive",),
        ("give_back", Decimal(50), "cash"),
    ]
)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
async def test_the_money_of_an_order_does_what_the_model_says(
    app: App, make: Make, sql: asyncpg.Connection, steps: list[tuple[object, ...]]
) -> None:
    """After each step: the answer, the amounts, every account; and the proof finds nothing."""
    till = await Till.open(make, sql)
    order = await till.ring(100, customer_name="Ada Obi")
    model = MoneyModel(total=TOTAL)
    for step in steps:
        earlier = copy.deepcopy(model)
        try:
            getattr(model, str(step[0]))(*step[1:])
            is_refused = False
        except Refusal:
            model, is_refused = earlier, True
        assert (await _take(till, order, step) == 400) == is_refused, step
        shown = await till.show(order)
        names = ("amountPaid", "changeAmount", "refundedAmount", "tipAmount", "remainingAmount")
        told = (shown["status"], *(Decimal(str(shown[name])) for name in names))
        assert told == _shown(model), step
        assert await till.accounts() == model.accounts(), step
    assert await till.faults(app.services) == []
