"""Quantities of stock, right by construction: see `kit/values.py`."""

from typing import ClassVar, Self

from tillhouse.kit.money import Amount, amount_from_wire
from tillhouse.kit.text_types import Schema

QUANTITY_LIMIT = 10**9
DECIMALS_MAX = 3


class Change(Amount):
    """By how much: more or less than 0, with at most three decimals."""

    __slots__ = ()
    SCHEMA: ClassVar[Schema] = {
        "type": "number",
        "exclusiveMinimum": -QUANTITY_LIMIT,
        "exclusiveMaximum": QUANTITY_LIMIT,
        "not": {"const": 0},
        "examples": [24],
    }

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Take a decoded JSON number, or raise ValueError."""
        amount = amount_from_wire(value)
        if abs(amount) >= QUANTITY_LIMIT:
            raise ValueError("must be smaller than 10^9")
        if amount != round(amount, DECIMALS_MAX):
            raise ValueError(f"must have at most {DECIMALS_MAX} decimals")
        cls.check(amount)
        return cls(amount)

    @classmethod
    def check(cls, amount: Amount) -> None:
        """Raise ValueError for a number that isn't meant."""
        if not amount:
            raise ValueError("must not be 0")


class Portion(Change):
    """How much of it: more than 0, with at most three decimals."""

    __slots__ = ()
    SCHEMA: ClassVar[Schema] = {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": QUANTITY_LIMIT,
        "examples": [6],
    }

    @classmethod
    def check(cls, amount: Amount) -> None:
        """More than nothing."""
        if amount <= 0:
            raise ValueError("must be more than 0")


class Count(Change):
    """How much there is: 0 or more, with at most three decimals."""

    __slots__ = ()
    SCHEMA: ClassVar[Schema] = {
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": QUANTITY_LIMIT,
        "examples": [18],
    }

    @classmethod
    def check(cls, amount: Amount) -> None:
        """Nobody counts less than nothing."""
        if amount < 0:
            raise ValueError("must not be negative")
