"""The account of a connection is asked for once, kept as a mark, and forgotten with it."""

import hashlib
from collections.abc import AsyncIterator
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.api import Api
from tests.make import Make
from tests.payins.vendor_books import change_key, connected
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.simulators.stripe import StripeSimulator
from tests.providers.payments.vendors import VENDORS, Vendor, paid
from tillhouse.access.process import Services
from tillhouse.jobs.runner import JobRunner
from tillhouse.kit.clock import now
from tillhouse.payins.connecting import naming
from tillhouse.payins.connections import provider_of
from tillhouse.payins.jobs import chores
from tillhouse.payins.marks import account_mark, marks
from tillhouse.payins.store.connections import queue_unnamed
from tillhouse.payins.types import Origin
from tillhouse.providers.payments.provider import ProviderSecrets

STRIPE = next(vendor for vendor in VENDORS if vendor.name == "stripe")
SECRET = "sk_live_5f2c1b7e9a0d4c3e8b6a7f1d2e3c4b5a"


class Connection(NamedTuple):
    """A live book, connected to the simulated account of a vendor that has had a payment."""

    services: Services
    sql: asyncpg.Connection
    api: Api
    origin: Origin
    simulator: Simulator

    async def mark(self) -> bytes | None:
        """The kept mark of the account."""
        query = "SELECT account_mark FROM payment_providers WHERE book_id = $1"
        return await self.sql.fetchval(query, self.origin.book.id)

    async def queued(self) -> tuple[UUID, UUID, str]:
        """The first job that waits: its book, its connection and its key."""
        query = "SELECT book_id, subject_id, key FROM jobs WHERE book_id = $1 AND kind = $2"
        row = await self.sql.fetchrow(query, self.origin.book.id, naming.NAMING)
        assert row is not None
        return tuple(row)

    async def change(self, credentials: ProviderSecrets) -> None:
        """Connect it by these secrets."""
        await change_key(self.services, self.origin, credentials)

    async def put(self, **fields: object) -> None:
        """Change the connection as the owner does."""
        body = {"provider": self.origin.provider, **fields}
        live = {"service-environment": "live"}
        await self.api.request("PUT", "/v1/payment-providers", body, headers=live, status=200)

    async def work(self) -> None:
        """A worker asks for accounts that are not known."""
        kinds = [naming.kind(self.services)]
        await JobRunner(self.services.pool, kinds, self.services.job_results).run_due(now())

    async def named(self) -> bytes | None:
        """The mark, once the worker has asked for it."""
        await self.work()
        return await self.mark()

    def by_name(self, credentials: ProviderSecrets, name: str) -> bytes:
        """The mark of an account by a name and one of its keys."""
        provider = provider_of(self.services, self.origin.provider)
        assert provider is not None
        return account_mark(self.services.vault, provider, credentials, name)


@pytest.fixture(params=[STRIPE], ids=str)
async def connection(
    request: pytest.FixtureRequest, services: Services, sql: asyncpg.Connection, make: Make
) -> AsyncIterator[Connection]:
    """The connection of a business of its own."""
    vendor: Vendor = request.param
    simulator = await vendor.simulator().start()
    await paid(vendor, simulator)
    urls = ((vendor.name, simulator.base_url),)
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    there = msgspec.structs.replace(services, settings=settings)
    business = await make.business(currency=vendor.currency)
    await business.step_up()
    # Other tests' connections are of simulators that are gone.
    await sql.execute("DELETE FROM jobs WHERE kind = $1", naming.NAMING)
    origin = await connected(there, sql, business, (vendor, simulator))
    yield Connection(there, sql, business.owner, origin, simulator)
    await simulator.stop()


@pytest.mark.parametrize("connection", VENDORS, ids=str, indirect=True)
async def test_two_keys_of_one_account_have_one_mark(connection: Connection) -> None:
    """Another account has another; Monnify names none but by the word of who connects it."""
    is_told = connection.origin.provider != "monnify"
    await connection.change(connection.simulator.credentials)
    assert await connection.mark() is None
    first = await connection.named()
    await connection.change(connection.simulator.further_key())
    assert await connection.mark() is None
    assert await connection.named() == first
    assert (first is not None) == is_told
    connection.simulator.account_number += 1_000_000
    await connection.change(connection.simulator.further_key())
    assert (await connection.named() != first) == is_told


async def test_an_account_that_is_not_told_is_asked_for_again(connection: Connection) -> None:
    """By a chore: the provider was away, or had no answer yet."""
    connection.simulator.fail_next("500 first", "GET /v1/account")
    await connection.change(connection.simulator.credentials)
    assert await connection.named() is None
    assert await connection.named() is None
    async with connection.services.pool.transaction() as db:
        await queue_unnamed(db, [connection.origin.book.id], naming.NAMING, now())
    assert await connection.named() is not None
    assert "payment_provider_accounts" in [one.name for one in chores(connection.services)]


async def test_a_restricted_key_has_no_account(connection: Connection) -> None:
    """It may not ask, so its secret alone tells."""
    assert isinstance(connection.simulator, StripeSimulator)
    connection.simulator.is_restricted = True
    await connection.change(connection.simulator.credentials)
    assert await connection.named() is None


async def test_the_answer_counts_for_the_asked_secrets_alone(connection: Connection) -> None:
    """Others that were connected while it was on its way are of an account that isn't known."""
    await connection.change(connection.simulator.credentials)
    kind = naming.kind(connection.services)
    key = connection.simulator.further_key()

    async def meanwhile(unnamed: naming.Unnamed) -> str | None:
        told = await kind.run(unnamed)
        await connection.change(key)
        return told

    late = msgspec.structs.replace(kind, run=meanwhile)
    services = connection.services
    runner = JobRunner(services.pool, [late], services.job_results)
    await runner.run_now(naming.NAMING, *await connection.queued())
    assert await connection.mark() is None
    assert await connection.named() is not None


async def test_the_owner_who_connects_has_it_asked_for(connection: Connection) -> None:
    """A change without secrets leaves it, other secrets and none forget it."""
    secrets = {"secret_key": SECRET, "webhook_secret": SECRET}
    connection.simulator.more_keys.append(SECRET)
    await connection.put(secrets=secrets)
    first = await connection.named()
    assert first is not None
    await connection.put(selected=False)
    assert await connection.mark() == first
    await connection.put(secrets=secrets)
    assert await connection.mark() is None
    assert await connection.named() == first
    await connection.put(secrets=None)
    assert await connection.mark() is None


async def test_an_account_for_tests_is_another_one(connection: Connection) -> None:
    """Stripe calls both the same; keys for real money, restricted or not, are of one account."""
    live = ProviderSecrets({"secret_key": "sk_live_1"}, is_live=True)
    tests = ProviderSecrets({"secret_key": "sk_test_1"}, is_live=False)
    one = connection.by_name(live, "acct_1")
    assert one == connection.by_name(ProviderSecrets({"secret_key": "rk_live_2"}, True), "acct_1")
    assert one not in (connection.by_name(tests, "acct_1"), connection.by_name(live, "acct_2"))


def test_a_call_leaves_no_bare_digest(services: Services) -> None:
    """A copy of the database must not confirm a secret that was found elsewhere."""
    credentials = ProviderSecrets({"secret_key": SECRET}, is_live=True)
    bare = hashlib.sha256(SECRET.encode()).digest()
    assert marks(services.vault, credentials, None)[0] != bare
    assert marks(services.vault, credentials, b"named")[0] == b"named"
