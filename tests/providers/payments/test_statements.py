"""Statements of every vendor: all that arrived and was paid out, page by page."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.vendors import (
    VENDORS,
    WITH_PAYOUTS,
    Vendor,
    account_request,
    paid,
    payout_request,
    refund_request,
)
from tillhouse.kit.clock import now
from tillhouse.providers.payments.provider import (
    ListedRefund,
    NotReached,
    PaymentProvider,
    SeenPayment,
    SeenPayout,
    StatementOf,
    StatementRequest,
)

# More than a page of any vendor holds.
MANY = 103
DAY = timedelta(days=1)
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=str)


@pytest.fixture
async def sim(vendor: Vendor) -> AsyncIterator[Simulator]:
    """A simulator of this test's own."""
    sim = await vendor.simulator().start()
    yield sim
    await sim.stop()


def span() -> tuple[datetime, datetime]:
    """The time of a test, with a day at both ends."""
    return now() - DAY, now() + DAY


async def read(
    adapter: PaymentProvider, sim: Simulator, of: StatementOf
) -> tuple[list[SeenPayment], list[SeenPayout], int]:
    """All pages, and how many there were."""
    payments: list[SeenPayment] = []
    payouts: list[SeenPayout] = []
    cursor, pages = None, 0
    since, until = span()
    while True:
        asked = StatementRequest(of=of, since=since, until=until, cursor=cursor)
        page = await adapter.read_statement(sim.credentials, asked)
        payments += page.payments
        payouts += page.payouts
        cursor, pages = page.following, pages + 1
        if cursor is None:
            return payments, payouts, pages


@every_vendor
async def test_a_statement_lists_what_arrived_as_a_look_tells_it(
    vendor: Vendor, sim: Simulator
) -> None:
    """On all pages, each payment once; what nobody paid is left out."""
    adapter = vendor.adapter(sim.base_url)
    wanted = [account_request(vendor, amount=str(100 + number)) for number in range(MANY)]
    for one in wanted:
        await adapter.open_account(sim.credentials, one)
        await sim.pay(one.reference, fee=Decimal(2))
    await adapter.open_account(sim.credentials, account_request(vendor))
    payments, payouts, pages = await read(adapter, sim, "payments")
    assert payouts == []
    assert pages > 1
    told = {(one.reference, one.amount, one.fee, one.currency, one.state) for one in payments}
    assert told == {(one.reference, one.amount, 2, vendor.currency, "successful") for one in wanted}
    assert len({one.transaction_id for one in payments}) == len(payments) == MANY
    assert all(one.paid_at is not None for one in payments)


@every_vendor
async def test_a_statement_tells_what_went_back(vendor: Vendor, sim: Simulator) -> None:
    """Where the vendor's API tells of that at all."""
    adapter = vendor.adapter(sim.base_url)
    wanted = account_request(vendor)
    await adapter.open_account(sim.credentials, wanted)
    await sim.pay(wanted.reference)
    if vendor.tells_reversals:
        await sim.reverse(wanted.reference)
    [one], _, _ = await read(adapter, sim, "payments")
    assert one.state == ("reversed" if vendor.tells_reversals else "successful")


@pytest.mark.parametrize("vendor", WITH_PAYOUTS, ids=str)
async def test_a_statement_lists_what_was_paid_out(vendor: Vendor, sim: Simulator) -> None:
    """With our references, the amounts, and how each ended."""
    adapter = vendor.adapter(sim.base_url)
    wanted = [payout_request(amount=f"{100 + number}.50") for number in range(MANY)]
    for one in wanted:
        await adapter.pay_out(sim.credentials, one)
    await sim.finish_payout(wanted[0].reference, "completed")
    await sim.finish_payout(wanted[1].reference, "failed")
    payments, payouts, pages = await read(adapter, sim, "payouts")
    assert payments == []
    assert pages > 1
    assert {(one.reference, one.amount) for one in payouts} == {
        (one.reference, one.amount) for one in wanted
    }
    states = {one.reference: one.state for one in payouts}
    assert (states.pop(wanted[0].reference), states.pop(wanted[1].reference)) == (
        "completed",
        "failed",
    )
    assert set(states.values()) == {"processing"}


@every_vendor
async def test_a_statement_lists_what_was_given_back(vendor: Vendor, sim: Simulator) -> None:
    """With our references, the amounts, the payments, and how each ended."""
    adapter = vendor.adapter(sim.base_url)
    payment = await paid(vendor, sim, str(MANY * 100))
    wanted = [refund_request(vendor, payment, f"{10 + number}.50") for number in range(MANY)]
    first, *_ = [await adapter.refund(sim.credentials, one) for one in wanted]
    assert first.provider_reference is not None
    await sim.finish_refund(first.provider_reference, "failed")
    refunds: list[ListedRefund] = []
    cursor, pages = None, 0
    since, until = span()
    while pages == 0 or cursor is not None:
        asked = StatementRequest(of="refunds", since=since, until=until, cursor=cursor)
        page = await adapter.read_statement(sim.credentials, asked)
        refunds += page.refunds
        cursor, pages = page.following, pages + 1
    assert pages > 1
    told = {(one.reference, one.amount, one.transaction_id) for one in refunds}
    assert told == {(one.reference, one.amount, payment.transaction_id) for one in wanted}
    assert [one.reference for one in refunds if one.state == "failed"] == [wanted[0].reference]


@every_vendor
async def test_a_statement_of_another_time_is_empty(vendor: Vendor, sim: Simulator) -> None:
    """Pages end where lines are too old, however many there are before."""
    adapter = vendor.adapter(sim.base_url)
    for _ in range(3):
        wanted = account_request(vendor)
        await adapter.open_account(sim.credentials, wanted)
        await sim.pay(wanted.reference)
    later = now() + 3 * DAY
    asked = StatementRequest(of="payments", since=later, until=later + DAY)
    page = await adapter.read_statement(sim.credentials, asked)
    assert page.following is None
    if vendor.name != "monnify":
        # Its list has no dates to ask for: older lines come along on the last page.
        assert list(page.payments) == []


@every_vendor
async def test_a_statement_that_cannot_be_read_is_no_statement(
    vendor: Vendor, sim: Simulator
) -> None:
    """Silence is no answer that nothing arrived."""
    adapter = vendor.adapter(sim.base_url)
    await adapter.check(sim.credentials)
    since, until = span()
    for fault in ("500 first", "no json", "truncated", "busy"):
        sim.fail_next(fault)
        with pytest.raises(NotReached):
            await adapter.read_statement(
                sim.credentials, StatementRequest(of="payments", since=since, until=until)
            )
