"""Values of orders that check themselves."""

from tillhouse.kit.money import Bounded
from tillhouse.kit.text import OneLine

LINE_NAME_MAX = 200
QUANTITY_LIMIT = 10**9
QUANTITY_DECIMALS = 3


class LineQuantity(
    Bounded,
    is_money=False,
    exclusiveMinimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    decimals=QUANTITY_DECIMALS,
    wrong="must be more than 0 and less than 10^9",
    example=2,
):
    """How many: more than 0, with at most three decimals."""

    __slots__ = ()


class ShortText(OneLine, longest=LINE_NAME_MAX, example="Jollof rice"):
    """A short text on one line."""
