"""The particulars of a business that stand on receipts and bills."""

import msgspec


class PostalAddress(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An address."""

    lines: list[str]
    """The lines above the city, such as street and number."""
    city: str
    """The city or town."""
    region: str | None = None
    """The state, province or county."""
    postal_code: str | None = None
    """The postal code, where there are any."""
    country: str | None = None


class TaxNumber(msgspec.Struct, frozen=True):
    """A tax number with its kind."""

    label: str
    """The kind of number, such as TIN or VAT."""
    number: str
    """The number itself."""


class Imprint(msgspec.Struct, frozen=True, kw_only=True):
    """The particulars, as they were when a receipt was made."""

    legal_name: str | None = None
    address: PostalAddress | None = None
    tax_numbers: list[TaxNumber] = []
    footer: str | None = None
