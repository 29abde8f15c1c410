"""Each vendor's statement, held against a live book that heard of nothing."""

from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.finance.reconciling.drifting import HOUR, Drifting
from tests.make import Make
from tests.payins.collecting import Collecting
from tests.payins.vendor_books import connected
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.simulators.stripe import StripeSimulator
from tests.providers.payments.test_balances import TOLD
from tests.providers.payments.vendors import VENDORS, Vendor, account_request, payout_request
from tillhouse.access.process import Services
from tillhouse.app import PRODUCT
from tillhouse.finance.reconciling.actions import Reconciliation
from tillhouse.finance.reconciling.balances import NONE_TOLD
from tillhouse.finance.reconciling.types import ReconciledPart, ReconcilingReport
from tillhouse.kit.clock import iso, now
from tillhouse.providers.payments.provider import RefundRequest

BALANCES = {
    "paystack": "GET /balance",
    "flutterwave": "GET /v3/balances",
    "monnify": "GET /api/v2/disbursements/wallet-balance",
    "stripe": "GET /v1/balance",
}


class Deaf(NamedTuple):
    """A live book whose provider's hooks never come."""

    till: Collecting
    vendor: Vendor
    simulator: Simulator
    link_id: UUID

    def reconciliation(self) -> Reconciliation:
        """The reconciliation of its business."""
        scope = ReconciledPart(
            since=now() - HOUR,
            until=now() + HOUR,
            business_id=self.till.origin.business_id,
        )
        return Reconciliation(self.till.services, scope, PRODUCT.sources)

    async def look(self) -> ReconcilingReport:
        """The differences."""
        return await self.reconciliation().look()

    async def drifts(self) -> list[bool]:
        """Whether days differ, by currency, once a repair has done what it can."""
        report = await self.reconciliation().repair()
        assert report.differences == []
        return [one.first_difference is not None for one in report.days]

    async def paid(self) -> str:
        """Somebody pays by a link of the wallet; the account's reference."""
        url = "https://till.example.com/pay/x"
        account = await self.till.account(
            250, type="payment_link", id=self.link_id, currency=self.vendor.currency,
            return_url=url,
        )  # fmt: skip
        await self.simulator.pay(account.reference)
        return account.reference


@pytest.fixture(params=VENDORS, ids=str)
async def deaf(
    request: pytest.FixtureRequest, services: Services, sql: asyncpg.Connection, make: Make
) -> AsyncIterator[Deaf]:
    """A live book for each vendor."""
    vendor: Vendor = request.param
    simulator = await vendor.simulator().start()
    urls = ((vendor.name, simulator.base_url),)
    settings = msgspec.structs.replace(services.settings, provider_urls=urls)
    there = msgspec.structs.replace(services, settings=settings)
    business = await make.business(currency=vendor.currency)
    origin = await connected(there, sql, business, (vendor, simulator))
    api = await business.client("payment_links:write", environment="live")
    body = {"title": "Hall deposit", "amount": 250}
    link = (await api.post("/v1/payment-links/wallet/dynamic", body, status=201)).data
    yield Deaf(Collecting(there, sql, origin), vendor, simulator, UUID(link["id"]))
    await simulator.stop()


async def test_what_the_vendor_lists_is_recorded_and_applied(deaf: Deaf) -> None:
    """Once; and a reversal after it, where the vendor's API tells of one."""
    reference = await deaf.paid()
    report = await deaf.look()
    assert [(one.kind, one.repair) for one in report.differences] == [
        ("payment_unrecorded", "record")
    ]
    for _ in range(2):
        assert (await deaf.reconciliation().repair()).differences == []
    [payin] = await deaf.till.payins()
    assert payin["applied_at"] is not None
    assert await deaf.till.balance("wallet", deaf.vendor.currency) == 250 - payin["fee"]
    [days] = (await deaf.look()).days
    assert days.first_difference is None
    assert days.days[-1].booked_balance == days.days[-1].provider_balance == 250 - payin["fee"]
    if not deaf.vendor.tells_reversals:
        return
    await deaf.simulator.reverse(reference)
    assert [one.kind for one in (await deaf.look()).differences] == ["payment_reversed"]
    for _ in range(2):
        assert (await deaf.reconciliation().repair()).differences == []
    assert await deaf.till.balance("wallet", deaf.vendor.currency) == 0
    assert await deaf.drifts() == [False]


async def test_payments_before_the_provider_was_connected_are_none_of_ours(deaf: Deaf) -> None:
    """The vendor's account may have been in use for years."""
    adapter = deaf.vendor.adapter(deaf.simulator.base_url)
    wanted = account_request(deaf.vendor)
    await adapter.open_account(deaf.simulator.credentials, wanted)
    await deaf.simulator.pay(wanted.reference)
    assert [one.kind for one in (await deaf.look()).differences] == ["payment_unrecorded"]
    await deaf.till.sql.execute(
        "UPDATE payment_providers SET created_at = $2 WHERE book_id = $1",
        deaf.till.book.id,
        now() + timedelta(minutes=5),
    )
    assert (await deaf.look()).differences == []
    await deaf.paid()
    assert [one.kind for one in (await deaf.look()).differences] == ["payment_unrecorded"]


async def test_what_was_given_back_on_the_vendors_own_pages_is_told(deaf: Deaf) -> None:
    """A part of a payment, by a refund that is none of ours."""
    reference = await deaf.paid()
    await deaf.reconciliation().repair()
    adapter, credentials = deaf.vendor.adapter(deaf.simulator.base_url), deaf.simulator.credentials
    [payin] = await deaf.till.payins()
    wanted = RefundRequest(
        reference=f"by-hand-{reference}"[:40],
        transaction_id=payin["provider_transaction_id"],
        amount=Decimal(10),
        currency=deaf.vendor.currency,
        reason="Asked on the phone",
    )
    await adapter.refund(credentials, wanted)
    [one] = (await deaf.look()).differences
    assert (one.kind, one.repair) == ("refund_unrecorded", "record")
    assert one.what.startswith("10")
    assert (await deaf.look()).refunds == 1
    for _ in range(2):
        assert (await deaf.reconciliation().repair()).differences == []
    [payin] = await deaf.till.payins()
    assert (payin["status"], payin["returned_amount"]) == ("received", 10)
    assert await deaf.drifts() == [False]


async def test_a_dispute_that_the_vendor_lacks_is_told(deaf: Deaf) -> None:
    """Recorded once, and then no longer in the vendor's lists, nor known of its payment."""
    simulator = deaf.simulator
    if not isinstance(simulator, StripeSimulator | PaystackSimulator):
        pytest.skip("its disputes are not listed by their own")
    reference = await deaf.paid()
    await deaf.reconciliation().repair()
    name = await simulator.dispute(reference)
    await simulator.close_dispute(name, is_won=False)
    assert [one.kind for one in (await deaf.look()).differences] == ["dispute_unrecorded"]
    assert (await deaf.reconciliation().repair()).differences == []
    simulator.disputes.clear()
    # A payment that Paystack calls reversed is one where no dispute says why.
    found = (await deaf.look()).differences
    [one] = [one for one in found if one.kind.startswith("dispute")]
    assert (one.kind, one.id, one.repair) == ("dispute_unknown", name, None)
    assert f"it is lost here, with 250.00 {deaf.vendor.currency} taken" in one.what


@pytest.mark.parametrize("is_old", [False, True], ids=["new", "old"])
async def test_a_dispute_of_a_payment_that_is_not_recorded_is_told(
    deaf: Deaf, is_old: bool
) -> None:
    """By a line of its own, also where its payment came before the time; both are recorded."""
    simulator = deaf.simulator
    if not isinstance(simulator, StripeSimulator | PaystackSimulator):
        pytest.skip("its disputes are not listed by their own")
    name = await simulator.dispute(await deaf.paid())
    began = now() - timedelta(days=40 if is_old else 0)
    if isinstance(simulator, StripeSimulator):
        for one in simulator.intents.values():
            one["created"] = int(began.timestamp())
    else:
        for one in simulator.transactions.values():
            one["created_at"] = iso(began)
    found = (await deaf.look()).differences
    kinds = [] if is_old else ["payment_unrecorded"]
    assert [one.kind for one in found] == [*kinds, "dispute_unrecorded"]
    assert (found[-1].id, found[-1].repair) == (name, "record")
    assert "nor is its payment recorded: 250" in found[-1].what
    for _ in range(2):
        assert (await deaf.reconciliation().repair()).differences == []
    query = "SELECT provider_dispute_id FROM disputes WHERE book_id = $1"
    assert await deaf.till.sql.fetchval(query, deaf.till.origin.book.id) == name


async def test_a_vendor_that_is_away_is_no_agreement(deaf: Deaf) -> None:
    """Its silence is told, and changes nothing."""
    await deaf.paid()
    await deaf.simulator.stop()
    for report in (await deaf.look(), await deaf.reconciliation().repair()):
        assert [one.kind for one in report.differences] == ["provider_unread"]
    assert await deaf.till.payins() == []


async def test_money_that_somebody_else_sent_is_told(deaf: Deaf) -> None:
    """A payout that no withdrawal explains."""
    if "pay out" not in deaf.vendor.calls:
        pytest.skip("it has no payouts")
    adapter = deaf.vendor.adapter(deaf.simulator.base_url)
    await adapter.pay_out(deaf.simulator.credentials, payout_request())
    [one] = (await deaf.look()).differences
    assert (one.kind, one.repair) == ("payout_unrecorded", None)
    assert "1500.5" in one.what


async def test_what_lies_at_the_vendor_now_is_told_beside_the_books(deaf: Deaf) -> None:
    """In the currency of the book; one that doesn't answer has a sentence."""
    await deaf.paid()
    await deaf.reconciliation().repair()
    wallet = await deaf.till.balance("wallet", deaf.vendor.currency)
    report = await deaf.look()
    [one] = [one for one in report.balances if one.environment == "live"]
    [told] = TOLD[deaf.vendor.name]
    assert (one.provider, one.currency, one.unread) == (deaf.vendor.name, told.currency, None)
    assert (one.available, one.pending, one.wallet) == (told.available, told.pending, wallet)
    assert one.booked == wallet > 0
    assert report.differences == []
    deaf.simulator.fail_next("busy", BALANCES[deaf.vendor.name])
    report = await deaf.look()
    [one] = [one for one in report.balances if one.environment == "live"]
    assert (one.available, one.wallet) == (None, wallet)
    assert one.unread == "not reached: it answered 429: too many requests"
    assert report.differences == []
    assert report.days != []


async def test_a_sandbox_says_that_it_tells_no_balance(drifting: Drifting) -> None:
    """It only pretends to have money."""
    await drifting.paid()
    [one] = (await drifting.look()).balances
    assert (one.provider, one.available, one.unread) == ("sandbox", None, NONE_TOLD)
    assert one.wallet == await drifting.balance()
