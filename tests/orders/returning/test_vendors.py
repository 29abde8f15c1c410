"""Refunds through each vendor as it is simulated, though things go wrong there."""

import fnmatch
from collections.abc import AsyncIterator

import asyncpg
import msgspec
import pytest

from tests.make import Make
from tests.orders.returning.giving import DAY, HOUR, MINUTES_5, Giving
from tests.orders.returning.vendor_tills import Live
from tests.orders.shop import Body
from tests.payins.vendor_books import change_key, connected
from tests.providers.payments.simulators.simulator import Fault
from tests.providers.payments.vendors import VENDORS, Vendor, paid
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.payins.connecting import naming
from tillhouse.payins.store.connections import queue_unnamed

_AFTER: tuple[Fault, ...] = ("500 after", "reset after", "truncated", "oversized", "no json")
_BEFORE: tuple[Fault, ...] = ("500 first", "reset first", "busy", "redirect")


@pytest.fixture(params=VENDORS, ids=str)
async def live(
    request: pytest.FixtureRequest, services: Services, sql: asyncpg.Connection, make: Make
) -> AsyncIterator[Live]:
    """A live book for each vendor; at the end its books are proven."""
    vendor: Vendor = request.param
    simulator = await vendor.simulator().start()
    urls = ((vendor.name, simulator.base_url),)
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    till = await Giving.open(make, sql, "live", currency=vendor.currency)
    till.services = msgspec.structs.replace(services, settings=settings)
    origin = await connected(till.services, sql, till.business, (vendor, simulator))
    yield Live(till, origin, vendor, simulator)
    assert await till.faults(services) == []
    await simulator.stop()


async def test_a_refund_goes_back_and_is_told_of(live: Live) -> None:
    """Asked for, settled there, told twice: booked once."""
    order = await live.sold()
    asked = await live.till.asked(order, amount=400)
    await live.work()
    [named] = [one["providerRefundId"] for one in (await live.till.show(order))["refunds"]]
    await live.simulator.finish_refund(named)  # type: ignore[attr-defined]
    live.simulator.fail_hooks("twice")
    await live.told()
    for after in (MINUTES_5, HOUR):
        await live.work(after)
    shown = await live.till.show(order)
    assert (shown["refunds"][0]["status"], shown["amountPaid"]) == ("successful", 600)
    assert asked["provider"] == live.vendor.name
    assert await live.given() == 1
    assert [one["status"] for one in shown["payments"]] == ["successful"]


async def test_a_payment_tells_gross_fee_and_net(live: Live) -> None:
    """As the vendor tells them, in the order and in the transactions; a refund leaves the fee."""
    order = await live.sold()
    row = await live.till.sql.fetchrow(
        "SELECT amount, fee FROM payins WHERE book_id = $1", live.till.book
    )
    assert row is not None
    assert row["fee"] > 0
    wanted = {
        "provider": live.vendor.name,
        "currency": live.vendor.currency,
        "gross": 1000,
        "fee": float(row["fee"]),
        "net": float(1000 - row["fee"]),
        "feeReturned": 0,
    }
    assert [one["providerMoney"] for one in order["payments"]] == [wanted]
    await live.till.asked(order, amount=400)
    await live.work()
    reader = await live.till.business.client("finance:read", environment="live")
    listed = (await reader.get("/v1/finance/transactions", status=200)).data
    sales = [one for one in listed if one["type"] == "sale"]
    assert [one["providerMoney"] for one in sales] == [wanted]
    assert all(one["providerMoney"] is None for one in listed if one["type"] != "sale")


@pytest.mark.parametrize("fault", [*_AFTER, *_BEFORE])
async def test_a_call_that_fails_gives_back_once(live: Live, fault: Fault) -> None:
    """Executed or not, whatever the answer was: the vendor is asked until it is known."""
    order = await live.sold()
    live.simulator.fail_next(fault, live.vendor.calls["refund"])
    refund = await live.till.asked(order, amount=400)
    await live.work()
    for after in (MINUTES_5, MINUTES_5, HOUR, DAY):
        await live.till.age(refund, HOUR)
        await live.work(after)
    [seen] = (await live.till.show(order))["refunds"]
    await live.simulator.finish_refund(seen["providerRefundId"])  # type: ignore[attr-defined]
    await live.told()
    await live.work(DAY * 2)
    shown = await live.till.show(order)
    assert (shown["refunds"][0]["status"], shown["amountPaid"]) == ("successful", 600)
    assert await live.given() == 1


async def test_a_changed_key_of_the_account_asks_again(live: Live) -> None:
    """Where the vendor tells whose the key is: Monnify doesn't, so people decide."""
    order, refund = await _lost(live)
    await change_key(live.till.services, live.origin, live.simulator.further_key())
    await live.work()
    await live.till.age(refund, HOUR)
    await live.work(DAY)
    is_told = live.vendor.name != "monnify"
    assert await live.given() == (1 if is_told else 0)
    [seen] = (await live.till.show(order))["refunds"]
    if is_told:
        await live.simulator.finish_refund(seen["providerRefundId"])  # type: ignore[attr-defined]
        await live.work(DAY * 2)
        [seen] = (await live.till.show(order))["refunds"]
    assert seen["status"] == ("successful" if is_told else "pending")


async def test_another_account_is_never_asked_for_it(live: Live) -> None:
    """It tells who it is, by a payment of its own, and that it is another one."""
    order, refund = await _lost(live)
    other = await live.vendor.simulator().start()
    await paid(live.vendor, other)
    settings = live.till.services.settings
    urls = ((live.vendor.name, other.base_url),)
    live.till.services = msgspec.structs.replace(
        live.till.services, settings=msgspec.structs.replace(settings, provider_urls=urls)
    )
    await change_key(live.till.services, live.origin, other.further_key())
    for _ in range(3):
        await live.till.age(refund, HOUR)
        await live.work(DAY)
    asked = [f"{one.method} {one.path}" for one in other.asked]
    await other.stop()
    assert not fnmatch.filter(asked, live.vendor.calls["refund"])
    assert await live.given() == 0
    [seen] = (await live.till.show(order))["refunds"]
    assert seen["status"] == "pending"


async def _lost(live: Live) -> tuple[Body, Body]:
    """An order with a refund that never reached the vendor, as far as it knows; nobody else does.

    The vendor has told whose the key is, if it tells that.
    """
    await change_key(live.till.services, live.origin, live.simulator.credentials)
    order = await live.sold()
    async with live.till.services.pool.transaction() as db:
        await queue_unnamed(db, [live.origin.book.id], naming.NAMING, now())
    await live.work()
    live.simulator.fail_next("500 first", live.vendor.calls["refund"])
    refund = await live.till.asked(order, amount=400)
    await live.work()
    return order, refund


async def test_a_refund_that_fails_there_lets_everything_go(live: Live) -> None:
    """The vendor says so by its hook, or as it is asked; Flutterwave had said that it was done."""
    order = await live.sold()
    await live.till.asked(order, amount=400)
    await live.work()
    [seen] = (await live.till.show(order))["refunds"]
    await live.simulator.finish_refund(seen["providerRefundId"], "failed")  # type: ignore[attr-defined]
    await live.told()
    for after in (MINUTES_5, HOUR):
        await live.work(after)
    shown = await live.till.show(order)
    is_done = live.vendor.name == "flutterwave"
    assert shown["refunds"][0]["status"] == ("successful" if is_done else "failed")
    assert shown["amountPaid"] == (600 if is_done else 1000)
    assert await live.till.held() == 0


async def test_a_refund_of_a_payment_in_parts_is_found_by_the_vendors_name(live: Live) -> None:
    """Two transfers are parts of one transaction there, whose name is all that the hook says."""
    if live.vendor.name != "monnify":
        pytest.skip("each transfer is a transaction of its own")
    order = await live.sold(400, 600)
    names = await live.till.sql.fetch(
        "SELECT provider_transaction_id FROM payins WHERE book_id = $1", live.till.book
    )
    assert len({one[0] for one in names}) == 2
    [transaction] = {one[0].partition("#")[0] for one in names}
    for payment, amount in zip(order["payments"], (400, 500), strict=True):
        await live.till.asked(order, amount=amount, payment_id=payment["id"])
    await live.work()
    assert await live.given() == 2
    for refund in (await live.till.show(order))["refunds"]:
        await live.simulator.finish_refund(refund["providerRefundId"])  # type: ignore[attr-defined]
    await live.hear_of_payment(transaction)
    await live.work()
    shown = await live.till.show(order)
    assert [one["status"] for one in shown["refunds"]] == ["successful"] * 2
    assert shown["amountPaid"] == 100
