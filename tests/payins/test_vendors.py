"""Money that arrives by each vendor, from its hook to the ledger, though things go wrong there."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import NamedTuple

import asyncpg
import msgspec
import pytest

from tests.make import Make
from tests.payins.collecting import Collecting
from tests.payins.vendor_books import connected
from tests.providers.payments.simulators.simulator import HookFault, Simulator
from tests.providers.payments.vendors import VENDORS, Vendor
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.payins import hooks
from tillhouse.payins.asking import ask
from tillhouse.payins.types import VirtualAccount


class Live(NamedTuple):
    """A live book that collects by one vendor, and that vendor."""

    till: Collecting
    vendor: Vendor
    simulator: Simulator

    async def opened(self, amount: int = 1000) -> VirtualAccount:
        """An account of something new."""
        url = "https://till.example.com/pay/x"
        return await self.till.account(amount, currency=self.vendor.currency, return_url=url)

    async def told(self) -> None:
        """The vendor sends its hooks, and all of them are processed."""
        await self.simulator.tell()
        name, book_id = self.vendor.name, self.till.book.id
        for hook in self.simulator.told:
            headers = {name.lower(): value for name, value in hook.headers.items()}
            await hooks.take(self.till.services, name, book_id, headers, hook.body, now())
        self.simulator.told.clear()
        await self.till.work()


@pytest.fixture(params=VENDORS, ids=str)
async def live(
    request: pytest.FixtureRequest, services: Services, sql: asyncpg.Connection, make: Make
) -> AsyncIterator[Live]:
    """A live book for each vendor; at the end its ledger is proven."""
    vendor: Vendor = request.param
    simulator = await vendor.simulator().start()
    urls = ((vendor.name, simulator.base_url),)
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    there = msgspec.structs.replace(services, settings=settings)
    business = await make.business(currency=vendor.currency)
    origin = await connected(there, sql, business, (vendor, simulator))
    till = Collecting(there, sql, origin)
    yield Live(till, vendor, simulator)
    assert await till.faults() == []
    await simulator.stop()


async def test_a_payment_arrives_once(live: Live) -> None:
    """Told, told again, and asked about: one arrival, applied once, with the fee booked."""
    account = await live.opened()
    await live.simulator.pay(account.reference)
    live.simulator.fail_hooks("twice")
    await live.told()
    await live.till.later(minutes=6)
    [payin] = await live.till.payins()
    assert (payin["amount"], payin["status"], payin["conditions"]) == (1000, "received", ["over"])
    assert [verb for verb, _, _ in live.till.applied] == ["applied"]
    assert await live.till.balance("wallet", live.vendor.currency) == 1000 - payin["fee"]


@pytest.mark.parametrize("fault", ["lost", "forged", "unsigned"])
async def test_a_hook_that_never_came_heals(live: Live, fault: HookFault) -> None:
    """Lost, or refused since it isn't the vendor's: the provider is asked some minutes later."""
    account = await live.opened()
    await live.simulator.pay(account.reference)
    live.simulator.fail_hooks(fault)
    try:
        await live.told()
    except hooks.PaymentHookNotSigned:
        assert fault != "lost"
    assert await live.till.payins() == []
    await live.till.later(minutes=6)
    assert [verb for verb, _, _ in live.till.applied] == ["applied"]


async def test_money_that_a_vendor_takes_back_goes_back(live: Live) -> None:
    """By its hook, or as it is asked; once."""
    if not live.vendor.tells_reversals:
        pytest.skip("its API tells of none")
    account = await live.opened()
    await live.simulator.pay(account.reference)
    await live.told()
    await live.simulator.reverse(account.reference)
    live.simulator.fail_hooks("twice")
    await live.told()
    await ask(live.till.services, live.till.book, account.id, min_interval=timedelta())
    await live.till.work()
    assert [verb for verb, _, _ in live.till.applied] == ["applied", "taken back"]
    assert await live.till.balance("wallet", live.vendor.currency) == 0


async def test_a_vendor_that_executed_and_then_failed_opens_one_account(live: Live) -> None:
    """The call is repeated by the same reference."""
    live.simulator.fail_next("500 after", live.vendor.calls["open"])
    account = await live.opened()
    assert account.status == "open"
    await live.simulator.pay(account.reference)
    await live.told()
    assert [payin["amount"] for payin in await live.till.payins()] == [1000]
