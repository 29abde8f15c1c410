"""Values of orders that check themselves."""

from typing import ClassVar

from tillhouse.kit import text
from tillhouse.kit.money import Bounded
from tillhouse.kit.values import Schema, Value

LINE_NAME_MAX = 200
QUANTITY_LIMIT = 10**9
QUANTITY_DECIMALS = 3


class Quantity(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    decimals=QUANTITY_DECIMALS,
    wrong="must be more than 0 and less than 10^9",
    example=2,
):
    """How many: more than 0, with at most three decimals."""

    __slots__ = ()


class Label(Value):
    """A short text on one line."""

    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": LINE_NAME_MAX,
        "pattern": r"^\s*\S[^\t\n\r]*$",
        "examples": ["Jollof rice"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Trim, and count what is left."""
        cleaned = text.clean(value)
        if not 1 <= len(cleaned) <= LINE_NAME_MAX:
            raise ValueError(f"must have 1 to {LINE_NAME_MAX} characters")
        if any(character in cleaned for character in "\n\r\t"):
            raise ValueError("must be on one line")
        return cleaned
