"""Flutterwave: requests as documented, and the traps of its answers and hooks."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.providers.payments.simulators.flutterwave import SECRET_KEY, FlutterwaveSimulator
from tests.providers.payments.vendors import (
    VENDORS,
    account_request,
    paid,
    payout_request,
    refund_request,
)
from tillhouse.kit.clock import iso, now
from tillhouse.providers.payments.flutterwave import Flutterwave
from tillhouse.providers.payments.provider import (
    HeardPayment,
    HeardPayout,
    HeardRefund,
    NotReached,
    ProviderRefused,
    SeenPayment,
    StatementRequest,
    Unclear,
    Unknown,
)

FLUTTERWAVE = VENDORS[1]
# More lines than are read of a list, ten to a page.
_BEYOND = 200


@pytest.fixture
async def sim() -> AsyncIterator[FlutterwaveSimulator]:
    """A simulator of this test's own."""
    sim = await FlutterwaveSimulator().start()
    yield sim
    await sim.stop()


async def opened(sim: FlutterwaveSimulator, amount: str = "5000", **more: Any) -> str:
    """The reference of an account that was opened."""
    wanted = account_request(FLUTTERWAVE, amount, **more)
    await Flutterwave(sim.base_url).open_account(sim.credentials, wanted)
    return wanted.reference


async def seen(sim: FlutterwaveSimulator, reference: str) -> SeenPayment:
    """The one payment of a reference."""
    heard = HeardPayment(reference, None)
    [payment] = await Flutterwave(sim.base_url).find_payments(sim.credentials, heard)
    return payment


async def test_an_account_is_opened_as_documented(sim: FlutterwaveSimulator) -> None:
    """The amount as it is, to its last decimal, and our reference."""
    ends = now() + timedelta(hours=2)
    wanted = account_request(FLUTTERWAVE, "5000.10", expires_at=ends)
    account = await Flutterwave(sim.base_url).open_account(sim.credentials, wanted)
    [asked] = sim.asked
    assert (asked.method, asked.path) == ("POST", "/v3/charges")
    assert asked.query == {"type": "bank_transfer"}
    assert asked.headers["authorization"] == f"Bearer {SECRET_KEY}"
    assert b'"amount":5000.10' in asked.body
    body = asked.json
    assert (body["tx_ref"], body["currency"]) == (wanted.reference, "NGN")
    assert (body["email"], body["is_permanent"]) == ("payer@example.com", False)
    assert 7190 <= body["expires"] <= 7200
    assert account.account_number is not None
    assert account.account_number.isdigit()
    assert account.bank_name == "Mock Bank"
    assert account.expires_at is not None
    assert abs(account.expires_at - ends) < timedelta(seconds=10)


async def test_each_payment_to_an_account_is_seen(sim: FlutterwaveSimulator) -> None:
    """Two of one reference, in any amount: each is a transaction of its own."""
    reference = await opened(sim)
    first, second = await sim.pay(reference), await sim.pay(reference, Decimal("1.50"))
    adapter = Flutterwave(sim.base_url)
    found = await adapter.find_payments(sim.credentials, HeardPayment(reference, None))
    assert {one.transaction_id: one.amount for one in found} == {
        first: 5000,
        second: Decimal("1.50"),
    }
    one = await adapter.find_payments(sim.credentials, HeardPayment(reference, first))
    assert [payment.amount for payment in one] == [5000]


async def test_a_hook_says_nothing_by_itself(sim: FlutterwaveSimulator) -> None:
    """Its word is the same for every body: only the looked up transaction counts."""
    adapter = Flutterwave(sim.base_url)
    headers = sim.sign(b"")
    forged = json.dumps(
        {"event": "charge.completed", "data": {"id": 1, "tx_ref": "th-x", "status": "successful"}}
    ).encode()
    assert adapter.is_signed(sim.credentials, headers, forged)
    [heard] = adapter.heard(forged)
    assert isinstance(heard, HeardPayment)
    assert await adapter.find_payments(sim.credentials, heard) == []


async def test_fees_are_rounded_and_those_of_the_payer_left_out(
    sim: FlutterwaveSimulator,
) -> None:
    """Flutterwave tells them to a thousandth."""
    reference = await opened(sim)
    await sim.pay(reference, fee=Decimal("70.125"))
    assert (await seen(sim, reference)).fee == Decimal("70.13")
    reference = await opened(sim)
    await sim.pay(reference, fee=Decimal("70.12"), payer_bears_fee=True)
    payment = await seen(sim, reference)
    assert (payment.amount, payment.fee, payment.payer_name) == (5000, 0, "BOLA ADE")
    reference = await opened(sim)
    await sim.pay(reference, fee=Decimal("70.125"), payer_bears_fee=True)
    payment = await seen(sim, reference)
    assert (payment.amount, payment.fee) == (5000, 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"meta": None},
        {"meta": []},
        {"meta": "x"},
        {"meta": 0},
        {"meta": {"originatorname": 5}},
        {"amount": "5000.00"},
        {"charged_amount": None},
        {"customer": None, "created_at": None},
    ],
)
async def test_odd_forms_are_read(sim: FlutterwaveSimulator, changed: dict[str, Any]) -> None:
    """Metadata of any type, and numbers as texts."""
    reference = await opened(sim)
    await sim.pay(reference)
    sim.transactions[0] |= changed
    payment = await seen(sim, reference)
    assert (payment.state, payment.amount) == ("successful", 5000)


@pytest.mark.parametrize(
    "changed",
    [
        {"amount": "NaN"},
        {"amount": -1},
        {"amount": 5000.005},
        {"amount": 10**16},
        {"amount": None},
        {"currency": "XTS"},
        {"status": None},
        {"tx_ref": None},
        {"app_fee": -1},
    ],
)
async def test_an_answer_that_can_not_be_believed_is_none(
    sim: FlutterwaveSimulator, changed: dict[str, Any]
) -> None:
    """It is asked again later: nothing is booked by it."""
    reference = await opened(sim)
    transaction_id = await sim.pay(reference)
    sim.transactions[0] |= changed
    with pytest.raises(NotReached):
        await Flutterwave(sim.base_url).find_payments(
            sim.credentials, HeardPayment(None, transaction_id)
        )


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("successful", "successful"),
        ("failed", "failed"),
        ("cancelled", "failed"),
        ("pending", "pending"),
        ("never heard of", "pending"),
    ],
)
async def test_states_of_a_payment(sim: FlutterwaveSimulator, status: str, state: str) -> None:
    """Only successful is successful: a completed charge may have failed."""
    reference = await opened(sim)
    await sim.pay(reference)
    sim.transactions[0]["status"] = status
    assert (await seen(sim, reference)).state == state


async def test_a_payout_is_sent_as_documented(sim: FlutterwaveSimulator) -> None:
    """After a look whether it was sent before; its hook names our reference."""
    adapter = Flutterwave(sim.base_url)
    wanted = payout_request()
    made = await adapter.pay_out(sim.credentials, wanted)
    look, asked = sim.asked
    assert look.method == "GET"
    body = asked.json
    assert (body["account_bank"], body["account_number"]) == ("058", "0123456789")
    assert (body["amount"], body["reference"]) == (Decimal("1500.5"), wanted.reference)
    assert made.fee == Decimal("26.88")
    await sim.finish_payout(wanted.reference)
    await sim.tell()
    assert adapter.heard(sim.told[0].body) == [HeardPayout(wanted.reference)]


async def test_a_refund_that_says_not_whose_it_is_is_not_made_twice(
    sim: FlutterwaveSimulator,
) -> None:
    """Without its comment nobody can tell: a person has to look."""
    payment = await paid(FLUTTERWAVE, sim)
    adapter = Flutterwave(sim.base_url)
    wanted = refund_request(FLUTTERWAVE, payment, "2000")
    await adapter.refund(sim.credentials, wanted)
    sim.refunds[0]["comments"] = None
    with pytest.raises(Unclear):
        await adapter.refund(sim.credentials, wanted)
    await adapter.refund(sim.credentials, refund_request(FLUTTERWAVE, payment, "100"))
    assert len(sim.left) == 2
    other = HeardRefund(None, str(sim.refunds[1]["id"]))
    with pytest.raises(Unknown):
        await adapter.find_refund(sim.credentials, other)


async def test_a_refund_is_found_on_any_page(sim: FlutterwaveSimulator) -> None:
    """Ten to a page, the latest first."""
    payment = await paid(FLUTTERWAVE, sim)
    adapter = Flutterwave(sim.base_url)
    first = refund_request(FLUTTERWAVE, payment, "1")
    await adapter.refund(sim.credentials, first)
    for _ in range(11):
        await adapter.refund(sim.credentials, refund_request(FLUTTERWAVE, payment, "1"))
    await adapter.refund(sim.credentials, first)
    assert len(sim.refunds) == 12


async def test_a_transfer_is_found_where_its_filter_is_not_heeded(
    sim: FlutterwaveSimulator,
) -> None:
    """It lies behind others: it has left, and is neither unknown nor sent again."""
    sim.heeds_reference = False
    adapter, first = Flutterwave(sim.base_url), payout_request()
    sent = await adapter.pay_out(sim.credentials, first)
    for _ in range(12):
        await adapter.pay_out(sim.credentials, payout_request())
    assert await adapter.find_payout(sim.credentials, first.reference) == sent
    assert await adapter.pay_out(sim.credentials, first) == sent
    assert len(sim.left) == 13


@pytest.mark.parametrize("amount", ["NaN", "Infinity", -1, 10**16, "1e400"])
async def test_a_refund_of_no_amount_says_nothing(
    sim: FlutterwaveSimulator, amount: str | int
) -> None:
    """Its payment is asked about again later."""
    payment = await paid(FLUTTERWAVE, sim)
    sim.refund_by_dashboard(payment.reference or "", Decimal(100))
    sim.refunds[0]["amount_refunded"] = amount
    heard = HeardPayment(None, payment.transaction_id, may_be_back=True)
    with pytest.raises(NotReached):
        await Flutterwave(sim.base_url).find_payments(sim.credentials, heard)


async def test_a_sum_of_floats_is_rounded(sim: FlutterwaveSimulator) -> None:
    """A refund of 0.1 and 0.2, as binary fractions have it."""
    payment = await paid(FLUTTERWAVE, sim)
    sim.refund_by_dashboard(payment.reference or "", Decimal("0.30000000000000004"))
    heard = HeardPayment(None, payment.transaction_id, may_be_back=True)
    [found] = await Flutterwave(sim.base_url).find_payments(sim.credentials, heard)
    assert found.returned == Decimal("0.30")


async def test_a_long_list_proves_no_refund_missing(sim: FlutterwaveSimulator) -> None:
    """One that lies behind all that is read was made all the same: it isn't made again."""
    payment = await paid(FLUTTERWAVE, sim)
    adapter = Flutterwave(sim.base_url)
    first = refund_request(FLUTTERWAVE, payment, "1")
    await adapter.refund(sim.credentials, first)
    for _ in range(_BEYOND):
        sim.refund_by_dashboard(payment.reference, Decimal(2))
    with pytest.raises(NotReached, match="too long"):
        await adapter.refund(sim.credentials, first)
    heard = HeardRefund(first.reference, None, transaction_id=payment.transaction_id)
    with pytest.raises(NotReached, match="too long"):
        await adapter.find_refund(sim.credentials, heard)
    assert len(sim.refunds) == 1 + _BEYOND


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("completed", "successful"),
        ("completed-mpgs", "successful"),
        ("pending", "pending"),
        ("pending-momo", "pending"),
        ("failed", "failed"),
    ],
)
async def test_states_of_a_refund(sim: FlutterwaveSimulator, status: str, state: str) -> None:
    """Completed has several forms."""
    sim.refund_status = status
    payment = await paid(FLUTTERWAVE, sim)
    wanted = refund_request(FLUTTERWAVE, payment, "2000")
    assert (await Flutterwave(sim.base_url).refund(sim.credentials, wanted)).state == state


async def test_other_currencies_are_refused(sim: FlutterwaveSimulator) -> None:
    """Accounts and payouts are of Nigeria."""
    adapter = Flutterwave(sim.base_url)
    with pytest.raises(ProviderRefused):
        await adapter.open_account(sim.credentials, account_request(FLUTTERWAVE, currency="USD"))
    with pytest.raises(ProviderRefused):
        await adapter.pay_out(sim.credentials, payout_request(currency="USD"))
    assert await adapter.list_banks(sim.credentials, "USD") == []
    assert sim.left == []


def documented(status: str, *history: dict[str, str]) -> dict[str, Any]:
    """A chargeback in the form of Flutterwave's documents, of the transaction 1554166."""
    return {
        "id": 1390, "amount": 100, "flw_ref": "URF_1600800139900_3999635", "status": status,
        "stage": "new", "comment": "This is the payment",
        "meta": {"uploaded_proof": None, "history": [
            {"initiator": "dispute", "date": iso(now()), "description": "Dispute transaction"},
            *history,
        ]},
        "due_date": "2020-09-23T15:59:59.000Z", "settlement_id": "N/A",
        "created_at": iso(now()), "transaction_id": 1554166, "tx_ref": "10",
    }  # fmt: skip


HELD = {
    "action": "initiated",
    "stage": "new",
    "description": "Debit and hold chargeback amount",
    "source": "availablebalance",
}


@pytest.mark.parametrize(
    ("told", "state", "taken"),
    [
        (documented("initiated"), "evidence_due", 0),
        (documented("initiated", HELD), "evidence_due", 100),
        (documented("declined", HELD), "opened", 100),
        (documented("accepted", HELD), "lost", 100),
        (documented("lost"), "lost", 100),
        (documented("won", HELD), "won", 0),
        ({**documented("initiated"), "meta": None}, "evidence_due", 0),
    ],
)
async def test_a_chargeback_tells_whether_its_amount_is_held(
    sim: FlutterwaveSimulator, told: dict[str, Any], state: str, taken: int
) -> None:
    """Its history says that a balance was debited, before anything is decided."""
    sim.chargebacks.append(told)
    asked = StatementRequest(of="disputes", since=now() - timedelta(days=1), until=now())
    page = await Flutterwave(sim.base_url).read_statement(sim.credentials, asked)
    [one] = page.disputes
    assert (one.state, one.taken, one.fee) == (state, taken, 0)
    assert (one.provider_reference, one.transaction_id) == ("1390", "1554166")
    assert one.evidence_by is not None
