"""The payment providers of this installation, by their names."""

from tillhouse.providers.payments.provider import PaymentProvider, ProviderName


def provider(name: ProviderName, base_url: str | None = None) -> PaymentProvider:
    """The provider of this name, at an address of its own or another; keep it while it is used."""
    # The HTTP client takes a fifth of a second to load; commands move no money.
    from tillhouse.providers.payments import (  # noqa: PLC0415
        flutterwave,
        monnify,
        paystack,
        stripe,
    )

    if name == "paystack":
        return paystack.Paystack(base_url or paystack.BASE_URL)
    if name == "flutterwave":
        return flutterwave.Flutterwave(base_url or flutterwave.BASE_URL)
    if name == "monnify":
        return monnify.Monnify(base_url)
    if name == "stripe":
        return stripe.Stripe(base_url or stripe.BASE_URL)
    raise ValueError(f"no provider is called {name}")
