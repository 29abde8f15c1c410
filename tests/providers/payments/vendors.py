"""The vendors, each with its simulator and adapter, for tests that hold for all of them."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from tests.providers.payments.simulators.flutterwave import FlutterwaveSimulator
from tests.providers.payments.simulators.monnify import MonnifySimulator
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tests.providers.payments.simulators.simulator import Simulator
from tests.providers.payments.simulators.stripe import StripeSimulator
from tillhouse.kit.ids import new_id
from tillhouse.providers.payments.flutterwave import Flutterwave
from tillhouse.providers.payments.monnify import Monnify
from tillhouse.providers.payments.paystack import Paystack
from tillhouse.providers.payments.provider import (
    AccountRequest,
    HeardPayment,
    PaymentProvider,
    PayoutRequest,
    RefundRequest,
    SeenPayment,
)
from tillhouse.providers.payments.stripe import Stripe

Operation = Literal["open", "refund", "pay out"]


class Vendor(NamedTuple):
    """One vendor: how it is simulated and spoken to, and which call each operation makes."""

    name: str
    simulator: Callable[[], Simulator]
    adapter: Callable[..., PaymentProvider]
    currency: str
    # The calls that change something, as `fail_next` takes them.
    calls: Mapping[Operation, str]
    # Whether its API tells that money was taken back after all.
    tells_reversals: bool = True

    def __str__(self) -> str:
        return self.name


VENDORS = [
    Vendor(
        "paystack",
        PaystackSimulator,
        Paystack,
        "NGN",
        {"open": "POST /charge", "refund": "POST /refund", "pay out": "POST /transfer"},
    ),
    Vendor(
        "flutterwave",
        FlutterwaveSimulator,
        Flutterwave,
        "NGN",
        {
            "open": "POST /v3/charges",
            "refund": "POST /v3/transactions/*/refund",
            "pay out": "POST /v3/transfers",
        },
        tells_reversals=False,
    ),
    Vendor(
        "monnify",
        MonnifySimulator,
        Monnify,
        "NGN",
        {
            "open": "POST /api/v1/merchant/transactions/init-transaction",
            "refund": "POST /api/v1/refunds/initiate-refund",
            "pay out": "POST /api/v2/disbursements/single",
        },
    ),
    Vendor(
        "stripe",
        StripeSimulator,
        Stripe,
        "USD",
        {"open": "POST /v1/checkout/sessions", "refund": "POST /v1/refunds"},
        tells_reversals=False,
    ),
]
CHANGES = [(vendor, operation) for vendor in VENDORS for operation in vendor.calls]
WITH_PAYOUTS = [vendor for vendor in VENDORS if "pay out" in vendor.calls]


def reference() -> str:
    """A reference that was never used."""
    return f"th-{new_id()}"


def account_request(vendor: Vendor, amount: str = "5000", **more: Any) -> AccountRequest:
    """An account that is to be opened."""
    return AccountRequest(
        **{
            "reference": reference(),
            "amount": Decimal(amount),
            "currency": vendor.currency,
            "email": "payer@example.com",
            "name": "Bola Ade",
            "description": "Order 7KQ4",
            "return_url": "https://shop.example.com/paid",
            **more,
        }
    )


def payout_request(amount: str = "1500.50", **more: Any) -> PayoutRequest:
    """A payout to an account that exists."""
    return PayoutRequest(
        **{
            "reference": reference(),
            "amount": Decimal(amount),
            "currency": "NGN",
            "bank_code": "058",
            "account_number": "0123456789",
            "account_name": "ADA OKAFOR",
            "narration": "Withdrawal",
            **more,
        }
    )


async def paid(vendor: Vendor, sim: Simulator, amount: str = "5000") -> SeenPayment:
    """A payment that arrived."""
    adapter = vendor.adapter(sim.base_url)
    wanted = account_request(vendor, amount)
    opened = await adapter.open_account(sim.credentials, wanted)
    await sim.pay(wanted.reference)
    heard = HeardPayment(wanted.reference, None, provider_reference=opened.provider_reference)
    [seen] = await adapter.find_payments(sim.credentials, heard)
    return seen


def refund_request(vendor: Vendor, payment: SeenPayment, amount: str) -> RefundRequest:
    """A refund of a payment."""
    return RefundRequest(
        reference=f"rf-{new_id()}",
        transaction_id=payment.transaction_id,
        amount=Decimal(amount),
        currency=vendor.currency,
        reason="Out of stock",
    )
