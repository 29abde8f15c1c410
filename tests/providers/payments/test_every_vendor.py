"""Every vendor alike: money moves once, whatever becomes of a call, and states are true."""

from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from fnmatch import fnmatchcase

import pytest

from tests.providers.payments.simulators.simulator import Fault, Simulator
from tests.providers.payments.vendors import (
    CHANGES,
    VENDORS,
    WITH_PAYOUTS,
    Operation,
    Vendor,
    account_request,
    paid,
    payout_request,
    refund_request,
)
from tillhouse.kit.clock import now
from tillhouse.providers.payments.provider import (
    HeardPayment,
    HeardRefund,
    NotReached,
    OpenedAccount,
    PaymentProvider,
    ProviderRefused,
    ProviderSecrets,
    SeenPayout,
    SeenRefund,
    Unclear,
    Unknown,
)

_SILENT = ("silence", "silence after")
_UNCLEAR: list[Fault] = [
    "500 first", "500 after", "reset first", "reset after", "silence", "silence after",
    "truncated", "oversized", "no json", "redirect",
]  # fmt: skip
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=str)
every_change = pytest.mark.parametrize(("vendor", "operation"), CHANGES, ids=str)
vendor_that_pays_out = pytest.mark.parametrize("vendor", WITH_PAYOUTS, ids=str)

Result = OpenedAccount | SeenRefund | SeenPayout
Act = Callable[[PaymentProvider, ProviderSecrets], Awaitable[Result]]


@pytest.fixture
async def sim(vendor: Vendor) -> AsyncIterator[Simulator]:
    """A simulator of this test's own."""
    sim = await vendor.simulator().start()
    yield sim
    await sim.stop()


async def act_of(vendor: Vendor, sim: Simulator, operation: Operation) -> Act:
    """An operation that can be repeated."""
    match operation:
        case "open":
            opening = account_request(vendor)
            return lambda adapter, credentials: adapter.open_account(credentials, opening)
        case "refund":
            payment = await paid(vendor, sim)
            giving = refund_request(vendor, payment, "2000")
            return lambda adapter, credentials: adapter.refund(credentials, giving)
        case "pay out":
            sending = payout_request()
            return lambda adapter, credentials: adapter.pay_out(credentials, sending)


async def failed(vendor: Vendor, sim: Simulator, fault: Fault, call: str, act: Act) -> Exception:
    """The error of an act whose call arrived and met silence."""
    # Longer and longer: a busy machine may not get through to the call in so short a time. A call
    # that arrives when nobody waits for it any more meets silence as well.
    timeouts_s = (0.1, 1, 10, 60)
    sim.fail_next(fault, call, times=len(timeouts_s))
    for timeout_s in timeouts_s:
        asked = len(sim.asked)
        with pytest.raises((Unclear, NotReached)) as caught:
            await act(vendor.adapter(sim.base_url, timeout_s), sim.credentials)
        if any(fnmatchcase(f"{one.method} {one.path}", call) for one in sim.asked[asked:]):
            sim.forgive()
            return caught.value
    pytest.fail("the call never arrived")


@every_change
@pytest.mark.parametrize("fault", _UNCLEAR)
async def test_a_change_without_an_answer_is_unclear_and_repeating_it_is_safe(
    vendor: Vendor, sim: Simulator, operation: Operation, fault: Fault
) -> None:
    """It may have been executed, so it is never refused; money leaves once in the end."""
    act = await act_of(vendor, sim, operation)
    if fault in _SILENT:
        error = await failed(vendor, sim, fault, vendor.calls[operation], act)
        await sim.release()
    else:
        sim.fail_next(fault, vendor.calls[operation])
        with pytest.raises((Unclear, NotReached)) as caught:
            await act(vendor.adapter(sim.base_url), sim.credentials)
        error = caught.value
    assert isinstance(error, Unclear)
    await act(vendor.adapter(sim.base_url), sim.credentials)
    await act(vendor.adapter(sim.base_url), sim.credentials)
    assert len(sim.left) == (0 if operation == "open" else 1)


@every_change
async def test_too_many_calls_or_nobody_there_is_not_reached(
    vendor: Vendor, sim: Simulator, operation: Operation
) -> None:
    """Nothing was executed, so it may be tried again."""
    act = await act_of(vendor, sim, operation)
    sim.fail_next("busy", vendor.calls[operation])
    with pytest.raises(NotReached):
        await act(vendor.adapter(sim.base_url), sim.credentials)
    assert sim.left == []
    base_url = sim.base_url
    await sim.stop()
    with pytest.raises(NotReached):
        await act(vendor.adapter(base_url), sim.credentials)


@every_vendor
@pytest.mark.parametrize("fault", [*_UNCLEAR, "busy"])
async def test_a_question_without_an_answer_is_not_reached(
    vendor: Vendor, sim: Simulator, fault: Fault
) -> None:
    """A payment that can't be looked up is neither there nor gone."""
    payment = await paid(vendor, sim)
    sim.fail_next(fault, times=3)
    with pytest.raises(NotReached):
        await vendor.adapter(sim.base_url, 0.5 if fault in _SILENT else 60).find_payments(
            sim.credentials, HeardPayment(None, payment.transaction_id)
        )


@every_vendor
async def test_a_payment_is_seen_as_it_becomes(vendor: Vendor, sim: Simulator) -> None:
    """Nothing of an unknown one; pending or nothing, then successful, then reversed."""
    adapter = vendor.adapter(sim.base_url)
    unknown = HeardPayment("th-0000000000000000", None)
    assert await adapter.find_payments(sim.credentials, unknown) == []
    wanted = account_request(vendor)
    opened = await adapter.open_account(sim.credentials, wanted)
    heard = HeardPayment(wanted.reference, None, provider_reference=opened.provider_reference)
    before = await adapter.find_payments(sim.credentials, heard)
    assert all(one.state == "pending" for one in before)
    transaction_id = await sim.pay(wanted.reference, fee=Decimal("10.50"))
    [seen] = await adapter.find_payments(sim.credentials, heard)
    assert (seen.state, seen.amount, seen.fee) == ("successful", 5000, Decimal("10.50"))
    assert (seen.reference, seen.currency) == (wanted.reference, vendor.currency)
    assert seen.transaction_id == transaction_id
    assert seen.paid_at is not None
    assert abs((now() - seen.paid_at).total_seconds()) < 24 * 3600
    by_id = HeardPayment(None, transaction_id)
    assert await adapter.find_payments(sim.credentials, by_id) == [seen]
    if vendor.tells_reversals:
        await sim.reverse(wanted.reference)
        [seen] = await adapter.find_payments(sim.credentials, heard)
        assert seen.state == "reversed"


@every_vendor
async def test_a_refund_of_ours_is_no_reversal(vendor: Vendor, sim: Simulator) -> None:
    """Money that was given back by us did arrive; the refund tells of the rest."""
    adapter = vendor.adapter(sim.base_url)
    payment = await paid(vendor, sim)
    for amount in ("2000", "3000"):
        wanted = refund_request(vendor, payment, amount)
        made = await adapter.refund(sim.credentials, wanted)
        assert made.reference == wanted.reference
        assert made.state in ("pending", "successful")
        assert made.provider_reference is not None
        await sim.finish_refund(made.provider_reference)
        for named in (
            HeardRefund(wanted.reference, made.provider_reference),
            HeardRefund(wanted.reference, None, payment.transaction_id, payment.reference),
        ):
            refund = await adapter.find_refund(sim.credentials, named)
            assert (refund.reference, refund.state) == (wanted.reference, "successful")
    heard = HeardPayment(None, payment.transaction_id)
    [found] = await adapter.find_payments(sim.credentials, heard)
    assert (found.state, found.amount, found.fee) == ("successful", payment.amount, payment.fee)
    assert not found.returned
    with pytest.raises(ProviderRefused):
        await adapter.refund(sim.credentials, refund_request(vendor, payment, "1"))
    assert [amount for _, amount in sim.left] == [2000, 3000]


@every_vendor
async def test_a_refund_may_fail(vendor: Vendor, sim: Simulator) -> None:
    """With a reason; one that was never asked for is unknown."""
    adapter = vendor.adapter(sim.base_url)
    payment = await paid(vendor, sim)
    made = await adapter.refund(sim.credentials, refund_request(vendor, payment, "2000"))
    assert made.provider_reference is not None
    await sim.finish_refund(made.provider_reference, "failed")
    heard = HeardRefund(made.reference, made.provider_reference, payment.transaction_id)
    found = await adapter.find_refund(sim.credentials, heard)
    assert found.state == "failed"
    assert found.reason
    with pytest.raises(Unknown):
        await adapter.find_refund(
            sim.credentials, HeardRefund("th-0000000000000000", None, payment.transaction_id)
        )


@vendor_that_pays_out
async def test_a_payout_becomes_what_the_provider_says(vendor: Vendor, sim: Simulator) -> None:
    """Under way until its end, which may be reversed; unknown before it was sent."""
    adapter = vendor.adapter(sim.base_url)
    for state in ("completed", "failed", "reversed")[: 3 if vendor.tells_reversals else 2]:
        wanted = payout_request()
        with pytest.raises(Unknown):
            await adapter.find_payout(sim.credentials, wanted.reference)
        made = await adapter.pay_out(sim.credentials, wanted)
        assert (made.reference, made.state) == (wanted.reference, "processing")
        await sim.finish_payout(wanted.reference, "completed")
        assert (await adapter.find_payout(sim.credentials, wanted.reference)).state == "completed"
        await sim.finish_payout(wanted.reference, state)
        found = await adapter.find_payout(sim.credentials, wanted.reference)
        assert found.state == state
        assert (found.reason is None) == (state == "completed")
        assert (await adapter.pay_out(sim.credentials, wanted)).state == state
    assert {amount for _, amount in sim.left} == {Decimal("1500.50")}
    assert len({reference for reference, _ in sim.left}) == len(sim.left) > 1


@vendor_that_pays_out
async def test_a_payout_that_is_executed_late_is_found(vendor: Vendor, sim: Simulator) -> None:
    """Unknown while the provider is silent, and then there once, although it was sent again."""
    wanted = payout_request()

    def act(adapter: PaymentProvider, credentials: ProviderSecrets) -> Awaitable[SeenPayout]:
        return adapter.pay_out(credentials, wanted)

    await failed(vendor, sim, "silence", vendor.calls["pay out"], act)
    adapter = vendor.adapter(sim.base_url)
    if sim.left == []:
        with pytest.raises(Unknown):
            await adapter.find_payout(sim.credentials, wanted.reference)
    await sim.release()
    assert (await adapter.find_payout(sim.credentials, wanted.reference)).state == "processing"
    await adapter.pay_out(sim.credentials, wanted)
    assert len(sim.left) == 1


@vendor_that_pays_out
async def test_a_payout_to_nobody_is_refused(vendor: Vendor, sim: Simulator) -> None:
    """In the provider's own words; a wrong key says nothing about an earlier call."""
    adapter = vendor.adapter(sim.base_url)
    with pytest.raises(ProviderRefused) as caught:
        await adapter.pay_out(sim.credentials, payout_request(account_number="9999999999"))
    assert str(caught.value)
    wrong = ProviderSecrets(dict.fromkeys(adapter.secret_names, "another"), is_live=False)
    with pytest.raises(NotReached):
        await adapter.pay_out(wrong, payout_request())
    with pytest.raises(NotReached):
        await adapter.find_payout(wrong, "th-0000000000000000")
    assert sim.left == []


@vendor_that_pays_out
async def test_banks_and_names(vendor: Vendor, sim: Simulator) -> None:
    """All pages of banks; the name of an account, or a refusal."""
    adapter = vendor.adapter(sim.base_url)
    banks = await adapter.list_banks(sim.credentials, "NGN")
    assert len({bank.code for bank in banks}) == len(banks) > 100
    assert ("058", "Guaranty Trust Bank") in [(bank.code, bank.name) for bank in banks]
    assert await adapter.resolve_name(sim.credentials, "058", "0123456789") == "ADA OKAFOR"
    with pytest.raises(ProviderRefused):
        await adapter.resolve_name(sim.credentials, "058", "9876543210")


@every_vendor
async def test_the_credentials_are_checked(vendor: Vendor, sim: Simulator) -> None:
    """Good ones pass; wrong ones, and those of the other environment, are refused."""
    adapter = vendor.adapter(sim.base_url)
    await adapter.check(sim.credentials)
    secrets = {**sim.credentials.secrets, adapter.secret_names[0]: "sk_test_another"}
    with pytest.raises(ProviderRefused):
        await adapter.check(ProviderSecrets(secrets, is_live=False))
    with pytest.raises(ProviderRefused):
        await adapter.check(ProviderSecrets(sim.credentials.secrets, is_live=True))
    assert set(adapter.secret_names) == set(sim.credentials.secrets)


@every_vendor
async def test_an_amount_that_the_provider_cannot_write_is_refused(
    vendor: Vendor, sim: Simulator
) -> None:
    """It is never rounded."""
    adapter = vendor.adapter(sim.base_url)
    for more in ({"amount": Decimal("10.005")}, {"currency": "XTS"}):
        with pytest.raises(ProviderRefused):
            await adapter.open_account(sim.credentials, account_request(vendor, **more))
    assert sim.asked == []


@every_vendor
async def test_hooks_are_believed_only_as_they_were_sent(vendor: Vendor, sim: Simulator) -> None:
    """Signed over their very bytes, by the right secret; told twice, they are the same bytes."""
    adapter = vendor.adapter(sim.base_url)
    signs = adapter.capabilities.signs_hooks
    for faults, is_good in (
        ((), True),
        (("twice", "reordered"), True),
        (("forged",), False),
        (("unsigned",), False),
        (("rewritten",), not signs),
    ):
        sim.told.clear()
        wanted = account_request(vendor)
        await adapter.open_account(sim.credentials, wanted)
        transaction_id = await sim.pay(wanted.reference)
        sim.fail_hooks(*faults)
        await sim.tell()
        assert sim.told
        for hook in sim.told:
            headers = {name.lower(): value for name, value in hook.headers.items()}
            assert adapter.is_signed(sim.credentials, headers, hook.body) == is_good
            assert not adapter.is_signed(sim.credentials, {}, hook.body)
            if signs:
                assert not adapter.is_signed(sim.credentials, headers, hook.body + b" ")
        [heard] = adapter.heard(sim.told[0].body)
        assert isinstance(heard, HeardPayment)
        assert heard.reference in (wanted.reference, None)
        [seen] = await adapter.find_payments(sim.credentials, heard)
        assert (seen.reference, seen.transaction_id) == (wanted.reference, transaction_id)


@every_vendor
@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"{}", b'"x"', b"\xff\xfe", b"[" * 100_000,
        b'{"event": 5, "data": {}}', b'{"event": "charge.success", "data": null}',
        b'{"event": "charge.success", "data": {"reference": 5}}',
        b'{"event": "nothing.known", "data": {"reference": "a"}}',
        b'{"eventType": "SETTLEMENT", "eventData": {"amount": "1"}}',
        b'{"type": "customer.created", "data": {"object": {"id": "cus_1"}}}',
    ],
)  # fmt: skip
def test_a_hook_about_nothing_known_tells_of_nothing(vendor: Vendor, body: bytes) -> None:
    """It may have any form."""
    assert vendor.adapter("http://127.0.0.1:9").heard(body) == []


@every_vendor
def test_no_text_tells_a_secret(vendor: Vendor) -> None:
    """Credentials that are printed into a log stay secret."""
    credentials = vendor.simulator().credentials
    assert not any(secret in repr(credentials) for secret in credentials.secrets.values())
