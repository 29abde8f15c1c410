"""The amounts that each provider takes, as it documents them: pure.

Stripe publishes the smallest charge for each currency that an account is paid out in, Paystack
one for each currency; Flutterwave and Monnify publish none, so none is assumed of them. A payment
in another currency than the account's is converted, and judged by Stripe itself.
"""

from collections.abc import Mapping
from decimal import Decimal

from tillhouse.kit.money import EXPONENTS
from tillhouse.providers.payments.exponents import Counting, NotExact, scale_of

_STRIPE = (
    "USD 0.50 AED 2.00 AUD 0.50 BGN 1.00 BRL 0.50 CAD 0.50 CHF 0.50 CZK 15.00 DKK 2.50 EUR 0.50 "
    "GBP 0.30 HKD 4.00 HUF 175.00 INR 0.50 JPY 50 MXN 10.00 MYR 2.00 NOK 3.00 NZD 0.50 PLN 2.00 "
    "RON 2.00 SEK 3.00 SGD 0.50 THB 10.00"
)
_PAYSTACK = "NGN 50.00"
_COUNTING: Mapping[str, Counting] = {"stripe": "stripe", "paystack": "paystack"}


def _table(text: str) -> dict[str, Decimal]:
    words = text.split()
    return dict(zip(words[::2], map(Decimal, words[1::2]), strict=True))


SMALLEST: Mapping[str, Mapping[str, Decimal]] = {
    "stripe": _table(_STRIPE),
    "paystack": _table(_PAYSTACK),
}
"""The smallest amount, by provider and currency; those that aren't here have none."""


def step_of(provider: str, currency: str) -> Decimal | None:
    """The step in which a provider takes amounts, where that is coarser than the currency's."""
    counting = _COUNTING.get(provider)
    if counting is None or currency not in EXPONENTS:
        return None
    try:
        scale = scale_of(counting, currency)
    except NotExact:
        return None
    step = Decimal(scale.step).scaleb(-scale.decimals)
    return step if step > Decimal(1).scaleb(-EXPONENTS[currency]) else None


def amount_fault(provider: str, amount: Decimal, currency: str) -> str | None:
    """Why a provider doesn't take an amount, in words that say which it takes."""
    smallest = SMALLEST.get(provider, {}).get(currency)
    if smallest is not None and amount < smallest:
        return f"{provider} takes no less than {smallest:f} {currency}, and this is {amount:f}"
    step = step_of(provider, currency)
    if step is not None and amount % step:
        return f"{provider} takes {currency} in steps of {step:f}, and this is {amount:f}"
    return None
