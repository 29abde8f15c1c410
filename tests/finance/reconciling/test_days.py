"""A provider's money by days: each beside what is booked, and the first that differs named."""

from collections import defaultdict
from datetime import UTC, date, timedelta
from decimal import Decimal

import msgspec
import pytest

from tests.finance.reconciling.drifting import Drifting
from tests.orders.shop import Body
from tillhouse.finance.reconciling.days import total
from tillhouse.finance.reconciling.types import MoneyDay, MovedMoney
from tillhouse.kit.clock import now
from tillhouse.payins.sandbox.simulating import Simulated
from tillhouse.payins.sandbox.store import PAGE

DAY = timedelta(days=1)


async def days_of(drifting: Drifting) -> list[MoneyDay]:
    """The days of the last week at the sandbox, which is the book's only provider."""
    report = await drifting.look(since=now() - 7 * DAY)
    if not report.days:
        return []
    [one] = report.days
    first = [day.day for day in one.days if day.difference]
    assert one.first_difference == (first[0] if first else None)
    return one.days


async def test_a_healthy_business_agrees_on_every_day(drifting: Drifting) -> None:
    """With payments, a withdrawal, a refund through the provider, and its fees."""
    assert await days_of(drifting) == []
    await drifting.give_back("40")
    await drifting.withdraw("50")
    await drifting.work()
    days = await days_of(drifting)
    assert [one.difference for one in days] == [0] * len(days)
    assert [one.at_provider for one in days] == [one.booked for one in days]
    moved = days[-1].booked
    assert (moved.payments, moved.refunds, moved.payouts) == (2000, -40, -50)
    assert days[-1].booked_balance == await drifting.balance() == total(moved)


async def test_the_day_of_a_drift_is_named_and_its_sums_go_on(drifting: Drifting) -> None:
    """Money that arrived two days ago and that nobody recorded; today agrees."""
    await drifting.paid()
    at = now() - 2 * DAY
    await drifting.execute(_ARRIVED, at)
    drifted, today = await days_of(drifting)
    assert drifted.day == at.astimezone(UTC).date()
    assert (drifted.difference, drifted.booked.payments) == (495, 0)
    assert (drifted.at_provider.payments, drifted.at_provider.fees) == (500, -5)
    assert today.difference == 0
    assert today.provider_balance - today.booked_balance == Decimal(495)


_ARRIVED = """
    INSERT INTO sandbox_payments (book_id, id, reference, account_number, state, amount, fee,
        currency, payer_name, paid_at)
    VALUES ($1, gen_random_uuid(), NULL, '0123456789', 'successful', 500, 5, 'USD', 'Bola', $2)
"""


async def test_what_is_booked_is_what_the_transfers_of_each_day_come_to(
    drifting: Drifting,
) -> None:
    """Of the account of providers, added up once more; with payments, refunds and a payout."""
    await drifting.give_back("40")
    await drifting.withdraw("50.94")
    await drifting.execute(_ARRIVED, now() - 2 * DAY)
    await drifting.work()
    await drifting.repair(since=now() - 7 * DAY)
    await disputed(drifting, "dispute_won")
    await disputed(drifting, "dispute_lost")
    days = await days_of(drifting)
    assert [columns(one) for one in days] == [await transferred(drifting, one.day) for one in days]
    assert len(days) == 2
    assert [one.difference for one in days] == [0, 0]
    [balance] = (await drifting.look()).balances
    assert balance.booked == days[-1].booked_balance


async def test_a_dispute_is_of_the_day_on_which_it_was_opened(drifting: Drifting) -> None:
    """The amount it holds leaves then, and is back once it is won; the fee stays."""
    order = await disputed(drifting)
    [day] = await days_of(drifting)
    assert (day.booked.payments, day.booked.disputes) == (1000, -1000)
    assert day.at_provider == day.booked
    fees = day.booked.fees
    await drifting.execute("UPDATE sandbox_disputes SET amount = 400 WHERE book_id = $1")
    [day] = await days_of(drifting)
    assert (day.at_provider.disputes, day.booked.disputes, day.difference) == (-400, -1000, 600)
    await drifting.execute("UPDATE sandbox_disputes SET amount = 1000 WHERE book_id = $1")
    await drifting.till.paid(order, "dispute_won")
    [day] = await days_of(drifting)
    assert (day.booked.disputes, day.booked.fees) == (0, fees)
    assert day.at_provider == day.booked


async def test_a_dispute_that_took_more_than_was_left_is_booked_as_far_as_that_went(
    drifting: Drifting,
) -> None:
    """A part had gone back by a refund: the provider took it twice, and the day says so."""
    order = await refunded(drifting, "80.5", "30")
    await drifting.till.paid(order, "dispute_lost")
    [day] = await days_of(drifting)
    assert (day.at_provider.disputes, day.booked.disputes) == (Decimal("-80.5"), Decimal("-50.5"))
    assert (day.at_provider.refunds, day.booked.refunds, day.difference) == (-30, -30, -30)
    assert columns(day) == await transferred(drifting, day.day)
    [balance] = (await drifting.look()).balances
    assert balance.booked == day.booked_balance


async def test_a_payment_that_was_disputed_and_then_undone_left_once(drifting: Drifting) -> None:
    """The books have it as gone back, and so has the day of the provider: nothing differs."""
    order = await disputed(drifting, "dispute_lost")
    await drifting.till.paid(order, "reversed")
    [day] = await days_of(drifting)
    assert (day.booked.refunds, day.booked.disputes) == (-1000, 0)
    assert day.at_provider == day.booked
    assert columns(day) == await transferred(drifting, day.day)


async def test_what_a_dispute_took_beyond_a_payment_that_was_undone_is_told(
    drifting: Drifting,
) -> None:
    """A part of it had gone back by a refund, so that the disputed amount wasn't there."""
    order = await refunded(drifting, "80.5", "30")
    await drifting.till.paid(order, "dispute_lost")
    await drifting.till.paid(order, "reversed")
    [day] = await days_of(drifting)
    assert (day.at_provider.refunds, day.booked.refunds) == (Decimal("-80.5"), Decimal("-80.5"))
    assert (day.at_provider.disputes, day.booked.disputes, day.difference) == (-30, 0, -30)
    assert columns(day) == await transferred(drifting, day.day)


async def test_a_dispute_of_a_payment_from_before_the_time_is_of_its_day(
    drifting: Drifting,
) -> None:
    """Also once the payment was undone, and where the provider's list lacks the dispute."""
    order = await disputed(drifting)
    for query in _LONG_AGO:
        await drifting.execute(query)
    [day] = await days_of(drifting)
    assert (day.at_provider.disputes, day.booked.disputes) == (-1000, -1000)
    await drifting.till.paid(order, "reversed")
    [day] = await days_of(drifting)
    assert (day.at_provider.disputes, day.booked.disputes) == (0, 0)
    await drifting.execute("DELETE FROM sandbox_disputes WHERE book_id = $1")
    [day] = await days_of(drifting)
    assert (day.at_provider.fees, day.booked.fees) == (0, -15)


async def test_a_dispute_that_the_provider_lacks_is_told(drifting: Drifting) -> None:
    """With what is booked of it; one that the list alone lacks is found by its payment."""
    await disputed(drifting, "dispute_lost")
    assert (await drifting.look()).differences == []
    moved = "UPDATE sandbox_disputes SET created_at = created_at + $2::interval WHERE book_id = $1"
    for way in (1, -1):
        await drifting.till.sql.execute(moved, drifting.till.book, way * timedelta(days=90))
        assert (await drifting.look()).differences == []
    name = await drifting.till.sql.fetchval(
        "DELETE FROM sandbox_disputes WHERE book_id = $1 RETURNING id::text", drifting.till.book
    )
    [one] = (await drifting.look()).differences
    assert (one.kind, one.repair) == ("dispute_unknown", None)
    assert name in one.id
    assert "lost here, with 1000.00 USD taken and a fee of 15" in one.what
    assert "ask its support" in one.what
    assert [one.kind for one in (await drifting.mend()).differences] == ["dispute_unknown"]


_LONG_AGO = (
    "UPDATE payins SET paid_at = paid_at - interval '30 days' WHERE book_id = $1",
    "UPDATE sandbox_payments SET paid_at = paid_at - interval '30 days' WHERE book_id = $1",
)


async def test_what_is_on_its_way_is_not_booked_yet(drifting: Drifting) -> None:
    """A refund and a payout that the provider has begun: it tells of them, and says so here."""
    await drifting.give_back("40.96")
    await drifting.withdraw("50.96")
    await drifting.work()
    [day] = await days_of(drifting)
    on_its_way = MovedMoney(refunds=Decimal("-40.96"), payouts=Decimal("-50.96"))
    assert (day.at_provider.refunds, day.at_provider.payouts) == (
        on_its_way.refunds, on_its_way.payouts,
    )  # fmt: skip
    assert (day.booked.refunds, day.booked.payouts, day.difference) == (0, 0, total(on_its_way))
    assert day.to_book == on_its_way
    assert columns(day) == await transferred(drifting, day.day)
    for query in _ENDED:
        await drifting.execute(query)
    await drifting.repair()
    [day] = await days_of(drifting)
    assert (day.at_provider, day.to_book) == (day.booked, MovedMoney())
    assert (day.booked.refunds, day.booked.payouts) == (on_its_way.refunds, on_its_way.payouts)


_ENDED = (
    "UPDATE sandbox_refunds SET state = 'successful' WHERE book_id = $1",
    "UPDATE sandbox_payouts SET state = 'completed' WHERE book_id = $1",
)


async def test_a_payment_is_booked_when_its_order_takes_it(drifting: Drifting) -> None:
    """Until then it is recorded, and the provider alone has it on its day; its fee is booked."""
    order = await drifting.till.deposit(1000)
    await drifting.till.arrive(order)
    await drifting.till.record()
    await drifting.execute("DELETE FROM jobs WHERE book_id = $1 AND kind LIKE 'payin:%'")
    [day] = await days_of(drifting)
    assert (day.at_provider.payments, day.booked.payments, day.to_book.payments) == (1000, 0, 1000)
    assert columns(day) == await transferred(drifting, day.day)


# The amount of a refund, of which 31.96 stays on its way, and what the provider does after it.
_MIX: list[tuple[str | None, list[Simulated]]] = [
    (None, ["reversed"]),
    ("30", ["reversed"]),
    (None, ["disputed"]),
    ("30", ["disputed", "dispute_won"]),
    ("31.96", ["dispute_lost"]),
    ("30", ["dispute_lost", "reversed"]),
]
_BACKS = (None, "30", "31.96")
_WHOLE = [(back, ends) for back in _BACKS for ends in [ends for _, ends in _MIX]]


@pytest.mark.parametrize(
    "mix", [_MIX, pytest.param(_WHOLE, marks=pytest.mark.proof)], ids=["some", "all"]
)
async def test_every_part_of_every_day_is_what_its_transfers_come_to(
    drifting: Drifting, mix: list[tuple[str | None, list[Simulated]]]
) -> None:
    """After payments, refunds, reversals, disputes and payouts, some of them to no end yet."""
    await drifting.execute(_ARRIVED, now() - 2 * DAY)
    await drifting.give_back("41")
    await drifting.work()
    await drifting.execute("UPDATE sandbox_refunds SET state = 'failed' WHERE book_id = $1")
    await drifting.give_back("43.99")
    account = await drifting.account()
    for amount in ("52.94", "53.96", "54.99"):
        await drifting.withdraw(amount, account)
    await drifting.work()
    await drifting.execute("UPDATE sandbox_payouts SET state = $2 WHERE book_id = $1"
                           " AND amount = 52.94", "reversed")  # fmt: skip
    await drifting.repair(since=now() - 7 * DAY)
    for back, ends in mix:
        order = await (drifting.paid() if back is None else refunded(drifting, "1000", back))
        for end in ends:
            await drifting.till.paid(order, end)
    first, today = await days_of(drifting)
    assert columns(first) == await transferred(drifting, first.day)
    assert columns(today) == await transferred(drifting, today.day)
    [balance] = (await drifting.look()).balances
    assert balance.booked == today.booked_balance


async def test_every_page_of_a_list_is_of_the_days(drifting: Drifting) -> None:
    """Also where many lines of one moment stand at the end of a page."""
    at = now() - 2 * DAY
    for _ in range(PAGE + 2):
        await drifting.execute(_ARRIVED, at)
    [day] = await days_of(drifting)
    assert day.at_provider.payments == 500 * (PAGE + 2)
    assert (day.at_provider.fees, total(day.booked)) == (-5 * (PAGE + 2), 0)


async def disputed(drifting: Drifting, end: Simulated | None = None) -> Body:
    """An order whose payment is disputed, to its end if one is given."""
    order = await drifting.paid()
    await drifting.till.paid(order, "disputed")
    if end is not None:
        await drifting.till.paid(order, end)
    return order


async def refunded(drifting: Drifting, price: str, amount: str) -> Body:
    """An order of which a part went back through the provider, beside one that stays paid."""
    await drifting.paid()
    order = await drifting.till.deposit(float(price))
    await drifting.till.paid(order)
    await drifting.till.give_back(order, amount=amount)
    await drifting.work()
    return await drifting.till.show(order)


def columns(day: MoneyDay) -> dict[str, Decimal]:
    """The parts that are booked on a day, where there are any."""
    return {name: by for name, by in msgspec.structs.asdict(day.booked).items() if by}


async def transferred(drifting: Drifting, day: date) -> dict[str, Decimal]:
    """By part, the transfers of the account of providers that happened on a day."""
    rows = await drifting.sql.fetch(_TRANSFERRED, drifting.till.book, day)
    parts: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        parts[_PARTS[row["kind"]]] += row["amount"]
    # The order has a refund that was undone as paid once more; of the day it is a refund no more.
    for row in await drifting.sql.fetch(_UNDONE, drifting.till.book, day):
        parts["payments"] -= row["amount"]
        parts["refunds"] += row["amount"]
    return {name: by for name, by in parts.items() if by}


_TRANSFERRED = """
    SELECT coalesce(r.kind, t.kind) AS kind,
        sum(CASE WHEN t.debit_kind = 'provider_clearing' THEN t.amount ELSE -t.amount END) AS amount
    FROM ledger_transfers t
    LEFT JOIN ledger_transfers r ON r.book_id = t.book_id AND r.id = t.reverses_id
    WHERE t.book_id = $1 AND 'provider_clearing' IN (t.debit_kind, t.credit_kind)
        AND (t.happened_at AT TIME ZONE 'UTC')::date = $2
    GROUP BY 1
"""
_UNDONE = """
    SELECT f.amount - f.shortfall AS amount FROM refunds f
    WHERE f.book_id = $1 AND f.status = 'reversed'
        AND (f.ended_at AT TIME ZONE 'UTC')::date = $2
"""
_PARTS = {
    "payment": "payments",
    "unapplied_receipt": "payments",
    "provider_fee": "fees",
    "provider_fee_reversed": "fees",
    "payout_fee": "fees",
    "dispute_fee": "fees",
    "refund": "refunds",
    "dispute": "disputes",
    "dispute_returned": "disputes",
    "payout": "payouts",
}
