"""Exponents: every currency with every provider, in both directions, to the smallest unit."""

from decimal import Decimal
from typing import Literal

import pytest

from tillhouse.kit.money import AMOUNT_LIMIT, EXPONENTS
from tillhouse.providers.payments.exponents import (
    NotExact,
    fee_from_units,
    from_major,
    from_units,
    rounded_fee,
    scale_of,
    to_major,
    to_units,
)

Counting = Literal["paystack", "stripe"]

# One and a quarter (or one, where that can't be written) as the vendors' lists of currencies have
# it on the wire; written out, because a round trip can't see an error of both directions.
_PAYSTACK = {"GHS": 125, "KES": 125, "NGN": 125, "USD": 125, "ZAR": 125, "XOF": 100}
_STRIPE_ONE = {
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA",
    "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF",
}  # fmt: skip
_STRIPE_HUNDRED = {"ISK", "UGX"}
_STRIPE_THREE = {"BHD", "JOD", "KWD", "OMR", "TND"}
_STRIPE_NEVER = {"CLF", "IQD", "LYD", "UYI", "UYW"}


def wire_of(provider: Counting, currency: str) -> int | None:
    """The units of 1.25, or else of 1; None when the provider doesn't take the currency."""
    if provider == "paystack":
        return _PAYSTACK.get(currency)
    if currency in _STRIPE_NEVER:
        return None
    if currency in _STRIPE_ONE:
        return 1
    if currency in _STRIPE_HUNDRED:
        return 100
    return 1250 if currency in _STRIPE_THREE else 125


@pytest.mark.parametrize("provider", ["paystack", "stripe"])
@pytest.mark.parametrize("currency", sorted(EXPONENTS))
def test_units_are_exact_in_both_directions(provider: Counting, currency: str) -> None:
    """Each amount that both can write survives; each other is refused, never rounded."""
    wire = wire_of(provider, currency)
    if wire is None:
        for convert in (to_units, from_units, fee_from_units):
            with pytest.raises(NotExact):
                convert(provider, Decimal(1), currency)
        return
    one = Decimal(1) if wire in (1, 100) else Decimal("1.25")
    assert to_units(provider, one, currency) == wire
    assert from_units(provider, Decimal(wire), currency) == one
    step = Decimal(scale_of(provider, currency).step)
    for units in (0, 1, 7, 99, 100, 12_345, 10**13 - 1):
        amount = from_units(provider, units * step, currency)
        assert to_units(provider, amount, currency) == units * step
        assert isinstance(to_units(provider, amount, currency), int)
    smallest = Decimal(1).scaleb(-EXPONENTS[currency])
    for amount in (smallest, smallest / 10, smallest * 123_457):
        try:
            units = to_units(provider, amount, currency)
        except NotExact:
            continue
        assert from_units(provider, Decimal(units), currency) == amount
        assert amount >= smallest


@pytest.mark.parametrize("currency", sorted(EXPONENTS))
def test_amounts_are_written_as_they_are(currency: str) -> None:
    """To the currency's own decimals, and no finer."""
    smallest = Decimal(1).scaleb(-EXPONENTS[currency])
    for amount in (Decimal(0), smallest, smallest * 99_999, AMOUNT_LIMIT - smallest):
        assert to_major(amount, currency) == from_major(amount, currency) == amount
    for amount in (smallest / 10, smallest * 7 / 100, Decimal(AMOUNT_LIMIT), -smallest):
        for convert in (to_major, from_major):
            with pytest.raises(NotExact):
                convert(amount, currency)


@pytest.mark.parametrize(
    ("provider", "amount", "currency"),
    [
        ("stripe", "1.234", "KWD"),
        ("stripe", "0.5", "MGA"),
        ("stripe", "0.5", "UGX"),
        ("stripe", "1.5", "JPY"),
        ("paystack", "0.5", "XOF"),
        ("paystack", "0.001", "NGN"),
        ("paystack", "-1", "NGN"),
    ],
)
def test_what_can_not_be_written_is_refused(provider: Counting, amount: str, currency: str) -> None:
    """Also where the currency itself has that many decimals."""
    with pytest.raises(NotExact):
        to_units(provider, Decimal(amount), currency)


@pytest.mark.parametrize(
    ("provider", "units", "currency"),
    [
        ("stripe", "150", "UGX"),
        ("stripe", "1.5", "USD"),
        ("paystack", "150", "XOF"),
        ("paystack", "-1", "NGN"),
        ("paystack", "NaN", "NGN"),
        ("paystack", "sNaN", "NGN"),
        ("paystack", "Infinity", "NGN"),
        ("paystack", "1E+999999", "NGN"),
        ("paystack", "1E-999999", "NGN"),
        ("paystack", "1E+18", "NGN"),
        ("paystack", "1", "ngn"),
    ],
)
def test_what_no_amount_is_is_refused(provider: Counting, units: str, currency: str) -> None:
    """An answer may say anything."""
    with pytest.raises(NotExact):
        from_units(provider, Decimal(units), currency)


def test_fees_are_rounded() -> None:
    """Some are told to a thousandth; what is no number is refused all the same."""
    assert rounded_fee(Decimal("26.875"), "NGN") == Decimal("26.88")
    assert fee_from_units("paystack", Decimal("150.4"), "NGN") == Decimal("1.50")
    for fee in ("-1", "NaN", "1E+30", "Infinity"):
        with pytest.raises(NotExact):
            rounded_fee(Decimal(fee), "NGN")
        with pytest.raises(NotExact):
            fee_from_units("stripe", Decimal(fee), "USD")
