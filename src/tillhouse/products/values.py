"""Texts and numbers of products, right by construction: see `kit/values.py`."""

import re
from typing import ClassVar

from tillhouse.kit import text
from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.values import Schema, Value

QUANTITY_LIMIT = 10**9
DESCRIPTION_LENGTH_MAX = 5_000

_ONE_LINE = r"^[^\t\n\r]*[^\s][^\t\n\r]*$"


class Label(Value):
    """The name of a thing: 1 to 120 characters on one line, so that a size can be "M"."""

    LENGTH_MAX: ClassVar[int] = 120
    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": 120,
        "pattern": _ONE_LINE,
        "examples": ["Large"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Trimmed, with single spaces, on one line; counted as it came but for its ends."""
        cleaned = text.clean(value)
        if not 1 <= len(cleaned) <= cls.LENGTH_MAX:
            raise ValueError(f"must have 1 to {cls.LENGTH_MAX} characters")
        if "\n" in cleaned or "\r" in cleaned or "\t" in cleaned:
            raise ValueError("must be on one line")
        # One name has one spelling: it is looked for as it is kept.
        return text.spelling(cleaned)


class Sku(Label):
    """A stock keeping unit, as the shop writes it on its shelves."""

    LENGTH_MAX: ClassVar[int] = 64
    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": 64,
        "pattern": _ONE_LINE,
        "examples": ["RICE-50KG"],
    }


class Unit(Label):
    """The unit of a quantity: plate, kg, hour."""

    LENGTH_MAX: ClassVar[int] = 20
    SCHEMA: ClassVar[Schema] = {
        "minLength": 1,
        "maxLength": 20,
        "pattern": _ONE_LINE,
        "examples": ["plate"],
    }


class Description(Value):
    """Some paragraphs."""

    SCHEMA: ClassVar[Schema] = {
        "maxLength": DESCRIPTION_LENGTH_MAX,
        "examples": ["Smoky, with fried plantain."],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Trim, and bound."""
        cleaned = text.clean(value)
        if len(cleaned) > DESCRIPTION_LENGTH_MAX:
            raise ValueError(f"must have at most {DESCRIPTION_LENGTH_MAX} characters")
        return cleaned


class ImageUrl(Value):
    """Where a picture is; it is never fetched from here."""

    SCHEMA: ClassVar[Schema] = {
        "maxLength": 2048,
        "pattern": "^https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?][!-~]*)?$",
        "examples": ["https://cdn.example.com/jollof.jpg"],
    }

    @classmethod
    def check(cls, value: str) -> str:
        """Of the web, without a name and password in it."""
        if len(value) > cls.SCHEMA["maxLength"] or not re.fullmatch(cls.SCHEMA["pattern"], value):
            raise ValueError("must be a web address such as https://cdn.example.com/jollof.jpg")
        return value


class Price(
    Bounded,
    minimum=0,
    exclusiveMaximum=AMOUNT_LIMIT,
    wrong="must not be negative",
    example=1500.5,
):
    """An amount of 0 or more."""

    __slots__ = ()


class Rate(
    Bounded, minimum=0, maximum=100, wrong="must be from 0 to 100, in per cent", example=7.5
):
    """A share in per cent."""

    __slots__ = ()


class Threshold(
    Bounded,
    minimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    wrong="must be from 0 to less than 10^9",
    example=5,
):
    """A quantity of 0 or more."""

    __slots__ = ()


class Quantity(
    Bounded,
    exclusiveMinimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    wrong="must be more than 0 and less than 10^9",
    example=2,
):
    """How many, and at least some."""

    __slots__ = ()
