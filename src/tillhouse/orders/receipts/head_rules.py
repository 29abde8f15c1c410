"""The head of a receipt: its seller, with the particulars that it bears, and the foot. Pure."""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from tillhouse.kit.countries import country_name


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


PLACE_LINES_MAX = 8


class Head(Protocol):
    """The seller as any type of receipt keeps it."""

    @property
    def business(self) -> str:
        """The name that customers know."""
        ...

    @property
    def store(self) -> str | None:
        """The name of the store."""
        ...

    @property
    def address(self) -> str | None:
        """The address of the store."""
        ...

    @property
    def phone(self) -> str | None:
        """The telephone number of the store."""
        ...

    @property
    def imprint(self) -> Imprint:
        """The particulars of the business."""
        ...


def place_lines(head: Head) -> list[str]:
    """Where it was sold and by which business, a line each."""
    return [*_store_lines(head), *_business_lines(head)]


def closing_lines(imprint: Imprint) -> list[str]:
    """The words at the foot, a line each."""
    return [line for line in (imprint.footer or "").splitlines() if line.strip()]


def _store_lines(head: Head) -> list[str]:
    """A store that is called as the business isn't named again."""
    named = head.store if head.store != head.business else None
    lines = [named or "", *(head.address or "").splitlines(), head.phone or ""]
    lines = [line.strip() for line in lines if line.strip()]
    # An address of many short lines would push everything else down the page.
    return lines if len(lines) <= PLACE_LINES_MAX else [", ".join(lines)]


def _business_lines(head: Head) -> Iterator[str]:
    """A legal name that is that of the business isn't told again."""
    imprint = head.imprint
    if imprint.legal_name and imprint.legal_name != head.business:
        yield imprint.legal_name
    if imprint.address:
        yield _on_a_line(imprint.address)
    for one in imprint.tax_numbers:
        yield f"{one.label} {one.number}"


def _on_a_line(address: PostalAddress) -> str:
    town = " ".join(part for part in (address.postal_code, address.city) if part)
    country = country_name(address.country) if address.country else None
    parts = (*address.lines, town, address.region, country)
    return ", ".join(part for part in parts if part)
