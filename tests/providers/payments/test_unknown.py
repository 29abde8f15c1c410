"""A vendor doesn't know a thing: only its own word about that very thing proves it missing."""

from collections.abc import AsyncIterator

import pytest

from tests.providers.payments.simulators.monnify import MonnifySimulator
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.vendors import VENDORS, Vendor, paid, payout_request, refund_request
from tillhouse.providers.payments import flutterwave_answers, monnify_answers
from tillhouse.providers.payments.provider import HeardPayment, NotReached, Unknown

# The lists that are read beside a payment, as the vendors call them.
_LISTS = {
    "paystack": ("GET /dispute", "GET /refund"),
    "flutterwave": ("GET /v3/refunds", "GET /v3/chargebacks"),
    "monnify": ("GET /api/v1/refunds",),
    "stripe": ("GET /v1/refunds", "GET /v1/disputes"),
}
_BESIDE = [(vendor, calls) for vendor in VENDORS for calls in _LISTS[vendor.name]]
_PAYSTACK, _FLUTTERWAVE, _MONNIFY = (
    next(vendor for vendor in VENDORS if vendor.name == name)
    for name in ("paystack", "flutterwave", "monnify")
)


@pytest.fixture
async def sim(vendor: Vendor) -> AsyncIterator[Simulator]:
    """A simulator of this test's own."""
    sim = await vendor.simulator().start()
    yield sim
    await sim.stop()


@pytest.mark.parametrize(("vendor", "calls"), _BESIDE, ids=str)
async def test_a_list_beside_a_payment_proves_no_payment_missing(
    vendor: Vendor, calls: str, sim: Simulator
) -> None:
    """The payment is known: its money would never be recorded."""
    adapter = vendor.adapter(sim.base_url)
    payment = await paid(vendor, sim)
    await adapter.refund(sim.credentials, refund_request(vendor, payment, "2000"))
    if "dispute" in calls:
        assert payment.reference is not None
        await sim.dispute(payment.reference)
    sim.fail_next("unknown", calls)
    heard = HeardPayment(None, payment.transaction_id, may_be_back=True)
    with pytest.raises(NotReached):
        await adapter.find_payments(sim.credentials, heard)
    assert len(await adapter.find_payments(sim.credentials, heard)) == 1


@pytest.mark.parametrize("vendor", [_FLUTTERWAVE], ids=str)
@pytest.mark.parametrize("is_paid", [False, True])
async def test_the_other_payments_of_a_reference_are_known_where_one_is(
    vendor: Vendor, is_paid: bool, sim: Simulator
) -> None:
    """Flutterwave's list of a reference knows none that its look-up knows: it can't be whole."""
    adapter = vendor.adapter(sim.base_url)
    reference = (await paid(vendor, sim)).reference if is_paid else "th-0000000000000000"
    sim.fail_next("unknown", "GET /v3/transactions")
    asking = adapter.find_payments(sim.credentials, HeardPayment(reference, None))
    if is_paid:
        with pytest.raises(NotReached):
            await asking
    else:
        assert await asking == []


@pytest.mark.parametrize("vendor", [_MONNIFY], ids=str)
async def test_a_login_proves_no_payout_missing(vendor: Vendor, sim: MonnifySimulator) -> None:
    """It would be sent again."""
    adapter = vendor.adapter(sim.base_url)
    wanted = payout_request()
    await adapter.pay_out(sim.credentials, wanted)
    again = vendor.adapter(sim.base_url)
    sim.fail_next("unknown", "POST /api/v1/auth/login")
    with pytest.raises(NotReached):
        await again.find_payout(sim.credentials, wanted.reference)
    assert (await again.find_payout(sim.credentials, wanted.reference)).reference
    with pytest.raises(Unknown):
        await again.find_payout(sim.credentials, payout_request().reference)


@pytest.mark.parametrize(
    "words",
    [
        "99: There's no transaction matching supplied reference. Please confirm it.",
        "99: Could not find transaction with the specified transaction reference",
        "99: Could not find transaction with payment reference th-1 for merchant",
        "99: Could not find disbursement transaction for given reference",
        "D02: Transaction does not exist",
        "R7: No refund was initiated with the supplied refund reference.",
    ],
)
def test_monnifys_words_for_a_missing_thing(words: str) -> None:
    """As its papers list them, by code and by words."""
    assert monnify_answers.is_missing(words)


@pytest.mark.parametrize(
    "words",
    [
        "99: Wallet not found for the merchant",
        "99: Could not find specified contract",
        "99: Merchant does not exist",
        "99: The transaction limit profile D02: was not found",
        "R1: Transaction with the specified reference does not exist.",
        "D021: Another code",
    ],
)
def test_words_about_another_thing_prove_nothing_at_monnify(words: str) -> None:
    """A payout of ours would count as one that was never sent."""
    assert not monnify_answers.is_missing(words)


def test_flutterwaves_words_for_a_missing_thing() -> None:
    """One sentence; every other is about another thing."""
    assert flutterwave_answers.is_missing("No transaction was found for this id")
    for words in ("Merchant not found", "No transfer fee is set", "Account not found", ""):
        assert not flutterwave_answers.is_missing(words), words


@pytest.mark.parametrize("vendor", [_PAYSTACK], ids=str)
async def test_disputes_of_a_payment_are_read_to_the_end(
    vendor: Vendor, sim: PaystackSimulator
) -> None:
    """One behind the first page would take no money; a list without an end proves nothing."""
    adapter = vendor.adapter(sim.base_url)
    payment = await paid(vendor, sim)
    assert payment.reference is not None
    first = await sim.dispute(payment.reference)
    [one] = sim.disputes
    sim.disputes += [{**one, "id": sim.next_id()} for _ in range(100)]
    heard = HeardPayment(None, payment.transaction_id, may_be_back=True)
    [seen] = await adapter.find_payments(sim.credentials, heard)
    assert first in [dispute.provider_reference for dispute in seen.disputes]
    assert len(seen.disputes) == 101
    sim.disputes += [{**one, "id": sim.next_id()} for _ in range(2000)]
    with pytest.raises(NotReached):
        await adapter.find_payments(sim.credentials, heard)
