"""Monnify: requests as documented, and the traps of its answers and hooks."""

from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.providers.payments.simulators.monnify import MonnifySimulator
from tests.providers.payments.vendors import (
    VENDORS,
    account_request,
    paid,
    payout_request,
    refund_request,
)
from tillhouse.kit.clock import now
from tillhouse.providers.payments.monnify import BASE_URL, TEST_URL, Monnify
from tillhouse.providers.payments.provider import (
    HeardPayment,
    HeardPayout,
    HeardRefund,
    NotReached,
    ProviderRefused,
    SeenPayment,
    Unclear,
)

MONNIFY = VENDORS[2]


@pytest.fixture
async def sim() -> AsyncIterator[MonnifySimulator]:
    """A simulator of this test's own."""
    sim = await MonnifySimulator().start()
    yield sim
    await sim.stop()


async def opened(sim: MonnifySimulator, amount: str = "5000") -> str:
    """The reference of an account that was opened."""
    wanted = account_request(MONNIFY, amount)
    await Monnify(sim.base_url).open_account(sim.credentials, wanted)
    return wanted.reference


async def seen(sim: MonnifySimulator, reference: str) -> list[SeenPayment]:
    """The payments of a reference."""
    heard = HeardPayment(reference, None)
    return list(await Monnify(sim.base_url).find_payments(sim.credentials, heard))


async def test_an_account_is_opened_as_documented(sim: MonnifySimulator) -> None:
    """A login, a transaction, and an account for it, which lives as long as Monnify says."""
    wanted = account_request(MONNIFY, "5000.10")
    account = await Monnify(sim.base_url).open_account(sim.credentials, wanted)
    login, begin, init = sim.asked
    assert (login.path, begin.method) == ("/api/v1/auth/login", "POST")
    assert begin.headers["authorization"] == f"Bearer {sim.tokens[0]}"
    assert b'"amount":5000.10' in begin.body
    body = begin.json
    assert (body["paymentReference"], body["contractCode"]) == (wanted.reference, "7059707855")
    assert (body["currencyCode"], body["paymentMethods"]) == ("NGN", ["ACCOUNT_TRANSFER"])
    assert init.json == {"transactionReference": account.provider_reference}
    assert account.account_number is not None
    assert account.account_number.isdigit()
    assert account.expires_at is not None
    lives = account.expires_at - now()
    assert timedelta(minutes=39) < lives <= timedelta(minutes=40)


async def test_a_login_serves_many_calls_and_is_renewed(sim: MonnifySimulator) -> None:
    """Also when Monnify takes its token no longer; wrong keys are refused at once."""
    adapter = Monnify(sim.base_url)
    for _ in range(3):
        await adapter.list_banks(sim.credentials, "NGN")
    assert len(sim.tokens) == 1
    sim.tokens.clear()
    await adapter.list_banks(sim.credentials, "NGN")
    assert len([one for one in sim.asked if one.path.endswith("/login")]) == 2
    sim.token_lives = 0
    for _ in range(2):
        await Monnify(sim.base_url).list_banks(sim.credentials, "NGN")
    assert len([one for one in sim.asked if one.path.endswith("/login")]) == 4


async def test_a_reference_with_pipes_travels_whole(sim: MonnifySimulator) -> None:
    """They are written in the path as no other sign is."""
    payment = await paid(MONNIFY, sim)
    assert "|" in payment.transaction_id
    adapter = Monnify(sim.base_url)
    [again] = await adapter.find_payments(
        sim.credentials, HeardPayment(None, payment.transaction_id)
    )
    assert again == payment
    assert "%7C" in sim.asked[-1].path
    assert "|" not in sim.asked[-1].path


async def test_each_transfer_is_a_payment_with_an_id_that_stays(sim: MonnifySimulator) -> None:
    """In whichever order Monnify lists them: what was seen once is never seen as another."""
    reference = await opened(sim)
    first: dict[str, Decimal] = {}
    for amount in ("3000", "2000", "2000", "5000", "3000"):
        await sim.pay(reference, Decimal(amount), fee=Decimal(10))
        found = await seen(sim, reference)
        amounts = {one.transaction_id: one.amount for one in found}
        assert first.items() <= amounts.items()
        assert sum(amounts.values()) == sim.transactions[reference]["amountPaid"]
        assert {one.state for one in found} == {"successful"}
        assert sum(one.fee for one in found) == 10 * len(found)
        first = amounts
    assert len(first) == 5
    sim.transactions[reference]["accountPayments"].reverse()
    assert {one.transaction_id: one.amount for one in await seen(sim, reference)} == first


async def test_the_exact_payment_is_called_as_monnify_calls_it(sim: MonnifySimulator) -> None:
    """A part of another amount bears it in its name; both are refunded by the transaction."""
    adapter = Monnify(sim.base_url)
    for amount, is_exact in (("5000", True), ("7000.50", False)):
        reference = await opened(sim)
        called = await sim.pay(reference, Decimal(amount))
        [payment] = await seen(sim, reference)
        assert (payment.transaction_id == called) == is_exact
        made = await adapter.refund(sim.credentials, refund_request(MONNIFY, payment, "100"))
        assert sim.refunds[made.reference]["transactionReference"] == called


async def test_fees_that_the_payer_bears_are_refused(sim: MonnifySimulator) -> None:
    """More would have to be paid than the link says."""
    sim.payer_fee = Decimal(50)
    with pytest.raises(ProviderRefused, match="bear"):
        await Monnify(sim.base_url).open_account(sim.credentials, account_request(MONNIFY))


@pytest.mark.parametrize(
    ("changed", "fee"),
    [
        ({"settlementAmount": None}, "0"),
        ({"settlementAmount": Decimal(6000)}, "0"),
        ({"accountPayments": None}, "50"),
        ({"accountPayments": [{}]}, "50"),
        ({"metaData": "", "customer": None, "paidOn": None}, "50"),
        ({"paidOn": "2021-11-17 11:28:42.615"}, "50"),
        ({"product": [], "cardDetails": 0}, "50"),
    ],
)
async def test_odd_forms_are_read(sim: MonnifySimulator, changed: dict[str, Any], fee: str) -> None:
    """Metadata of any type, and parts that tell no amount."""
    reference = await opened(sim)
    await sim.pay(reference, fee=Decimal(50))
    sim.said_instead = changed
    [payment] = await seen(sim, reference)
    assert (payment.amount, payment.fee) == (5000, Decimal(fee))


@pytest.mark.parametrize("amount", ["NaN", "Infinity", -1, 10**16, "1e400"])
async def test_a_refund_of_no_amount_says_nothing(sim: MonnifySimulator, amount: str | int) -> None:
    """Its payment is asked about again later."""
    payment = await paid(MONNIFY, sim)
    sim.refund_by_dashboard(payment.reference or "", Decimal(100))
    for one in sim.refunds.values():
        one["refundAmount"] = amount
    heard = HeardPayment(None, payment.transaction_id, may_be_back=True)
    with pytest.raises(NotReached):
        await Monnify(sim.base_url).find_payments(sim.credentials, heard)


@pytest.mark.parametrize(
    "changed",
    [
        {"amountPaid": "5000.005"},
        {"amountPaid": "NaN"},
        {"amountPaid": -1},
        {"amountPaid": 10**16},
        {"amountPaid": True},
        {"totalPayable": None},
        {"currency": "XTS"},
        {"currency": 5},
        {"paymentStatus": None},
        {"paymentReference": ""},
        {"accountPayments": [{"amountPaid": "x"}]},
        # Transfers that lag behind the sum: their ids are not known yet.
        {"accountPayments": [{"amountPaid": 400}]},
        {"accountPayments": [{"amountPaid": "1.00"}]},
    ],
)
async def test_an_answer_that_can_not_be_believed_is_none(
    sim: MonnifySimulator, changed: dict[str, Any]
) -> None:
    """It is asked again later: nothing is booked by it."""
    reference = await opened(sim)
    await sim.pay(reference)
    sim.said_instead = changed
    with pytest.raises(NotReached):
        await seen(sim, reference)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("PAID", "successful"),
        ("OVERPAID", "successful"),
        ("PARTIALLY_PAID", "successful"),
        ("UNDERPAID", "successful"),
        ("REFUNDED", "successful"),
        ("REVERSED", "reversed"),
        ("EXPIRED", "failed"),
        ("PENDING", "pending"),
        ("NEVER_HEARD_OF", "pending"),
    ],
)
async def test_states_of_a_payment(sim: MonnifySimulator, status: str, state: str) -> None:
    """Money that arrived is there, however it fits."""
    reference = await opened(sim)
    await sim.pay(reference)
    sim.transactions[reference]["paymentStatus"] = status
    assert [one.state for one in await seen(sim, reference)] == [state]


async def test_nothing_that_was_paid_is_no_success(sim: MonnifySimulator) -> None:
    """Its state may say anything."""
    reference = await opened(sim)
    for status, state in (("PENDING", "pending"), ("PAID", "pending"), ("EXPIRED", "failed")):
        sim.transactions[reference]["paymentStatus"] = status
        assert [one.state for one in await seen(sim, reference)] == [state]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("PENDING", "processing"),
        ("AWAITING_PROCESSING", "processing"),
        ("IN_PROGRESS", "processing"),
        ("PENDING_AUTHORIZATION", "processing"),
        ("OTP_EMAIL_DISPATCH_FAILED", "processing"),
        ("SUCCESS", "completed"),
        ("COMPLETED", "completed"),
        ("FAILED", "failed"),
        ("EXPIRED", "failed"),
        ("REVERSED", "reversed"),
        ("NEVER_HEARD_OF", "processing"),
    ],
)
async def test_states_of_a_payout(sim: MonnifySimulator, status: str, state: str) -> None:
    """Only conclusive states end it; one that waits for a password says so."""
    sim.transfer_status = status
    wanted = payout_request()
    adapter = Monnify(sim.base_url)
    made = await adapter.pay_out(sim.credentials, wanted)
    found = await adapter.find_payout(sim.credentials, wanted.reference)
    assert (made.state, found.state, made.fee, found.fee) == (state, state, 35, 35)
    waits = status in ("PENDING_AUTHORIZATION", "OTP_EMAIL_DISPATCH_FAILED")
    assert (found.reason is not None) == (state in ("failed", "reversed") or waits)


async def test_a_payout_like_the_last_goes_later(sim: MonnifySimulator) -> None:
    """Monnify takes it for a duplicate: it wasn't sent, and isn't refused for good."""
    adapter = Monnify(sim.base_url)
    first, second = payout_request(), payout_request()
    await adapter.pay_out(sim.credentials, first)
    sim.refuses_alike = True
    with pytest.raises(NotReached):
        await adapter.pay_out(sim.credentials, second)
    assert (await adapter.pay_out(sim.credentials, first)).reference == first.reference
    sim.refuses_alike = False
    await adapter.pay_out(sim.credentials, second)
    assert [reference for reference, _ in sim.left] == [first.reference, second.reference]


async def test_a_refusal_that_can_not_be_looked_up_is_unclear(sim: MonnifySimulator) -> None:
    """Perhaps an earlier call with this reference was executed."""
    adapter = Monnify(sim.base_url)
    wanted = payout_request()
    await adapter.pay_out(sim.credentials, wanted)
    sim.fail_next("500 first", "GET /api/v2/disbursements/single/summary")
    with pytest.raises(Unclear):
        await adapter.pay_out(sim.credentials, wanted)
    payment = await paid(MONNIFY, sim)
    giving = refund_request(MONNIFY, payment, "100")
    await adapter.refund(sim.credentials, giving)
    sim.fail_next("500 first", "GET /api/v1/refunds/*")
    with pytest.raises(Unclear):
        await adapter.refund(sim.credentials, giving)
    assert len(sim.left) == 2


async def test_hooks_tell_of_payouts_and_refunds(sim: MonnifySimulator) -> None:
    """By our references."""
    payment = await paid(MONNIFY, sim)
    adapter = Monnify(sim.base_url)
    payouts = [payout_request() for _ in range(3)]
    for payout, state in zip(payouts, ("completed", "failed", "reversed"), strict=True):
        await adapter.pay_out(sim.credentials, payout)
        await sim.finish_payout(payout.reference, state)
    made = await adapter.refund(sim.credentials, refund_request(MONNIFY, payment, "2000"))
    await sim.finish_refund(made.reference, "failed")
    await sim.tell()
    heard = [adapter.heard(hook.body) for hook in sim.told][1:]
    assert heard == [
        *([HeardPayout(one.reference)] for one in payouts),
        [HeardRefund(made.reference, made.reference, payment.transaction_id)],
    ]


async def test_other_currencies_are_refused(sim: MonnifySimulator) -> None:
    """Monnify is of Nigeria; each environment has an address of its own."""
    adapter = Monnify(sim.base_url)
    with pytest.raises(ProviderRefused):
        await adapter.pay_out(sim.credentials, payout_request(currency="USD"))
    assert await adapter.list_banks(sim.credentials, "USD") == []
    assert sim.asked == []
    assert BASE_URL != TEST_URL
