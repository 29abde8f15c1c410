"""Refunds through each vendor as it is simulated, though things go wrong there."""

from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.make import Make
from tests.orders.returning.giving import DAY, HOUR, MINUTES_5, Giving
from tests.orders.shop import Body
from tests.payins.vendor_books import connected
from tests.providers.payments.simulators.simulator import Fault, Simulator
from tests.providers.payments.vendors import VENDORS, Vendor
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.kit.ids import OrderId
from tillhouse.orders.deposits import jobs as deposits
from tillhouse.orders.returning.sending import kinds
from tillhouse.payins import hooks
from tillhouse.payins import jobs as payins
from tillhouse.payins.accounts import open_account
from tillhouse.payins.types import AccountTarget, Origin

_AFTER: tuple[Fault, ...] = ("500 after", "reset after", "truncated", "oversized", "no json")
_BEFORE: tuple[Fault, ...] = ("500 first", "reset first", "busy", "redirect")


class Live(NamedTuple):
    """The live book of a shop that collects by one vendor, and that vendor."""

    till: Giving
    origin: Origin
    vendor: Vendor
    simulator: Simulator

    async def sold(self) -> Body:
        """An order that was paid by the vendor."""
        order = await self.till.ring(1000)
        order_id = UUID(order["id"])
        await self.till.sql.execute("UPDATE orders SET is_automated = true WHERE id = $1", order_id)
        target = AccountTarget(
            book=self.origin.book,
            type="order",
            id=order_id,
            order_id=OrderId(order_id),
            amount=Decimal(1000),
            currency=self.vendor.currency,
            email="payer@example.com",
            name="Ada's",
            description="An order",
            return_url="https://till.example.com/pay/x",
        )
        account = await open_account(self.till.services, target)
        await self.simulator.pay(account.reference)
        await self.told()
        return await self.till.show(order)

    async def told(self) -> None:
        """The vendor sends its hooks, and all that is due is done."""
        await self.simulator.tell()
        what = (self.vendor.name, self.origin.book.id)
        for hook in self.simulator.told:
            headers = {name.lower(): value for name, value in hook.headers.items()}
            await hooks.take(self.till.services, what, headers, hook.body, now())
        self.simulator.told.clear()
        await self.work()

    async def work(self, after: timedelta = timedelta()) -> None:
        """A worker does what is due by then."""
        services = self.till.services
        await self.till.make_due(after)
        jobs = [*payins.kinds(services), *deposits.kinds(services), *kinds(services)]
        runner = JobRunner(services.pool, jobs, services.job_results)
        await runner.run_due(self.till.later(timedelta(seconds=2)))

    async def given(self) -> int:
        """How many refunds the vendor has made."""
        return len(self.simulator.refunds)  # type: ignore[attr-defined]


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
