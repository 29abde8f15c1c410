"""The adapters of this installation, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from tillhouse.access.process import Services
from tillhouse.payins.sandbox.provider import SandboxPayments
from tillhouse.providers.payments.provider import PaymentProvider, ProviderName
from tillhouse.providers.payments.providers import VENDORS, provider

SANDBOX: ProviderName = "sandbox"

# The header that carries the signature of a hook: without it, no body is read.
SIGNATURE_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        SANDBOX: "x-sandbox-signature",
        "paystack": "x-paystack-signature",
        "flutterwave": "verif-hash",
        "monnify": "monnify-signature",
        "stripe": "stripe-signature",
    }
)


def provider_of(services: Services, name: str) -> PaymentProvider | None:
    """The provider of this name; None where this installation has none."""
    if name == SANDBOX:
        return SandboxPayments(services.pool)
    urls = dict(services.settings.provider_urls)
    for vendor in VENDORS:
        if vendor == name:
            return provider(vendor, urls.get(name))
    return None
