"""Two books that collect by one account of a provider: each sees its own, and nothing twice."""

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.finance.reconciling.drifting import HOUR
from tests.make import Make
from tests.payins.collecting import Collecting
from tests.payins.vendor_books import connected
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.simulators.stripe import StripeSimulator
from tests.providers.payments.vendors import VENDORS, Vendor, account_request, payout_request
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.finance.reconciling.actions import Reconciliation
from tillhouse.finance.reconciling.types import ReconciledPart, ReconcilingReport
from tillhouse.kit.clock import now
from tillhouse.payins.asking import look_up
from tillhouse.payins.connections import find_provider
from tillhouse.providers.payments.provider import HeardPayment


class Shop(NamedTuple):
    """A live book that shares the account of its provider."""

    till: Collecting
    link_id: UUID

    def reconciliation(self, *, by_book: bool = False) -> Reconciliation:
        """The reconciliation of its business, or of its book by name."""
        scope = ReconciledPart(
            since=now() - HOUR,
            until=now() + HOUR,
            business_id=self.till.origin.business_id,
            book=self.till.book.id if by_book else None,
            provider=self.till.origin.provider,
        )
        return Reconciliation(self.till.services, scope, PRODUCT.sources)

    async def kinds(self) -> list[tuple[str, str | None]]:
        """The kinds of what differs, with what mends them."""
        return [(one.kind, one.repair) for one in (await self.reconciliation().look()).differences]

    async def mend(self, *, by_book: bool = False) -> ReconcilingReport:
        """Repair."""
        return await self.reconciliation(by_book=by_book).repair()


class Shared(NamedTuple):
    """Two shops, the vendor that both collect by, and its account."""

    first: Shop
    second: Shop
    vendor: Vendor
    simulator: Simulator

    async def paid(self, shop: Shop) -> str:
        """Somebody pays the first link of a shop; the reference."""
        url = "https://till.example.com/pay/x"
        account = await shop.till.account(
            250, type="payment_link", id=shop.link_id, currency=self.vendor.currency,
            return_url=url,
        )  # fmt: skip
        await self.simulator.pay(account.reference)
        return account.reference

    async def paid_by_hand(self) -> None:
        """Somebody pays by a page that neither shop has opened."""
        adapter = self.vendor.adapter(self.simulator.base_url)
        wanted = account_request(self.vendor)
        await adapter.open_account(self.simulator.credentials, wanted)
        await self.simulator.pay(wanted.reference)


KEYS = ("one key", "two keys")
PARAMS = [(vendor, keys) for vendor in VENDORS for keys in KEYS]
IDS = [f"{vendor}, {keys}" for vendor, keys in PARAMS]


@pytest.fixture(params=PARAMS, ids=IDS)
async def shared(
    request: pytest.FixtureRequest, services: Services, sql: asyncpg.Connection, make: Make
) -> AsyncIterator[Shared]:
    """Two businesses on one account of each vendor, by one key of it or a key for each."""
    vendor: Vendor = request.param[0]
    simulator = await vendor.simulator().start()
    urls = ((vendor.name, simulator.base_url),)
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    there = msgspec.structs.replace(services, settings=settings)
    shops: list[Shop] = []
    for number in range(2):
        business = await make.business(currency=vendor.currency)
        is_further = number > 0 and request.param[1] == "two keys"
        key = simulator.further_key() if is_further else simulator.credentials
        origin = await connected(there, sql, business, (vendor, simulator), key)
        api = await business.client("payment_links:write", environment="live")
        body = {"title": "Hall deposit", "amount": 250}
        link = (await api.post("/v1/payment-links/wallet/dynamic", body, status=201)).data
        shops.append(Shop(Collecting(there, sql, origin), UUID(link["id"])))
    yield Shared(shops[0], shops[1], vendor, simulator)
    await simulator.stop()


async def test_the_payment_of_one_book_is_none_of_the_other(shared: Shared) -> None:
    """Neither turns red by the other's, and each repair records its own."""
    await shared.paid(shared.first)
    await shared.paid(shared.second)
    for shop in (shared.first, shared.second):
        assert await shop.kinds() == [("payment_unrecorded", "record")]
    for shop in (shared.first, shared.second, shared.first):
        report = await shop.mend()
        assert (report.differences, report.foreign) == ([], 1)
        assert len(await shop.till.payins()) == 1


async def test_a_hook_at_one_book_about_the_other_records_nothing_there(shared: Shared) -> None:
    """An account of a vendor has one address for its hooks: the book that is paid is asked."""
    reference = await shared.paid(shared.second)
    first, second = shared.first.till, shared.second.till
    async with first.services.pool.reading() as db:
        provider = first.origin.provider
        connection = await find_provider(first.services, db, first.book, provider)
    for _ in range(2):
        heard = HeardPayment(reference, None)
        looked = await look_up(first.services, connection, first.origin, heard)
        assert (looked.new, looked.unmatched) == (0, 0)
    assert await first.payins() == []
    [payin] = await second.payins()
    assert payin["target_id"] == shared.second.link_id


async def test_a_payment_that_names_neither_is_for_people_to_decide(shared: Shared) -> None:
    """Ambiguous in both; a repair of one book by its id records it there, and nowhere else."""
    await shared.paid_by_hand()
    for shop in (shared.first, shared.second):
        assert await shop.kinds() == [("payment_ambiguous", None)]
        [one] = (await shop.mend()).differences
        assert one.kind == "payment_ambiguous"
        assert "--book" in one.what
        assert await shop.till.payins() == []
    assert (await shared.second.mend(by_book=True)).differences == []
    for _ in range(2):
        report = await shared.first.mend(by_book=True)
        assert (report.differences, report.foreign) == ([], 1)
    assert await shared.first.till.payins() == []
    assert len(await shared.second.till.payins()) == 1


async def test_repairs_at_once_record_a_payment_that_names_neither_once(shared: Shared) -> None:
    """Each was told by name to take it: the first one does, for the other it is foreign."""
    await shared.paid_by_hand()
    await asyncio.gather(*(one.mend(by_book=True) for one in (shared.first, shared.second)))
    payins = [*await shared.first.till.payins(), *await shared.second.till.payins()]
    assert len(payins) == 1
    for shop in (shared.first, shared.second):
        assert (await shop.mend()).differences == []
        assert (await shop.mend(by_book=True)).differences == []


@pytest.mark.parametrize("shared", PARAMS[-1:], ids=IDS[-1:], indirect=True)
async def test_an_account_that_is_not_told_is_known_by_what_is_recorded(shared: Shared) -> None:
    """A restricted key of Stripe may not ask whose it is: nothing is recorded twice even so."""
    assert isinstance(shared.simulator, StripeSimulator)
    shared.simulator.is_restricted = True
    await shared.paid_by_hand()
    for shop in (shared.first, shared.second):
        assert await shop.kinds() == [("payment_unrecorded", "record")]
    await asyncio.gather(shared.first.mend(), shared.second.mend())
    payins = [*await shared.first.till.payins(), *await shared.second.till.payins()]
    assert len(payins) == 1
    for shop in (shared.first, shared.second):
        assert (await shop.mend()).differences == []


async def test_a_payout_of_the_other_book_is_none_that_nobody_asked_for(shared: Shared) -> None:
    """Money that a withdrawal of the other shop explains."""
    if "pay out" not in shared.vendor.calls:
        pytest.skip("it has no payouts")
    adapter = shared.vendor.adapter(shared.simulator.base_url)
    wanted = payout_request()
    await adapter.pay_out(shared.simulator.credentials, wanted)
    assert await shared.first.kinds() == [("payout_unrecorded", None)]
    await shared.second.till.sql.execute(_WITHDRAWN, shared.second.till.book.id, wanted.reference)
    report = await shared.first.reconciliation().look()
    assert (report.differences, report.foreign) == ([], 1)


_WITHDRAWN = """
    WITH account AS (
        INSERT INTO payout_accounts (book_id, id, provider, bank_code, account_number, currency,
            status, created_by_id, created_by_name, created_at, updated_at)
        VALUES ($1, gen_random_uuid(), 'x', '1', '1', 'NGN', 'checking', $1, 'x', now(), now())
        RETURNING id
    )
    INSERT INTO withdrawals (book_id, id, status, amount, currency, payout_account_id,
        account_version, provider, bank_code, account_number, account_name, provider_key,
        counted_on, hold_id, transaction_id, idempotency_key, idempotency_fingerprint,
        requested_by_id, requested_by_name, created_at, updated_at)
    SELECT $1, gen_random_uuid(), 'requested', 1, 'NGN', id, 1, 'x', '1', '1', 'x', $2, now(),
        gen_random_uuid(), gen_random_uuid(), $2, '', gen_random_uuid(), 'x', now(), now()
    FROM account
"""
