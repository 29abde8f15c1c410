"""A provider's money by days: each beside what is booked, and the first that differs named."""

from datetime import UTC, date, timedelta
from decimal import Decimal

from tests.finance.reconciling.drifting import Drifting
from tests.orders.shop import Body
from tillhouse.finance.reconciling.days import total
from tillhouse.finance.reconciling.types import MoneyDay
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
    assert {one.day: total(one.booked) for one in days} == await transferred(drifting)
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
    await drifting.execute("UPDATE disputes SET taken_told = 400 WHERE book_id = $1")
    [day] = await days_of(drifting)
    assert (day.at_provider.disputes, day.booked.disputes, day.difference) == (-1000, -400, -600)
    await drifting.execute("UPDATE disputes SET taken_told = 1000 WHERE book_id = $1")
    await drifting.till.paid(order, "dispute_won")
    [day] = await days_of(drifting)
    assert (day.booked.disputes, day.booked.fees) == (0, fees)
    assert day.at_provider == day.booked


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


async def transferred(drifting: Drifting) -> dict[date, Decimal]:
    """By day, the transfers of the account of providers."""
    query = """
        SELECT (t.happened_at AT TIME ZONE 'UTC')::date AS day,
            sum(CASE WHEN t.debit_kind = 'provider_clearing' THEN t.amount
                ELSE -t.amount END) AS amount
        FROM ledger_transfers t
        WHERE t.book_id = $1 AND 'provider_clearing' IN (t.debit_kind, t.credit_kind)
        GROUP BY 1
    """
    rows = await drifting.sql.fetch(query, drifting.till.book)
    return {row["day"]: row["amount"] for row in rows}
