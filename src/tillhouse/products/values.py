"""Texts and numbers of products, right by construction: see `kit/text.py`."""

from tillhouse.kit.money import AMOUNT_LIMIT, Bounded
from tillhouse.kit.text import Coded, OneLine, Paragraphs

QUANTITY_LIMIT = 10**9


class CatalogName(OneLine, longest=120, is_spelt=True, example="Large"):
    """The name of a thing; a size can be "M"."""


class Sku(OneLine, longest=64, is_spelt=True, example="RICE-50KG"):
    """A stock keeping unit, as the shop writes it on its shelves."""


class Unit(OneLine, longest=20, is_spelt=True, example="plate"):
    """The unit of a quantity: plate, kg, hour."""


class ProductDescription(Paragraphs, longest=5_000, example="Smoky, with fried plantain."):
    """Some paragraphs."""


class ImageUrl(
    Coded,
    longest=2048,
    pattern="^https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?:[/?][!-~]*)?$",
    wrong="must be a web address such as https://cdn.example.com/jollof.jpg",
    example="https://cdn.example.com/jollof.jpg",
):
    """Where a picture is, without a name and password in it; it is never fetched from here."""


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
    Bounded,
    is_money=False,
    minimum=0,
    maximum=100,
    wrong="must be from 0 to 100, in per cent",
    example=7.5,
):
    """A share in per cent."""

    __slots__ = ()


class Threshold(
    Bounded,
    is_money=False,
    minimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    wrong="must be from 0 to less than 10^9",
    example=5,
):
    """A quantity of 0 or more."""

    __slots__ = ()


class ProductQuantity(
    Bounded,
    is_money=False,
    exclusiveMinimum=0,
    exclusiveMaximum=QUANTITY_LIMIT,
    wrong="must be more than 0 and less than 10^9",
    example=2,
):
    """How many, and at least some."""

    __slots__ = ()
