"""Money: nothing inexact comes in, nothing is lost on the way."""

import json
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.yardstick import slower_processor

from tillhouse.kit.money import (
    AMOUNT_LIMIT,
    EXPONENTS,
    Amount,
    amount_from_wire,
    check_scale,
    is_currency,
    largest_remainder,
    round_money,
)

CURRENCIES = st.sampled_from(["NGN", "JPY", "KWD", "CLF"])
AMOUNTS = st.decimals(min_value=-(10**14), max_value=10**14, places=6)
WEIGHTS = st.lists(
    st.decimals(min_value=0, max_value=10**9, places=3) | st.integers(0, 10**6), min_size=1
)


@given(AMOUNTS, st.integers(0, 20))
def test_an_amount_keeps_its_value_and_drops_trailing_zeros(value: Decimal, zeros: int) -> None:
    """The same number is the same amount, however many zeros it was written with."""
    amount = amount_from_wire(Decimal(f"{value:f}" + "0" * zeros))
    assert amount == value
    assert str(amount) == str(amount_from_wire(value))
    assert "E" not in str(amount)
    assert str(amount) == "0" or not str(amount).startswith("-0") or amount < 0


@given(st.integers())
def test_whole_numbers_pass_up_to_the_limit(value: int) -> None:
    """An int is exact by nature; only its size counts."""
    if abs(value) < AMOUNT_LIMIT:
        assert amount_from_wire(value) == value
    else:
        with pytest.raises(ValueError, match="smaller"):
            amount_from_wire(value)


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        1.5,
        [],
        {},
        *map(Decimal, ["NaN", "sNaN", "Infinity", "-Infinity", "1E+15", "-1E+15", "1E-7"]),
        *map(Decimal, ["0.1234567", "1e999999999", "-1e999999999", "1e-999999999"]),
        Decimal("1." + "0" * 500_000 + "1"),
        Decimal("9" * 500_000),
        10**100_000,
    ],
    ids=lambda value: repr(value)[:20] if not isinstance(value, int) or value < 2 else "huge",
)
def test_what_is_no_amount_is_refused_at_once(value: object) -> None:
    """No truth value, no infinity; and an absurd size costs nothing."""
    began = time.thread_time()
    with pytest.raises(ValueError, match="must"):
        amount_from_wire(value)
    took_s = time.thread_time() - began
    assert took_s < 0.5 * slower_processor()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1.50000000", "1.5"),
        ("15e2", "1500"),
        ("-0.0", "0"),
        ("0e999999999", "0"),
        ("999999999999999.999999", "999999999999999.999999"),
    ],
)
def test_odd_spellings_of_a_number_are_that_number(written: str, shown: str) -> None:
    """JSON has many ways to write a number; they all mean it."""
    amount = amount_from_wire(json.loads(written, parse_float=Decimal))
    assert type(amount) is Amount
    assert str(amount) == shown


@given(AMOUNTS)
def test_a_decimal_string_is_its_number(value: Decimal) -> None:
    """No digit of it passes through anything inexact."""
    assert str(amount_from_wire(f"{value:f}")) == str(amount_from_wire(value))


@pytest.mark.parametrize("text", ["1" * 16, "-1000000000000000", "0.1234567"])
def test_a_string_keeps_to_the_bounds_of_a_number(text: str) -> None:
    """Its form is right; its number is none that a book holds."""
    with pytest.raises(ValueError, match=r"must be smaller than|must have at most 6 decimals"):
        amount_from_wire(text)


def test_the_currency_table_is_whole() -> None:
    """Each code stands once, with the decimals that ISO 4217 gives it."""
    assert all(len(code) == 3 and code.isupper() for code in EXPONENTS)
    assert [EXPONENTS[code] for code in ("NGN", "JPY", "BHD", "CLF")] == [2, 0, 3, 4]
    assert {EXPONENTS[code] for code in ("XAF", "XOF", "UGX", "RWF")} == {0}
    assert is_currency("NGN")
    assert not any(map(is_currency, ["ngn", "XXX", "", "NGNN"]))


@given(AMOUNTS, CURRENCIES)
def test_rounding_moves_by_half_a_unit_at_most_and_only_once(value: Decimal, code: str) -> None:
    """A rounded amount is in whole units and stays as it is."""
    rounded = round_money(value, code)
    assert abs(rounded - value) * 2 <= Decimal(1).scaleb(-EXPONENTS[code])
    assert str(round_money(rounded, code)) == str(rounded)
    assert round_money(-value, code) == -rounded
    assert check_scale(rounded, code) is None
    assert (check_scale(value, code) is None) == (rounded == value)


def test_a_half_is_rounded_up_and_zero_has_no_sign() -> None:
    """Half-up is what receipts use."""
    assert str(round_money(Decimal("2.345"), "NGN")) == "2.35"
    assert str(round_money(Decimal("-2.345"), "NGN")) == "-2.35"
    assert str(round_money(Decimal("-0.001"), "NGN")) == "0.00"
    assert str(round_money(Decimal("99999999999999.5"), "JPY")) == "100000000000000"
    # A product of two large amounts is wider than the default precision of 28 digits.
    assert round_money(Decimal("1" * 30 + ".005"), "NGN") == Decimal("1" * 30 + ".01")


def test_too_many_decimals_are_named() -> None:
    """The message tells the currency's smallest unit."""
    assert check_scale(Decimal("1.10"), "NGN") is None
    assert "2 decimals" in (check_scale(Decimal("1.105"), "NGN") or "")
    assert "whole number" in (check_scale(Decimal("1.5"), "JPY") or "")
    assert check_scale(Decimal("1.000"), "JPY") is None


@given(AMOUNTS, WEIGHTS, CURRENCIES)
def test_shares_sum_to_exactly_the_total(
    total: Decimal, weights: list[Decimal | int], code: str
) -> None:
    """Nothing is lost or made, whatever the total, the weights and the currency."""
    shares = largest_remainder(total, weights, code)
    assert len(shares) == len(weights)
    assert sum(shares) == total
    assert all(share * total >= 0 for share in shares)
    if any(weights):
        assert all(not share for share, weight in zip(shares, weights, strict=True) if not weight)


@given(st.lists(st.integers(0, 10**9), min_size=1), st.fractions(0, 1))
def test_a_share_is_never_more_than_its_weight(cents: list[int], part: Fraction) -> None:
    """A discount spread over lines makes no line negative."""
    weights = [Decimal(cent).scaleb(-2) for cent in cents]
    total = round_money(Decimal(int(sum(cents) * part)).scaleb(-2), "NGN")
    shares = largest_remainder(total, weights, "NGN")
    assert all(share <= weight for share, weight in zip(shares, weights, strict=True))


def test_shares_without_weights_are_equal_and_ties_go_to_the_first() -> None:
    """The same input gives the same shares, every time."""
    assert largest_remainder(Decimal("0.05"), [0, 0, 0], "NGN") == [
        Decimal("0.02"),
        Decimal("0.02"),
        Decimal("0.01"),
    ]
    assert [str(s) for s in largest_remainder(Decimal(-10), [1, 1, 1], "JPY")] == ["-4", "-3", "-3"]
    assert largest_remainder(Decimal(0), [], "NGN") == []


@pytest.mark.parametrize(
    ("total", "weights"),
    [(Decimal(1), []), (Decimal(1), [1, -1]), (Decimal("Infinity"), [1])],
)
def test_what_can_not_be_shared_is_an_error(total: Decimal, weights: list[int]) -> None:
    """A wrong call fails loudly rather than losing money."""
    with pytest.raises(ValueError, match=r"share|negative|finite"):
        largest_remainder(total, weights, "NGN")
