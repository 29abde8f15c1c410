"""A live book with two providers: each account takes one of them, and none that is down."""

from collections.abc import AsyncIterator
from random import Random
from typing import NamedTuple

import asyncpg
import msgspec
import pytest

from tests.make import Business, Make
from tests.payins.collecting import Collecting
from tests.payins.vendor_books import connected
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.vendors import VENDORS
from tillhouse.access.process import Services
from tillhouse.payins.accounts import open_account
from tillhouse.payins.connections import ProvidersAway
from tillhouse.payins.types import VirtualAccount

NAMES = ("flutterwave", "paystack")
# So many accounts that a choice at random leaves neither out.
MANY = 20


class Two(NamedTuple):
    """A live book that collects by two vendors."""

    till: Collecting
    business: Business
    vendors: dict[str, Simulator]

    async def opened(self, rng: Random) -> VirtualAccount:
        """An account of something new."""
        return await open_account(self.till.services, self.till.target(), rng)

    async def kept(self) -> list[tuple[str, str]]:
        """The provider and the status of every account, the oldest first."""
        query = """
            SELECT provider, status FROM virtual_accounts WHERE book_id = $1 ORDER BY created_at, id
        """
        rows = await self.till.sql.fetch(query, self.till.book.id)
        return [(row["provider"], row["status"]) for row in rows]

    async def down(self) -> list[str]:
        """The providers that are shown as down."""
        headers = {"service-environment": "live"}
        path = "/v1/payment-providers"
        shown = (await self.business.owner.get(path, headers=headers, status=200)).data
        assert all(bool(one["downUntil"]) == bool(one["lastError"]) for one in shown)
        return [one["provider"] for one in shown if one["downUntil"]]


@pytest.fixture
async def two(services: Services, sql: asyncpg.Connection, make: Make) -> AsyncIterator[Two]:
    """Both are selected, and answer."""
    vendors = {one.name: one for one in VENDORS if one.name in NAMES}
    simulators = {name: await one.simulator().start() for name, one in vendors.items()}
    urls = tuple((name, one.base_url) for name, one in simulators.items())
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    there = msgspec.structs.replace(services, settings=settings)
    business = await make.business(currency="NGN")
    for name in NAMES:
        origin = await connected(there, sql, business, (vendors[name], simulators[name]))
    yield Two(Collecting(there, sql, origin), business, simulators)
    for one in simulators.values():
        await one.stop()


async def test_each_account_takes_one_at_random_and_records_it(two: Two) -> None:
    """Both are used, and a payment is asked about where its account was opened."""
    rng = Random(7)  # noqa: S311 - no secret
    opened = [await two.opened(rng) for _ in range(MANY)]
    assert {one.provider for one in opened} == {*NAMES}
    assert await two.kept() == [(one.provider, "open") for one in opened]
    for account in (opened[0], next(one for one in opened if one.provider != opened[0].provider)):
        await two.vendors[account.provider].pay(account.reference)
    await two.till.later(minutes=6)
    arrived = [(one["provider"], one["status"]) for one in await two.till.payins()]
    assert sorted(arrived) == [(name, "received") for name in NAMES]
    assert await two.down() == []


async def test_one_that_is_down_is_skipped_and_tried_again_later(two: Two) -> None:
    """The account that it should have opened is the other's, and so are all for a minute."""
    rng = Random(7)  # noqa: S311 - no secret
    await two.vendors["paystack"].stop()
    opened = [await two.opened(rng) for _ in range(MANY)]
    assert {one.provider for one in opened} == {"flutterwave"}
    kept = await two.kept()
    assert kept.count(("paystack", "failed")) == 1
    assert kept.count(("flutterwave", "open")) == MANY
    assert await two.down() == ["paystack"]
    await two.till.sql.execute(
        "UPDATE payment_providers SET down_until = now() WHERE book_id = $1", two.till.book.id
    )
    for _ in range(MANY):
        await two.opened(rng)
    assert (await two.kept()).count(("paystack", "failed")) == 2
    await two.vendors["flutterwave"].stop()
    with pytest.raises(ProvidersAway):
        await two.opened(rng)
    assert {*await two.down()} == {*NAMES}
