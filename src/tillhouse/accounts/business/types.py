"""Requests and answers of the routes of the business."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.accounts.types import BusinessType
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.money import Bounded
from tillhouse.kit.text import OneLine, Paragraphs
from tillhouse.kit.values import CountryCode, Name, ZoneName
from tillhouse.orders.receipts.head_rules import PostalAddress, TaxNumber
from tillhouse.orders.types import ServiceMode

StockPolicy = Literal["deny", "allow"]

FOOTER_LINES_MAX = 8


class LegalName(OneLine, shortest=2, longest=200, example="Ada's Kitchen Limited"):
    """The name under which the business is registered."""


class AddressLine(OneLine, longest=120, example="12 Marina Road"):
    """A line of an address above the city."""


class City(OneLine, longest=80, example="Lagos"):
    """A city or town."""


class Region(OneLine, longest=80, example="Lagos State"):
    """A state, province or county."""


class PostalCode(OneLine, longest=20, example="101241"):
    """A postal code."""


class TaxLabel(OneLine, longest=40, example="TIN"):
    """The kind of a tax number, as it is called there."""


class TaxDigits(OneLine, longest=60, example="12345678-0001"):
    """A tax number."""


class ReceiptFooter(Paragraphs, longest=500, example="Thank you. Goods are exchanged for 7 days."):
    """Words at the foot of each receipt."""

    @classmethod
    def check(cls, value: str) -> str:
        """Of few lines, none of which turns the direction of the others."""
        words = super().check(value)
        cls.refuse_turning(words)
        if len(words.splitlines()) > FOOTER_LINES_MAX:
            raise ValueError(f"must have at most {FOOTER_LINES_MAX} lines")
        return words


class ServicePercent(
    Bounded,
    is_money=False,
    exclusiveMinimum=0,
    maximum=100,
    decimals=2,
    wrong="must be more than 0 and at most 100, in per cent",
    example=12.5,
):
    """A share in per cent that is charged for service, with at most two decimals."""

    __slots__ = ()


class NewPostalAddress(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """An address, as a whole."""

    lines: Annotated[list[AddressLine], Meta(min_length=1, max_length=4)]
    """The lines above the city, such as street and number."""
    city: City
    """The city or town."""
    region: Region | None = None
    """The state, province or county."""
    postal_code: PostalCode | None = None
    """The postal code, where there are any."""
    country: CountryCode | None = None
    """The country, where the address names it."""


class NewTaxNumber(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A tax number with its kind."""

    label: TaxLabel
    """The kind of number, such as TIN or VAT."""
    number: TaxDigits
    """The number itself."""


class BusinessPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of the business; absent fields stay, null takes away."""

    name: Name | UnsetType = UNSET
    """The name that customers and members read."""
    type: BusinessType | UnsetType = UNSET
    """The line of business."""
    country: CountryCode | UnsetType = UNSET
    """The country, by which telephone numbers without a code are read."""
    time_zone: ZoneName | UnsetType = UNSET
    """The time zone of the business's days; it stands once live sales are recorded."""
    tax_inclusive: bool | UnsetType = UNSET
    """Whether prices include tax, of orders from now on."""
    stock_policy: StockPolicy | UnsetType = UNSET
    """Whether more can be sold than there is, where the variant doesn't say."""
    restocks_cancelled: bool | UnsetType = UNSET
    """Whether the goods of a cancelled order are back in stock."""
    service_charge_percent: ServicePercent | UnsetType | None = UNSET
    """The share that is charged for service, in per cent, of orders from now on that name no
    charge; null: none."""
    service_charge_modes: Annotated[list[ServiceMode], Meta(max_length=3)] | UnsetType = UNSET
    """The service modes of the orders that are so charged, each once; the list is replaced as a
    whole."""
    legal_name: LegalName | UnsetType | None = UNSET
    """The name under which the business is registered, on receipts."""
    address: NewPostalAddress | UnsetType | None = UNSET
    """The address of the business, on receipts; it is replaced as a whole."""
    tax_numbers: Annotated[list[NewTaxNumber], Meta(max_length=5)] | UnsetType = UNSET
    """Tax numbers, on receipts; the list is replaced as a whole."""
    receipt_footer: ReceiptFooter | UnsetType | None = UNSET
    """Words at the foot of each receipt."""


class BusinessShown(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The business, the same in both environments."""

    id: UUID
    name: str
    type: BusinessType
    """The line of business."""
    currency: str
    country: str
    time_zone: str
    tax_inclusive: bool
    """Whether prices include tax, of orders from now on."""
    stock_policy: StockPolicy
    """Whether more can be sold than there is, where the variant doesn't say."""
    restocks_cancelled: bool
    """Whether the goods of a cancelled order are back in stock."""
    service_charge_percent: Decimal | None
    """The share that is charged for service, in per cent, of orders from now on that name no
    charge."""
    service_charge_modes: list[ServiceMode]
    """The service modes of the orders that are so charged."""
    legal_name: str | None
    """The name under which the business is registered, on receipts."""
    address: PostalAddress | None
    """The address of the business, on receipts."""
    tax_numbers: list[TaxNumber]
    """Tax numbers, on receipts."""
    receipt_footer: str | None
    """Words at the foot of each receipt."""
    created_at: Timestamp
    updated_at: Timestamp
