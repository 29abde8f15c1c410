"""The payment providers of other companies, by their names."""

from collections.abc import Sequence
from functools import lru_cache

from tillhouse.providers.payments.provider import PaymentProvider, ProviderName

VENDORS: Sequence[ProviderName] = ("paystack", "flutterwave", "monnify", "stripe")


# The same one each time: Monnify's keeps its logins.
@lru_cache(maxsize=100)
def provider(name: ProviderName, base_url: str | None = None) -> PaymentProvider:
    """The provider of this name, at its own address or another."""
    # The HTTP client takes a fifth of a second to load; commands move no money.
    from tillhouse.providers.payments import (  # noqa: PLC0415
        flutterwave,
        monnify,
        paystack,
        stripe,
    )

    match name:
        case "paystack":
            return paystack.Paystack(base_url or paystack.BASE_URL)
        case "flutterwave":
            return flutterwave.Flutterwave(base_url or flutterwave.BASE_URL)
        case "monnify":
            return monnify.Monnify(base_url)
        case "stripe":
            return stripe.Stripe(base_url or stripe.BASE_URL)
        case _:
            raise ValueError(f"no vendor is called {name}")
