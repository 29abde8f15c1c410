"""How each provider writes amounts: pure conversions, exact in both directions.

ISO 4217 says how many decimals a currency has; a provider may write it with others. Paystack and
Stripe count units of their own, Flutterwave and Monnify write the amount itself.
"""

from decimal import Context, Decimal, InvalidOperation
from typing import Literal, NamedTuple, TypeAlias

from tillhouse.kit.money import AMOUNT_LIMIT, EXPONENTS, check_scale, round_money

Counting: TypeAlias = Literal["paystack", "stripe"]
Writing: TypeAlias = Literal["flutterwave", "monnify"]

_DIGITS_MAX = 24
_EXACT = Context(prec=80, traps=[InvalidOperation])


class NotExact(ValueError):
    """An amount that one of both sides can't write."""


class Scale(NamedTuple):
    """The decimals that are counted, and the units that an amount is a multiple of."""

    decimals: int
    step: int = 1


# XOF has no decimals, and is written with two all the same.
_PAYSTACK = {
    **dict.fromkeys(("GHS", "KES", "NGN", "USD", "ZAR"), Scale(2)),
    "XOF": Scale(2, 100),
}
_STRIPE_WHOLE = "BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF"
_STRIPE_OTHERS = {
    **dict.fromkeys(_STRIPE_WHOLE.split(), Scale(0)),
    # Whole amounts, written with two decimals as they once were.
    **dict.fromkeys(("ISK", "UGX"), Scale(2, 100)),
    # Three decimals, of which the last is a nought.
    **dict.fromkeys(("BHD", "JOD", "KWD", "OMR", "TND"), Scale(3, 10)),
}
_STRIPE = {
    **{code: Scale(2) for code, decimals in EXPONENTS.items() if decimals == 2},
    **_STRIPE_OTHERS,
}
_SCALES: dict[Counting, dict[str, Scale]] = {"paystack": _PAYSTACK, "stripe": _STRIPE}


def currencies_of(provider: Counting) -> frozenset[str]:
    """The currencies that a provider takes."""
    return frozenset(_SCALES[provider])


def scale_of(provider: Counting, currency: str) -> Scale:
    """The units that a provider counts in a currency."""
    try:
        return _SCALES[provider][currency]
    except KeyError:
        raise NotExact(f"{provider} takes no {currency}") from None


def to_units(provider: Counting, amount: Decimal, currency: str) -> int:
    """An amount as the provider counts it."""
    scale = scale_of(provider, currency)
    units = _checked(amount, currency).scaleb(scale.decimals, context=_EXACT)
    if units % scale.step:
        raise NotExact(f"{provider} can't write {amount} {currency}")
    return int(units)


def from_units(provider: Counting, units: Decimal, currency: str) -> Decimal:
    """The amount that the provider's units stand for."""
    scale = scale_of(provider, currency)
    if not _is_sane(units) or units != int(units):
        raise NotExact(f"{units} is no number of units")
    return _checked(units.scaleb(-scale.decimals, context=_EXACT), currency)


def fee_from_units(provider: Counting, units: Decimal, currency: str) -> Decimal:
    """A fee, whose parts of the smallest unit are rounded."""
    scale = scale_of(provider, currency)
    if not _is_sane(units):
        raise NotExact(f"{units} is no number of units")
    return rounded_fee(units.scaleb(-scale.decimals, context=_EXACT), currency)


def balance_from_units(provider: Counting, units: Decimal, currency: str) -> Decimal:
    """A balance, which may be below 0."""
    return fee_from_units(provider, abs(units), currency).copy_sign(units)


def balance_from_major(amount: Decimal, currency: str) -> Decimal:
    """A balance, which may be below 0, and of which some tell more decimals than there are."""
    return rounded_fee(abs(amount), currency).copy_sign(amount)


def to_major(amount: Decimal, currency: str) -> Decimal:
    """An amount for a provider that writes it as it is."""
    return _checked(amount, currency)


def from_major(amount: Decimal, currency: str) -> Decimal:
    """An amount of a provider that writes it as it is."""
    return _checked(amount, currency)


def rounded_fee(fee: Decimal, currency: str) -> Decimal:
    """A fee, of which some providers tell more decimals than the currency has."""
    if currency not in EXPONENTS or not _is_sane(fee) or not 0 <= fee < AMOUNT_LIMIT:
        raise NotExact(f"{fee} {currency} is no fee")
    return round_money(fee, currency)


def _checked(amount: Decimal, currency: str) -> Decimal:
    if currency not in EXPONENTS:
        raise NotExact(f"{currency} is no currency")
    if not _is_sane(amount) or not 0 <= amount < AMOUNT_LIMIT:
        raise NotExact(f"{amount} is no amount")
    if check_scale(amount, currency) is not None:
        raise NotExact(f"{amount} is finer than the smallest unit of {currency}")
    return round_money(amount, currency)


def _is_sane(number: Decimal) -> bool:
    """Whether reckoning with it neither fails nor takes long."""
    return number.is_finite() and abs(number.adjusted()) < _DIGITS_MAX
