"""The adapters of this installation, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from tillhouse.access.process import Services
from tillhouse.payins.sandbox.provider import Sandbox
from tillhouse.providers.payments.provider import PaymentProvider
from tillhouse.providers.payments.providers import VENDORS, provider

SANDBOX = "sandbox"

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


def providers_of(services: Services) -> dict[str, PaymentProvider]:
    """Every provider that this installation can speak to."""
    urls = dict(services.settings.provider_urls)
    vendors = [provider(name, urls.get(name)) for name in VENDORS]
    every: list[PaymentProvider] = [Sandbox(services.pool), *vendors]
    return {provider.name: provider for provider in every}
