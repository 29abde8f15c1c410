"""The payment providers of other companies, by their names."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from tillhouse.providers.payments.provider import PaymentProvider, ProviderName

VENDORS: Sequence[ProviderName] = ("paystack", "flutterwave", "monnify", "stripe")

# The fewest characters that a secret of each vendor has. Vendors promise no lengths, so these are
# somewhat below what they hand out; a word of the merchant's own has what makes it no guess.
SHORTEST_SECRETS: Mapping[str, Mapping[str, int]] = {
    "paystack": {"secret_key": 32},
    "flutterwave": {"secret_key": 20, "secret_hash": 6},
    "monnify": {"api_key": 16, "secret_key": 16, "contract_code": 6, "wallet_account": 10},
    "stripe": {"secret_key": 32, "webhook_secret": 32},
}


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
