"""Exact money: bounds of amounts, decimals of a currency, rounding and sharing."""

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact, InvalidOperation
from typing import Any, ClassVar, NamedTuple, Self

AMOUNT_LIMIT = 10**15
"""Every amount is smaller than this, so that no sum of a book overflows its column."""

WIRE_DECIMALS_MAX = 6

# A decimal as JSON writes one, but without an exponent; `[0-9]` leaves out other alphabets' digits.
_PLAIN = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_PLAIN_LENGTH_MAX = 40
NO_NUMBER = "must be a number"
NO_AMOUNT = 'must be a number or a decimal string such as "1500.50"'

_WIRE_UNIT = Decimal(1).scaleb(-WIRE_DECIMALS_MAX)

# 15 digits before the point and 6 after: a longer number isn't an amount.
_WIRE_CONTEXT = Context(prec=15 + WIRE_DECIMALS_MAX, traps=[Inexact, InvalidOperation])

# Wide enough for a product of two amounts; the default of 28 digits would round on the way.
_ROUND_CONTEXT = Context(prec=80, rounding=ROUND_HALF_UP, traps=[InvalidOperation])

_TWO_DECIMALS = """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
    CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
    GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK
    LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO
    NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS
    SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST
    XCD XCG YER ZAR ZMW ZWG
"""

_OTHER_DECIMALS = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}

EXPONENTS: dict[str, int] = {
    code: decimals
    for decimals, codes in {2: _TWO_DECIMALS, **_OTHER_DECIMALS}.items()
    for code in codes.split()
}
"""How many decimals each active ISO 4217 currency has."""

_UNITS = {code: Decimal(1).scaleb(-decimals) for code, decimals in EXPONENTS.items()}


def _described(
    bounds: dict[str, Any],
    example: float,
    decimals: int = WIRE_DECIMALS_MAX,
    *,
    is_money: bool = True,
) -> dict[str, Any]:
    """The schema of a number within bounds; of money, also of a string that holds one."""
    if not is_money:
        return {"type": "number", **bounds, "examples": [example]}
    is_signed = "minimum" not in bounds and bounds.get("exclusiveMinimum", -1) < 0
    most = bounds["maximum"] if "maximum" in bounds else bounds["exclusiveMaximum"] - 1
    whole = rf"(?:0|[1-9][0-9]{{0,{len(str(most)) - 1}}})"
    pattern = rf"^{'-?' if is_signed else ''}{whole}(?:\.[0-9]{{1,{decimals}}})?$"
    return {"type": ["number", "string"], **bounds, "pattern": pattern, "examples": [example]}


class Amount(Decimal):
    """An exact number from the wire: finite, bounded, with at most six decimals."""

    __slots__ = ()
    SCHEMA: ClassVar[dict[str, Any]] = _described(
        {"exclusiveMinimum": -AMOUNT_LIMIT, "exclusiveMaximum": AMOUNT_LIMIT}, 1500.5
    )

    @classmethod
    def from_wire(cls, value: object) -> "Amount":
        """Take a decoded JSON number, or a decimal in a string, or raise ValueError."""
        return amount_from_wire(value)


class Bounded(Amount):
    """An amount within bounds, which a subclass gives as JSON Schema names them.

    `class Price(Bounded, minimum=0, wrong="must not be negative", example=1500.5)`

    With a `limit` it is smaller than that either way: told first, then the decimals, then `wrong`.
    A number that is no money, such as a quantity or a rate, is never a string.
    """

    __slots__ = ()
    checks: ClassVar[list["_Check"]]
    is_money: ClassVar[bool]

    def __init_subclass__(
        cls,
        *,
        wrong: str,
        example: float,
        decimals: int | None = None,
        limit: int | None = None,
        is_money: bool = True,
        **bounds: int,
    ) -> None:
        super().__init_subclass__()
        within = [_Check(_HOLDS[name], bound, wrong) for name, bound in bounds.items()]
        exact = [] if decimals is None else [_exact(decimals)]
        cls.checks = [*within, *exact] if limit is None else [_smaller(limit), *exact, *within]
        cls.is_money = is_money
        cls.SCHEMA = _described(
            _schema(limit, bounds), example, decimals or WIRE_DECIMALS_MAX, is_money=is_money
        )

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Take a decoded JSON number, or of money a decimal in a string; or raise ValueError."""
        is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if not is_number and not cls.is_money:
            raise ValueError(NO_NUMBER)
        amount = amount_from_wire(value)
        for holds, bound, wrong in cls.checks:
            if not holds(amount, bound):
                raise ValueError(wrong)
        return cls(amount)


class _Check(NamedTuple):
    holds: Callable[[Decimal, int], bool]
    bound: int
    wrong: str


_HOLDS: dict[str, Callable[[Decimal, int], bool]] = {
    "minimum": Decimal.__ge__,
    "maximum": Decimal.__le__,
    "exclusiveMinimum": Decimal.__gt__,
    "exclusiveMaximum": Decimal.__lt__,
    "unequal": Decimal.__ne__,
}


def _exact(decimals: int) -> _Check:
    wrong = f"must have at most {decimals} decimals"
    return _Check(lambda amount, most: amount == round(amount, most), decimals, wrong)


def _smaller(limit: int) -> _Check:
    wrong = f"must be smaller than 10^{len(str(limit)) - 1}"
    return _Check(lambda amount, bound: abs(amount) < bound, limit, wrong)


def _schema(limit: int | None, bounds: dict[str, int]) -> dict[str, Any]:
    told: dict[str, Any] = dict(bounds)
    if "unequal" in told:
        told["not"] = {"const": told.pop("unequal")}
    if limit is not None:
        low = {} if "minimum" in told else {"exclusiveMinimum": -limit}
        told = {**low, "exclusiveMaximum": limit, **told}
    return told


def amount_from_wire(value: object) -> Amount:
    """Check a decoded number or decimal string, drop trailing zeros; or raise ValueError."""
    if isinstance(value, str):
        value = _from_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= AMOUNT_LIMIT:
            raise ValueError("must be smaller than 10^15")
        return Amount(value)
    if not isinstance(value, Decimal):
        raise ValueError(NO_AMOUNT)  # noqa: TRY004  (one error for every wrong value)
    if not value.is_finite():
        raise ValueError("must be a finite number")
    if not value:
        return Amount(0)
    # The exponent alone tells the size: 1e999999999 is never written out.
    if value.adjusted() >= _WIRE_CONTEXT.prec - WIRE_DECIMALS_MAX:
        raise ValueError("must be smaller than 10^15")
    try:
        exact = value.quantize(_WIRE_UNIT, context=_WIRE_CONTEXT)
    except (Inexact, InvalidOperation):
        raise ValueError(f"must have at most {WIRE_DECIMALS_MAX} decimals") from None
    return Amount(f"{exact:f}".rstrip("0").rstrip("."))


def _from_text(text: str) -> Decimal:
    """A decimal as programs write it, never in the form of one country."""
    if len(text) > _PLAIN_LENGTH_MAX or not _PLAIN.fullmatch(text):
        raise ValueError(NO_AMOUNT)
    return Decimal(text)


def is_currency(code: str) -> bool:
    """Tell whether this is the upper-case code of an active ISO 4217 currency."""
    return code in EXPONENTS


def check_scale(amount: Decimal, currency: str) -> str | None:
    """The fault of an amount that is finer than its currency's smallest unit."""
    decimals = EXPONENTS[currency]
    # Comparing is exact, whatever the precision; trailing zeros don't count.
    if round_money(amount, currency) == amount:
        return None
    if decimals == 0:
        return f"must be a whole number: {currency} has no decimals"
    return f"must have at most {decimals} decimals, the smallest unit of {currency}"


def round_money(value: Decimal, currency: str) -> Decimal:
    """Round half-up (half away from zero) to the smallest unit of the currency."""
    rounded = value.quantize(_UNITS[currency], context=_ROUND_CONTEXT)
    # No minus before a zero.
    return rounded or rounded.copy_abs()


def largest_remainder(
    total: Decimal, weights: Sequence[Decimal | int], currency: str
) -> list[Decimal]:
    """Share a total by weights in whole units, so that the shares sum to exactly the total.

    Leftover units go to the largest remainders, the earlier first. No share exceeds its weight
    as long as the total doesn't exceed their sum and all are whole units: a discount spread over
    lines makes none of them negative. When every weight is zero, the shares are equal.
    """
    if any(weight < 0 for weight in weights):
        raise ValueError("weights can't be negative")
    if not weights:
        if total:
            raise ValueError("there is nothing to share the total between")
        return []
    # A total that is finer than the currency is shared in its own unit, never cut.
    decimals = max(EXPONENTS[currency], _decimals(total))
    units = _whole(total, decimals)
    fine = max(_decimals(weight) for weight in weights)
    parts = [_whole(weight, fine) for weight in weights]
    if not any(parts):
        parts = [1] * len(parts)
    whole = sum(parts)
    divided = [divmod(abs(units) * part, whole) for part in parts]
    shares = [share for share, _ in divided]
    order = sorted(range(len(parts)), key=lambda index: -divided[index][1])
    for index in order[: abs(units) - sum(shares)]:
        shares[index] += 1
    sign = -1 if units < 0 else 1
    return [Decimal(sign * share).scaleb(-decimals, context=_ROUND_CONTEXT) for share in shares]


def _whole(value: Decimal | int, decimals: int) -> int:
    return int(Decimal(value).scaleb(decimals, context=_ROUND_CONTEXT))


def _decimals(value: Decimal | int) -> int:
    exponent = Decimal(value).as_tuple().exponent
    if not isinstance(exponent, int):
        raise ValueError("only finite amounts can be shared")  # noqa: TRY004  (the type is right)
    return max(0, -exponent)


def plain(quantity: Decimal) -> str:
    """A quantity as people write it: 2.500 is 2.5."""
    text = f"{quantity:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
