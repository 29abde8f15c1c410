"""Texts, numbers and days of a hotel, right by construction: see `kit/text.py`."""

from typing import Annotated

from msgspec import Meta

from tillhouse.kit.money import Bounded
from tillhouse.kit.text import OneLine, Paragraphs

# So that no sum of a stay's nights and taxes comes near the bound of amounts.
PRICE_LIMIT = 10**11
NIGHTS_MAX = 365
SHOWN_NIGHTS_MAX = 366
GROUP_MAX = 20
AHEAD_DAYS_MAX = 730

Heads = Annotated[int, Meta(ge=1, le=50)]
Children = Annotated[int, Meta(ge=0, le=50)]
# A day in an answer.
DayShown = Annotated[str, Meta(extra_json_schema={"format": "date"}, examples=["2026-02-01"])]


class NightlyPrice(
    Bounded, minimum=0, exclusiveMaximum=PRICE_LIMIT,
    wrong="must be from 0 to less than 10^11", example=45000,
):  # fmt: skip
    """The price of a night."""

    __slots__ = ()


class DepositAmount(
    Bounded, minimum=0, exclusiveMaximum=PRICE_LIMIT,
    wrong="must be from 0 to less than 10^11", example=20000,
):  # fmt: skip
    """An amount that is asked for before the stay."""

    __slots__ = ()


class TaxRate(
    Bounded, is_money=False, minimum=0, maximum=100, decimals=4,
    wrong="must be from 0 to 100, in per cent", example=7.5,
):  # fmt: skip
    """A share in per cent."""

    __slots__ = ()


class RoomNumber(OneLine, longest=20, is_spelt=True, example="101"):
    """The number on a room's door."""


class Floor(OneLine, longest=20, is_spelt=True, example="1"):
    """The floor of a room."""


class HotelName(OneLine, longest=120, is_spelt=True, example="Standard"):
    """The name of a room type or a rate plan."""


class TaxName(OneLine, longest=60, is_spelt=True, example="VAT"):
    """The name of a tax, as bills say it."""


class HotelText(Paragraphs, longest=1_000, example="A quiet room to the garden."):
    """Words for people."""


class DocumentNumber(OneLine, longest=40, example="A01234567"):
    """The number of a passport or another document."""
