"""Stripe: its own client and verifier agree with the simulator, and the traps of its answers."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs

import pytest
import stripe

from tests.providers.payments.simulators.stripe import (
    SECRET_KEY,
    WEBHOOK_SECRET,
    StripeSimulator,
)
from tests.providers.payments.vendors import VENDORS, account_request, paid, refund_request
from tillhouse.kit.clock import now
from tillhouse.providers.payments.provider import (
    HeardPayment,
    HeardRefund,
    NotReached,
    ProviderRefused,
    SeenPayment,
    Unclear,
    Unknown,
)
from tillhouse.providers.payments.stripe import Stripe

STRIPE = VENDORS[3]
# More refunds than Stripe lists at once.
_BEYOND = 101


@pytest.fixture
async def sim() -> AsyncIterator[StripeSimulator]:
    """A simulator of this test's own."""
    sim = await StripeSimulator().start()
    yield sim
    await sim.stop()


async def opened(sim: StripeSimulator, amount: str = "5000", **more: Any) -> str:
    """The reference of a page that was opened."""
    wanted = account_request(STRIPE, amount, **more)
    await Stripe(sim.base_url).open_account(sim.credentials, wanted)
    return wanted.reference


async def seen(sim: StripeSimulator, reference: str) -> SeenPayment:
    """The payment of a reference."""
    heard = HeardPayment(reference, None)
    [payment] = await Stripe(sim.base_url).find_payments(sim.credentials, heard)
    return payment


async def test_a_page_is_opened_as_documented(sim: StripeSimulator) -> None:
    """A form with the amount in cents, our reference, and an idempotency key."""
    wanted = account_request(STRIPE, "50.10")
    adapter = Stripe(sim.base_url)
    page = await adapter.open_account(sim.credentials, wanted)
    [asked] = sim.asked
    assert (asked.method, asked.path) == ("POST", "/v1/checkout/sessions")
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert wanted.reference in asked.headers["idempotency-key"]
    form = {name: value for name, [value] in parse_qs(asked.body.decode()).items()}
    assert form["line_items[0][price_data][unit_amount]"] == "5010"
    assert form["line_items[0][price_data][currency]"] == "usd"
    assert form["client_reference_id"] == wanted.reference
    assert page.url is not None
    assert page.url.startswith("https://checkout.stripe.com/")
    assert page.account_number is None
    assert page.expires_at is not None
    assert await adapter.open_account(sim.credentials, wanted) == page
    with pytest.raises(ProviderRefused):
        await adapter.open_account(sim.credentials, account_request(STRIPE, return_url=None))


@pytest.mark.parametrize(
    ("lives", "least", "most"),
    [
        (timedelta(minutes=1), timedelta(minutes=30), timedelta(minutes=42)),
        (timedelta(hours=2), timedelta(minutes=119), timedelta(hours=2)),
        (timedelta(days=3), timedelta(hours=23), timedelta(hours=24)),
    ],
)
async def test_a_page_lives_as_long_as_stripe_allows(
    sim: StripeSimulator, lives: timedelta, least: timedelta, most: timedelta
) -> None:
    """From half an hour to a day."""
    wanted = account_request(STRIPE, expires_at=now() + lives)
    page = await Stripe(sim.base_url).open_account(sim.credentials, wanted)
    assert page.expires_at is not None
    assert least < page.expires_at - now() <= most


@pytest.mark.parametrize(
    ("currency", "amount", "units"),
    [("JPY", "500", 500), ("UGX", "500", 50_000), ("KWD", "1.25", 1250), ("NGN", "1.5", 150)],
)
async def test_units_are_stripes_own(
    sim: StripeSimulator, currency: str, amount: str, units: int
) -> None:
    """No decimals, two that are noughts, three, or two; and back."""
    reference = await opened(sim, amount, currency=currency)
    assert sim.sessions[reference]["amount_total"] == units
    await sim.pay(reference)
    payment = await seen(sim, reference)
    assert (payment.amount, payment.currency) == (Decimal(amount), currency)


async def test_a_fee_in_another_currency_is_told_in_the_payments(sim: StripeSimulator) -> None:
    """As its part of the amount that was settled."""
    sim.exchange_rate = Decimal("0.5")
    reference = await opened(sim, "100")
    await sim.pay(reference, fee=Decimal(3))
    assert (await seen(sim, reference)).fee == 3


_PAGE: Any = {
    "mode": "payment",
    "success_url": "https://shop.example.com/paid",
    "client_reference_id": "th-official",
    "line_items": [
        {
            "quantity": 1,
            "price_data": {
                "currency": "usd",
                "unit_amount": 700,
                "product_data": {"name": "Order"},
            },
        }
    ],
    "payment_intent_data": {"metadata": {"reference": "th-official"}},
}


async def test_the_official_client_works_against_the_simulator(sim: StripeSimulator) -> None:
    """Pages, intents, refunds and searches as it expects them, and its errors."""
    client = stripe.StripeClient(
        SECRET_KEY, base_addresses={"api": sim.base_url}, max_network_retries=0
    )
    reference = await opened(sim)

    def judge() -> None:
        page = client.v1.checkout.sessions.retrieve(sim.sessions[reference]["id"])
        assert (page.status, page.payment_status, page.amount_total) == ("open", "unpaid", 500_000)
        made = client.v1.checkout.sessions.create(
            _PAGE,
            {"idempotency_key": "a"},
        )
        assert sim.sessions["th-official"]["id"] == made.id
        assert client.v1.balance.retrieve().object == "balance"
        with pytest.raises(stripe.InvalidRequestError):
            client.v1.payment_intents.retrieve("pi_unknown")

    await asyncio.to_thread(judge)
    assert await sim.pay("th-official")

    def judge_paid() -> None:
        found = client.v1.payment_intents.search(
            {"query": "metadata['reference']:'th-official'", "expand": ["data.latest_charge"]}
        )
        [paid] = found.data
        assert (paid.status, paid.amount_received) == ("succeeded", 700)
        assert isinstance(paid.latest_charge, stripe.Charge)
        made = client.v1.refunds.create({"payment_intent": paid.id, "amount": 300})
        assert (made.status, made.amount) == ("pending", 300)
        listed = client.v1.refunds.list({"payment_intent": paid.id})
        assert [one.id for one in listed.auto_paging_iter()] == [made.id]
        with pytest.raises(stripe.InvalidRequestError):
            client.v1.refunds.create({"payment_intent": paid.id, "amount": 401})
        with pytest.raises(stripe.InvalidRequestError):
            client.v1.checkout.sessions.expire(sim.sessions["th-official"]["id"])
        wrong = stripe.StripeClient("sk_test_x", base_addresses={"api": sim.base_url})
        with pytest.raises(stripe.AuthenticationError):
            wrong.v1.balance.retrieve()

    await asyncio.to_thread(judge_paid)


async def test_the_official_verifier_agrees_with_ours(sim: StripeSimulator) -> None:
    """On good signatures, wrong ones, and old ones."""
    adapter = Stripe(sim.base_url)
    reference = await opened(sim)
    await sim.pay(reference)
    await sim.tell()
    old = int(time.time()) - 301
    body = sim.told[0].body
    for headers, sent, is_good in (
        (sim.sign(body), body, True),
        (sim.sign(body, at=int(time.time()) - 200), body, True),
        (sim.sign(body, forged=True), body, False),
        (sim.sign(body, at=old), body, False),
        (sim.sign(body), body + b" ", False),
        (sim.sign(body), json.dumps(json.loads(body), indent=1).encode(), False),
    ):
        assert adapter.is_signed(sim.credentials, headers, sent) == is_good
        try:
            event = stripe.Webhook.construct_event(
                sent, headers["stripe-signature"], WEBHOOK_SECRET
            )
        except stripe.SignatureVerificationError:
            assert not is_good
        else:
            assert is_good
            assert event.type == "checkout.session.completed"


@pytest.mark.parametrize(
    "header",
    ["", "t=", "t=1", "v1=ab", "t=x,v1=ab", "t=²,v1=ab", "t=9999999999999,v1=ab", "t=1,t=1,v1=ab"],
)
def test_a_header_without_a_time_or_a_signature_is_none(header: str) -> None:
    """It is refused, and nothing raises."""
    credentials = StripeSimulator.credentials
    assert not Stripe().is_signed(credentials, {"stripe-signature": header}, b"{}")


async def test_one_of_several_signatures_is_enough(sim: StripeSimulator) -> None:
    """While a secret is rolled, Stripe signs with both; a time from ahead is none, either."""
    good = sim.sign(b"{}")["stripe-signature"].split(",")
    rolled = ",".join([good[0], "v1=00", good[1]])
    adapter = Stripe(sim.base_url)
    assert adapter.is_signed(sim.credentials, {"stripe-signature": rolled}, b"{}")
    ahead = sim.sign(b"{}", at=int(time.time()) + 400)
    assert not adapter.is_signed(sim.credentials, ahead, b"{}")


async def test_a_refund_by_the_dashboard_is_told_by_its_amount(sim: StripeSimulator) -> None:
    """A refund of ours beside it counts as ours; Stripe keeps its fee."""
    payment = await paid(STRIPE, sim)
    adapter = Stripe(sim.base_url)
    await adapter.refund(sim.credentials, refund_request(STRIPE, payment, "2000"))
    assert payment.reference is not None
    assert (await seen(sim, payment.reference)).returned == 0
    other = sim.refund_by_dashboard(payment.transaction_id, 300_000)
    found = await seen(sim, payment.reference)
    assert (found.state, found.returned, found.returned_fee) == ("successful", 3000, 0)
    with pytest.raises(Unknown):
        await adapter.find_refund(sim.credentials, HeardRefund(None, other["id"]))


async def test_refunds_are_found_and_counted_on_any_page(sim: StripeSimulator) -> None:
    """Stripe lists a hundred at once, the newest first: ours behind them isn't made again."""
    payment, adapter = await paid(STRIPE, sim), Stripe(sim.base_url)
    first = refund_request(STRIPE, payment, "1")
    made = await adapter.refund(sim.credentials, first)
    for _ in range(_BEYOND):
        sim.refund_by_dashboard(payment.transaction_id, 100)
    heard = HeardRefund(first.reference, None, transaction_id=payment.transaction_id)
    assert await adapter.find_refund(sim.credentials, heard) == made
    assert await adapter.refund(sim.credentials, first) == made
    assert (await seen(sim, payment.reference or "")).returned == _BEYOND
    assert len(sim.refunds) == 1 + _BEYOND


async def test_hooks_tell_of_payments_refunds_and_disputes(sim: StripeSimulator) -> None:
    """By Stripe's ids, and by our references where they are."""
    payment = await paid(STRIPE, sim)
    adapter = Stripe(sim.base_url)
    made = await adapter.refund(sim.credentials, refund_request(STRIPE, payment, "100"))
    assert made.provider_reference is not None
    await sim.finish_refund(made.provider_reference)
    assert payment.reference is not None
    number = await sim.dispute(payment.reference)
    await sim.close_dispute(number, is_won=True)
    sim.refund_by_dashboard(payment.transaction_id, 100)
    await sim.tell()
    session = sim.sessions[payment.reference]["id"]
    of = payment.transaction_id
    assert [adapter.heard(hook.body) for hook in sim.told] == [
        [HeardPayment(payment.reference, of, provider_reference=session)],
        [HeardPayment(payment.reference, of)],
        [HeardRefund(made.reference, made.provider_reference, of)],
        *[[HeardPayment(None, of, may_be_back=True)]] * 5,
    ]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("succeeded", "successful"),
        ("processing", "pending"),
        ("requires_payment_method", "pending"),
        ("requires_action", "pending"),
        ("canceled", "failed"),
        ("never heard of", "pending"),
    ],
)
async def test_states_of_a_payment(sim: StripeSimulator, status: str, state: str) -> None:
    """Only succeeded is success."""
    payment = await paid(STRIPE, sim)
    sim.intents[payment.transaction_id]["status"] = status
    assert payment.reference is not None
    assert (await seen(sim, payment.reference)).state == state


@pytest.mark.parametrize(
    "changed",
    [
        {"amount_received": "NaN"},
        {"amount_received": -1},
        {"amount_received": 1.5},
        {"amount_received": 10**30},
        {"amount_received": None},
        {"currency": "xts"},
        {"currency": ""},
        {"status": None},
        {"latest_charge": {"created": 1, "balance_transaction": {"amount": 1, "fee": 2}}},
        {"latest_charge": {"created": 1, "balance_transaction": {"amount": 0, "fee": 0}}},
        {"latest_charge": {"created": 1, "balance_transaction": {"amount": "NaN", "fee": 0}}},
    ],
)
async def test_an_answer_that_can_not_be_believed_is_none(
    sim: StripeSimulator, changed: dict[str, Any]
) -> None:
    """It is asked again later: nothing is booked by it."""
    payment = await paid(STRIPE, sim)
    sim.intents[payment.transaction_id] |= changed
    heard = HeardPayment(None, payment.transaction_id)
    with pytest.raises(NotReached):
        await Stripe(sim.base_url).find_payments(sim.credentials, heard)


async def test_a_payment_without_its_fee_is_there(sim: StripeSimulator) -> None:
    """Stripe tells it a little later, or never for some ways to pay."""
    payment = await paid(STRIPE, sim)
    assert payment.reference is not None
    sim.intents[payment.transaction_id]["latest_charge"]["balance_transaction"] = None
    assert (await seen(sim, payment.reference)).fee == 0
    sim.intents[payment.transaction_id]["latest_charge"] = None
    assert (await seen(sim, payment.reference)).state == "successful"


async def test_the_same_key_with_another_request_is_refused(sim: StripeSimulator) -> None:
    """A reference is of one page, whatever is asked later."""
    reference = await opened(sim)
    with pytest.raises(ProviderRefused, match="idempotency_error"):
        await opened(sim, "6000", reference=reference)


async def test_stripe_pays_nobody_out(sim: StripeSimulator) -> None:
    """It says so at once."""
    adapter = Stripe(sim.base_url)
    assert not adapter.capabilities.has_payouts
    assert not adapter.capabilities.has_name_enquiry
    with pytest.raises(Unknown):
        await adapter.find_payout(sim.credentials, "th-x")
    with pytest.raises(ProviderRefused):
        await adapter.resolve_name(sim.credentials, "058", "0123456789")
    assert await adapter.list_banks(sim.credentials, "USD") == []
    assert sim.asked == []


async def test_a_request_that_is_under_way_is_unclear(sim: StripeSimulator) -> None:
    """Another with the same key was not answered yet."""
    payment = await paid(STRIPE, sim)
    wanted = refund_request(STRIPE, payment, "100")
    sim.is_under_way = True
    with pytest.raises(Unclear):
        await Stripe(sim.base_url).refund(sim.credentials, wanted)
    sim.is_under_way = False
    await Stripe(sim.base_url).refund(sim.credentials, wanted)
    assert len(sim.left) == 1
