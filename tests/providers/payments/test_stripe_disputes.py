"""Disputes at Stripe: their money and fee, judged by Stripe's own client and verifier."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal

import pytest
import stripe

from tests.providers.payments.simulators.stripe import (
    SECRET_KEY,
    WEBHOOK_SECRET,
    StripeSimulator,
)
from tests.providers.payments.test_stripe import STRIPE, seen
from tests.providers.payments.vendors import paid
from tillhouse.kit.clock import now


@pytest.fixture
async def sim() -> AsyncIterator[StripeSimulator]:
    """A simulator of this test's own."""
    sim = await StripeSimulator().start()
    yield sim
    await sim.stop()


async def test_a_dispute_is_told_with_its_money_and_its_fee(sim: StripeSimulator) -> None:
    """The amount is known while it is open, and comes back when it was won; the fee doesn't."""
    payment = await paid(STRIPE, sim)
    assert payment.reference is not None
    number = await sim.dispute(payment.reference, Decimal(4000))
    found = await seen(sim, payment.reference)
    [one] = found.disputes
    assert (found.state, one.provider_reference) == ("successful", number)
    assert (one.state, one.amount, one.taken, one.fee) == ("evidence_due", 4000, 4000, 15)
    assert (one.reason, one.transaction_id) == ("fraudulent", payment.transaction_id)
    assert one.evidence_by is not None
    assert one.evidence_by > now()
    await sim.close_dispute(number, is_won=True)
    [one] = (await seen(sim, payment.reference)).disputes
    assert (one.state, one.taken, one.fee) == ("won", 0, 15)
    sim.disputes[0] |= {"status": "warning_under_review", "balance_transactions": []}
    [one] = (await seen(sim, payment.reference)).disputes
    assert (one.state, one.taken, one.fee) == ("opened", 0, 0)


async def test_a_dispute_of_a_payment_that_was_settled_in_another_currency(
    sim: StripeSimulator,
) -> None:
    """The amount is told by its part, and so is the fee."""
    sim.exchange_rate = Decimal("0.5")
    payment = await paid(STRIPE, sim)
    assert payment.reference is not None
    number = await sim.dispute(payment.reference)
    [one] = (await seen(sim, payment.reference)).disputes
    assert (one.taken, one.fee) == (5000, 30)
    await sim.close_dispute(number, is_won=False)
    [one] = (await seen(sim, payment.reference)).disputes
    assert (one.state, one.taken) == ("lost", 5000)


async def test_the_official_client_reads_disputes_and_asks_as_we_do(sim: StripeSimulator) -> None:
    """Each event is Stripe's to its verifier, and a list is asked for by the same request."""
    payment = await paid(STRIPE, sim)
    assert payment.reference is not None
    number = await sim.dispute(payment.reference, Decimal(4000))
    await sim.close_dispute(number, is_won=False)
    await sim.tell()
    kinds: list[str] = []
    for hook in sim.told:
        event = stripe.Webhook.construct_event(
            hook.body, hook.headers["stripe-signature"], WEBHOOK_SECRET
        )
        if event.type.startswith("charge.dispute"):
            kinds.append(event.type)
            told = event.data.object
            assert isinstance(told, stripe.Dispute)
            assert (told.id, told.amount, told.payment_intent) == (
                number, 400_000, payment.transaction_id,
            )  # fmt: skip
    assert kinds[0] == "charge.dispute.created"
    assert kinds[-1] == "charge.dispute.closed"
    sim.asked.clear()
    await seen(sim, payment.reference)
    [ours] = [one for one in sim.asked if one.path.startswith("/v1/disputes")]
    client = stripe.StripeClient(
        SECRET_KEY, base_addresses={"api": sim.base_url}, max_network_retries=0
    )

    def judge() -> None:
        listed = client.v1.disputes.list({"payment_intent": payment.transaction_id, "limit": 100})
        [one] = list(listed.auto_paging_iter())
        assert (one.status, one.reason, one.charge is not None) == ("lost", "fraudulent", True)
        moved = one.balance_transactions[0]
        assert (moved.amount, moved.fee, moved.type) == (-400_000, 1500, "adjustment")

    await asyncio.to_thread(judge)
    theirs = [one for one in sim.asked if one.path.startswith("/v1/disputes")][-1]
    assert ours[:3] == theirs[:3]
