"""Paystack: requests as documented, and the traps of its answers and hooks."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.providers.payments.simulators.paystack import SECRET_KEY, PaystackSimulator
from tests.providers.payments.vendors import (
    VENDORS,
    account_request,
    paid,
    payout_request,
    refund_request,
)
from tillhouse.kit.clock import iso, now
from tillhouse.providers.payments.paystack import Paystack
from tillhouse.providers.payments.provider import (
    HeardPayment,
    HeardPayout,
    HeardRefund,
    NotReached,
    SeenPayment,
    Unknown,
)

PAYSTACK = VENDORS[0]


@pytest.fixture
async def sim() -> AsyncIterator[PaystackSimulator]:
    """A simulator of this test's own."""
    sim = await PaystackSimulator().start()
    yield sim
    await sim.stop()


async def seen(sim: PaystackSimulator, reference: str) -> SeenPayment:
    """The payment of a reference."""
    heard = HeardPayment(reference, None)
    [payment] = await Paystack(sim.base_url).find_payments(sim.credentials, heard)
    return payment


async def opened(sim: PaystackSimulator, amount: str = "5000", **more: Any) -> str:
    """The reference of an account that was opened."""
    wanted = account_request(PAYSTACK, amount, **more)
    await Paystack(sim.base_url).open_account(sim.credentials, wanted)
    return wanted.reference


async def test_an_account_is_opened_as_documented(sim: PaystackSimulator) -> None:
    """Units of a hundredth, our reference, and an account by transfer."""
    wanted = account_request(PAYSTACK, "5000.50")
    account = await Paystack(sim.base_url).open_account(sim.credentials, wanted)
    [asked] = sim.asked
    assert (asked.method, asked.path) == ("POST", "/charge")
    assert asked.headers["authorization"] == f"Bearer {SECRET_KEY}"
    body = asked.json
    assert body["amount"] == 500050
    assert (body["email"], body["currency"]) == ("payer@example.com", "NGN")
    assert body["reference"] == wanted.reference == account.provider_reference
    assert account.account_number is not None
    assert account.account_number.isdigit()
    assert (account.bank_name, account.account_name) == ("Test Bank", "PAYSTACK CHECKOUT")
    again = await Paystack(sim.base_url).open_account(sim.credentials, wanted)
    assert again == account


@pytest.mark.parametrize(
    ("wanted", "lives"),
    [(None, 480), (timedelta(0), 15), (timedelta(minutes=30), 30), (timedelta(days=3), 480)],
)
async def test_an_account_lives_as_long_as_paystack_allows(
    sim: PaystackSimulator, wanted: timedelta | None, lives: int
) -> None:
    """From a quarter of an hour to eight hours."""
    ends = None if wanted is None else now() + wanted
    account = await Paystack(sim.base_url).open_account(
        sim.credentials, account_request(PAYSTACK, expires_at=ends)
    )
    assert account.expires_at is not None
    off = account.expires_at - now() - timedelta(minutes=lives)
    assert abs(off) < timedelta(minutes=1)


async def test_fees_that_the_payer_bears_are_not_the_businesses(sim: PaystackSimulator) -> None:
    """The amount is then larger than was asked for; the business is paid what it asked for."""
    reference = await opened(sim, "300.50")
    await sim.pay(reference, fee=Decimal("102.83"), payer_bears_fee=True)
    payment = await seen(sim, reference)
    assert (payment.amount, payment.fee) == (Decimal("300.50"), 0)
    assert sim.transactions[reference]["amount"] == 40333


@pytest.mark.parametrize(
    ("changed", "amount", "fee"),
    [
        ({"amount": "500000", "fees": "1050", "requested_amount": "500000"}, "5000", "10.50"),
        ({"fees": None}, "5000", "0"),
        ({"fees": 150.4}, "5000", "1.50"),
        ({"requested_amount": None}, "5000", "10.50"),
        ({"requested_amount": 0}, "5000", "10.50"),
        # A part was debited; more was paid than fees explain.
        ({"amount": 300000}, "3000", "10.50"),
        ({"amount": 700000}, "7000", "10.50"),
        ({"fees": 99_999_999}, "5000", "5000"),
        ({"metadata": 0}, "5000", "10.50"),
        ({"metadata": ""}, "5000", "10.50"),
        ({"metadata": None, "customer": None, "log": []}, "5000", "10.50"),
        ({"metadata": [{"a": 1}], "authorization": {}}, "5000", "10.50"),
        ({"authorization": None, "paid_at": "yesterday"}, "5000", "10.50"),
    ],
)
async def test_odd_forms_are_read(
    sim: PaystackSimulator, changed: dict[str, Any], amount: str, fee: str
) -> None:
    """Numbers as texts, metadata of any type, fees or a clock that is missing."""
    reference = await opened(sim)
    await sim.pay(reference, fee=Decimal("10.50"))
    sim.transactions[reference] |= changed
    payment = await seen(sim, reference)
    assert (payment.state, payment.amount, payment.fee) == (
        "successful",
        Decimal(amount),
        Decimal(fee),
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"amount": "NaN"},
        {"amount": "sNaN"},
        {"amount": -500000},
        {"amount": 500000.5},
        {"amount": 10**30},
        {"amount": "1E+999999"},
        {"amount": True},
        {"amount": None},
        {"currency": "XTS"},
        {"currency": "KWD"},
        {"currency": None},
        {"status": 1},
        {"id": "x"},
        {"reference": ""},
        {"requested_amount": -1},
        {"fees": -1},
    ],
)
async def test_an_answer_that_can_not_be_believed_is_none(
    sim: PaystackSimulator, changed: dict[str, Any]
) -> None:
    """It is asked again later: nothing is booked by it."""
    reference = await opened(sim)
    await sim.pay(reference)
    sim.transactions[reference] |= changed
    with pytest.raises(NotReached):
        await seen(sim, reference)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("success", "successful"),
        ("failed", "failed"),
        ("abandoned", "failed"),
        ("ongoing", "pending"),
        ("pending", "pending"),
        ("processing", "pending"),
        ("queued", "pending"),
        ("never heard of", "pending"),
    ],
)
async def test_states_of_a_payment(sim: PaystackSimulator, status: str, state: str) -> None:
    """Only success is success, and an unknown state is none."""
    reference = await opened(sim)
    sim.transactions[reference]["status"] = status
    assert (await seen(sim, reference)).state == state


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("pending", "processing"),
        ("otp", "processing"),
        ("received", "processing"),
        ("success", "completed"),
        ("failed", "failed"),
        ("abandoned", "failed"),
        ("blocked", "failed"),
        ("rejected", "failed"),
        ("reversed", "reversed"),
        ("never heard of", "processing"),
    ],
)
async def test_states_of_a_payout(sim: PaystackSimulator, status: str, state: str) -> None:
    """Only conclusive states end it; one that waits for a password says so."""
    sim.transfer_status = status
    wanted = payout_request()
    adapter = Paystack(sim.base_url)
    made = await adapter.pay_out(sim.credentials, wanted)
    assert made.state == (await adapter.find_payout(sim.credentials, wanted.reference)).state
    assert made.state == state
    assert (made.reason is not None) == (state in ("failed", "reversed") or status == "otp")


async def test_a_payout_is_sent_as_documented(sim: PaystackSimulator) -> None:
    """The recipient first, which is the same one for the same account."""
    adapter = Paystack(sim.base_url)
    for _ in range(2):
        await adapter.pay_out(sim.credentials, payout_request())
    recipient, transfer = sim.asked[0].json, sim.asked[1].json
    assert (recipient["type"], recipient["bank_code"]) == ("nuban", "058")
    assert (transfer["source"], transfer["amount"]) == ("balance", 150050)
    assert len(sim.recipients) == 1
    made = next(iter(sim.transfers))
    await sim.finish_payout(made)
    assert (await adapter.find_payout(sim.credentials, made)).fee == 10


async def test_a_refund_that_needs_attention_waits(sim: PaystackSimulator) -> None:
    """The merchant has to do something at Paystack; it is neither there nor failed."""
    payment = await paid(PAYSTACK, sim)
    adapter = Paystack(sim.base_url)
    made = await adapter.refund(sim.credentials, refund_request(PAYSTACK, payment, "2000"))
    assert made.provider_reference is not None
    sim.set_refund(made.provider_reference, "needs-attention")
    found = await adapter.find_refund(sim.credentials, HeardRefund(None, made.provider_reference))
    assert (found.reference, found.provider_reference) == (made.reference, made.provider_reference)
    assert (found.state, found.reason) == ("pending", "needs-attention")


async def test_a_refund_is_found_behind_a_hundred_newer_ones(sim: PaystackSimulator) -> None:
    """One that isn't on the first page was asked for all the same: it isn't asked for again."""
    payment = await paid(PAYSTACK, sim)
    adapter = Paystack(sim.base_url)
    wanted = refund_request(PAYSTACK, payment, "2000")
    made = await adapter.refund(sim.credentials, wanted)
    for number in range(250):
        sim.refunds.insert(0, {**sim.refunds[-1], "id": 10**6 + number, "merchant_note": ""})
    assert await adapter.refund(sim.credentials, wanted) == made
    assert len(sim.refunds) == 251
    since = HeardRefund(wanted.reference, None, payment.transaction_id, since=now())
    assert await adapter.find_refund(sim.credentials, since) == made
    sim.asked.clear()
    later = HeardRefund("rf-0199a7c0-0000-7000-8000-000000000000", None, payment.transaction_id)
    with pytest.raises(Unknown):
        await adapter.find_refund(sim.credentials, later)
    pages = [asked.query.get("page") for asked in sim.asked]
    assert pages == ["1", "2", "3"]


async def test_a_list_without_end_says_nothing_of_what_is_not_in_it(
    sim: PaystackSimulator,
) -> None:
    """A part of it doesn't tell that a refund was never asked for."""
    payment = await paid(PAYSTACK, sim)
    adapter = Paystack(sim.base_url)
    await adapter.refund(sim.credentials, refund_request(PAYSTACK, payment, "2000"))
    old = now() - timedelta(days=3)
    other = {**sim.refunds[0], "merchant_note": "", "createdAt": iso(old)}
    sim.refunds += [{**other, "id": 10**6 + number} for number in range(2_500)]
    name = "rf-0199a7c0-0000-7000-8000-000000000000"
    heard = HeardRefund(name, None, payment.transaction_id)
    with pytest.raises(NotReached):
        await adapter.find_refund(sim.credentials, heard)
    sim.asked.clear()
    heard = HeardRefund(name, None, payment.transaction_id, since=now())
    with pytest.raises(Unknown):
        await adapter.find_refund(sim.credentials, heard)
    assert len(sim.asked) == 1


async def test_a_refund_by_the_dashboard_is_told_by_its_amount(sim: PaystackSimulator) -> None:
    """Beside a refund of ours, once somebody has said that money went back."""
    payment = await paid(PAYSTACK, sim)
    adapter = Paystack(sim.base_url)
    made = await adapter.refund(sim.credentials, refund_request(PAYSTACK, payment, "2000"))
    assert made.provider_reference is not None
    await sim.finish_refund(made.provider_reference)
    assert payment.reference is not None
    sim.refund_by_dashboard(payment.reference, Decimal(1000))
    assert (await seen(sim, payment.reference)).returned is None
    heard = HeardPayment(payment.reference, None, may_be_back=True)
    [found] = await adapter.find_payments(sim.credentials, heard)
    assert (found.state, found.returned) == ("successful", 1000)
    sim.refund_by_dashboard(payment.reference, Decimal(2000))
    # All of it is gone, and Paystack calls it reversed.
    assert (await seen(sim, payment.reference)).returned == 3000
    assert (await seen(sim, payment.reference)).state == "successful"


async def test_refunds_of_other_payments_are_none_of_this(sim: PaystackSimulator) -> None:
    """Where the filter of the list isn't heeded, they stand in it."""
    sim.refunds_filter = "reference"
    other, payment = await paid(PAYSTACK, sim), await paid(PAYSTACK, sim)
    sim.refund_by_dashboard(other.reference or "", Decimal(4000))
    sim.refund_by_dashboard(payment.reference or "", Decimal(1000))
    heard = HeardPayment(payment.reference, None, may_be_back=True)
    [found] = await Paystack(sim.base_url).find_payments(sim.credentials, heard)
    assert (found.state, found.returned) == ("successful", 1000)


async def test_a_dispute_takes_money_when_it_is_lost(sim: PaystackSimulator) -> None:
    """The refund that is made for it is the dispute's, and none of its own."""
    payment = await paid(PAYSTACK, sim)
    adapter = Paystack(sim.base_url)
    assert payment.reference is not None
    number = await sim.dispute(payment.reference)
    heard = HeardPayment(payment.reference, None, may_be_back=True)
    [found] = await adapter.find_payments(sim.credentials, heard)
    [one] = found.disputes
    assert (one.provider_reference, one.state, one.taken) == (number, "evidence_due", 0)
    assert (one.amount, one.evidence_by is not None) == (5000, True)
    await sim.close_dispute(number, is_won=False)
    found = await seen(sim, payment.reference)
    [one] = found.disputes
    assert (found.state, found.returned) == ("successful", 0)
    assert (one.state, one.taken, one.fee) == ("lost", 5000, 0)
    sim.disputes[0]["resolution"] = "declined"
    [found] = await adapter.find_payments(sim.credentials, heard)
    assert [(one.state, one.taken) for one in found.disputes] == [("won", 0)]


@pytest.mark.parametrize(("resolution", "state"), [("declined", "won"), ("auto-accepted", "lost")])
async def test_a_dispute_that_gives_nothing_back_is_one_of_the_payment(
    sim: PaystackSimulator, resolution: str, state: str
) -> None:
    """It has ended as it says, and has taken nothing."""
    payment = await paid(PAYSTACK, sim)
    await sim.dispute(payment.reference or "", Decimal(1000))
    sim.disputes[0] |= {"status": "resolved", "resolution": resolution, "refund_amount": 0}
    heard = HeardPayment(payment.reference, None, may_be_back=True)
    [found] = await Paystack(sim.base_url).find_payments(sim.credentials, heard)
    [one] = found.disputes
    assert (one.state, one.amount, one.taken) == (state, 5000, 0)


async def test_hooks_tell_of_payouts_refunds_and_disputes(sim: PaystackSimulator) -> None:
    """By the references that they name; a transfer that was turned away is nothing to look at."""
    payment = await paid(PAYSTACK, sim)
    adapter = Paystack(sim.base_url)
    payout = payout_request()
    await adapter.pay_out(sim.credentials, payout)
    made = await adapter.refund(sim.credentials, refund_request(PAYSTACK, payment, "2000"))
    assert made.provider_reference is not None
    unpaid = await opened(sim)
    await sim.tell()
    sim.told.clear()
    await sim.finish_payout(payout.reference, "failed")
    await sim.finish_refund(made.provider_reference)
    assert payment.reference is not None
    await sim.reverse(payment.reference)
    assert await sim.pay(unpaid, Decimal(1)) is None
    await sim.tell()
    assert [adapter.heard(hook.body) for hook in sim.told] == [
        [HeardPayout(payout.reference)],
        [
            HeardRefund(None, None, payment_reference=payment.reference),
            HeardPayment(payment.reference, None, may_be_back=True),
        ],
        [HeardPayment(payment.reference, None, may_be_back=True)],
        [],
    ]


def test_a_hook_is_read_whatever_else_is_in_it() -> None:
    """Ids as texts, and fields that are said to be of another type."""
    body = {
        "event": "charge.success",
        "data": {"id": "302961", "reference": "th-1", "metadata": 0, "amount": "1", "log": [{}]},
    }
    heard = Paystack().heard(json.dumps(body).encode())
    assert heard == [HeardPayment("th-1", "302961")]
