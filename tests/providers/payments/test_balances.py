"""The money that lies at each vendor now, in the words of its papers."""

from decimal import Decimal

import pytest

from tests.providers.payments.vendors import VENDORS, Vendor
from tillhouse.providers.payments import own_account
from tillhouse.providers.payments.calling import ProviderAnswer
from tillhouse.providers.payments.provider import NotReached, ProviderBalance

TOLD = {
    "stripe": [ProviderBalance("USD", Decimal(5000), Decimal("-614.14"))],
    "paystack": [ProviderBalance("NGN", Decimal(5_000_000))],
    "flutterwave": [ProviderBalance("NGN", Decimal(2_367_840), Decimal("253125.82"))],
    "monnify": [ProviderBalance("NGN", Decimal("4919798101.36"))],
}


@pytest.mark.parametrize("vendor", VENDORS, ids=str)
async def test_each_vendor_tells_its_balances(vendor: Vendor) -> None:
    """As its API writes them; one that is away tells none."""
    simulator = await vendor.simulator().start()
    adapter = vendor.adapter(simulator.base_url)
    try:
        assert await adapter.read_balances(simulator.credentials) == TOLD[vendor.name]
    finally:
        await simulator.stop()
    with pytest.raises(NotReached):
        await adapter.read_balances(simulator.credentials)


def test_currencies_that_nobody_knows_are_left_out() -> None:
    """A vendor may have moneys of its own; what is owed is below 0; rests of a unit are rounded."""
    told = ProviderAnswer(
        200,
        b'{"data": [{"currency": "XYZ", "available_balance": 1, "ledger_balance": 1},'
        b' {"currency": "NGN", "available_balance": -10.129}]}',
        changes=False,
    )
    assert own_account.flutterwave_balances(told) == [ProviderBalance("NGN", Decimal("-10.13"))]
    told = ProviderAnswer(
        200,
        b'{"available": [{"amount": 5, "currency": "jpy"}, {"amount": 7, "currency": "btc"}],'
        b' "pending": [{"amount": 2, "currency": "jpy"}, {"amount": 100, "currency": "usd"}]}',
        changes=False,
    )
    assert own_account.stripe_balances(told) == [
        ProviderBalance("JPY", Decimal(5), Decimal(2)),
        ProviderBalance("USD", Decimal(0), Decimal(1)),
    ]


def test_an_answer_that_is_no_balance_tells_nothing() -> None:
    """Rather than 0."""
    with pytest.raises(NotReached):
        own_account.paystack_balances(ProviderAnswer(200, b'{"data": {}}', changes=False))
    told = b'{"data": [{"currency": "NGN", "balance": 1e40}]}'
    with pytest.raises(NotReached):
        own_account.paystack_balances(ProviderAnswer(200, told, changes=False))
