"""Requests and answers of the routes of guests."""

from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.customers.types import PersonName
from tillhouse.hotel.values import DocumentNumber, HotelText
from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import Paged
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.values import CountryCode, Email, Search

DocumentType = Literal["passport", "national_id", "drivers_license", "other"]


class NewGuest(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Somebody who stays: a customer, found by phone number or e-mail address, or made."""

    name: PersonName
    """Their name, as on their document."""
    phone_number: PhoneText | None = None
    """A customer with this number is the guest; of two customers: the request is refused."""
    email: Email | None = None
    """A customer with this address is the guest; with neither: the customer of this name."""
    document_type: DocumentType | None = None
    """The kind of document that was shown."""
    document_number: DocumentNumber | None = None
    """Its number."""
    nationality: CountryCode | None = None
    """Their country, as an ISO 3166 code."""
    notes: HotelText | None = None
    """Words for those who work there."""


class GuestPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a guest; absent fields stay, null clears.

    Phone number and e-mail address are the customer's: change them there.
    """

    name: PersonName | UnsetType = UNSET
    """Their name, as on their document."""
    document_type: DocumentType | UnsetType | None = UNSET
    """The kind of document that was shown."""
    document_number: DocumentNumber | UnsetType | None = UNSET
    """Its number."""
    nationality: CountryCode | UnsetType | None = UNSET
    """Their country, as an ISO 3166 code."""
    notes: HotelText | UnsetType | None = UNSET
    """Words for those who work there."""


class Guest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Somebody who stays, or has stayed."""

    id: UUID
    customer_id: UUID
    """The customer that the guest is."""
    name: Annotated[str, Meta(examples=["Chinedu Eze"])]
    phone_number: str | None
    """The customer's number."""
    email: str | None
    """The customer's address."""
    document_type: DocumentType | None
    """The kind of document that was shown."""
    document_number: str | None
    """Its number."""
    nationality: str | None
    """Their country, as an ISO 3166 code."""
    notes: str | None
    created_at: Timestamp
    updated_at: Timestamp


class GuestFilter(Paged):
    """Which guests, and which page of them."""

    search: Search | None = None
    """Only guests of whose names a word begins so, for each word."""
    customer_id: UUID | None = None
    """Only the guest that this customer is."""
