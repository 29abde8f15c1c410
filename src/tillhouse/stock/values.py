"""Quantities of stock, right by construction: see `kit/money.py`."""

from tillhouse.kit.money import Bounded

QUANTITY_LIMIT = 10**9
DECIMALS_MAX = 3


class Change(
    Bounded,
    is_money=False,
    limit=QUANTITY_LIMIT,
    decimals=DECIMALS_MAX,
    unequal=0,
    wrong="must not be 0",
    example=24,
):
    """By how much: more or less than 0."""

    __slots__ = ()


class Portion(
    Bounded,
    is_money=False,
    limit=QUANTITY_LIMIT,
    decimals=DECIMALS_MAX,
    exclusiveMinimum=0,
    wrong="must be more than 0",
    example=6,
):
    """How much of it: more than 0."""

    __slots__ = ()


class Count(
    Bounded,
    is_money=False,
    limit=QUANTITY_LIMIT,
    decimals=DECIMALS_MAX,
    minimum=0,
    wrong="must not be negative",
    example=18,
):
    """How much there is: 0 or more."""

    __slots__ = ()
