"""Requests and answers of the customer routes."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.page import PagedByChange
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.text import OneLine
from tillhouse.kit.values import Email, Search

NOTES_LENGTH_MAX = 2_000

Notes = Annotated[str, Meta(max_length=NOTES_LENGTH_MAX)]
# A filter of no known form fits no customer, which is an answer as well.
Filter = Annotated[str, Meta(max_length=254)]


class PersonName(OneLine, longest=120, counts_blanks=True, is_spelt=True, example="Chinedu Eze"):
    """The name of a customer: people have names of one letter, too."""

    @classmethod
    def check(cls, value: str) -> str:
        """A line break is told before the length."""
        cls.refuse_breaks(value.strip())
        return super().check(value)


class NewCustomer(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A customer to be made."""

    name: PersonName
    email: Email | None = None
    phone_number: PhoneText | None = None
    whatsapp_number: PhoneText | None = None
    notes: Notes | None = None


class CustomerPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a customer; absent fields stay, null clears."""

    name: PersonName | UnsetType = UNSET
    email: Email | UnsetType | None = UNSET
    phone_number: PhoneText | UnsetType | None = UNSET
    whatsapp_number: PhoneText | UnsetType | None = UNSET
    notes: Notes | UnsetType | None = UNSET


class WantedCustomer(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody to be found, or made: at least one of the three is given.

    `at` is where they stand in the request, such as `customer.`, for the faults that name them.
    """

    name: str | None = None
    email: str | None = None
    phone_number: str | None = None
    at: str = ""


class Customer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A customer."""

    id: UUID
    name: str
    email: str | None
    phone_number: str | None
    whatsapp_number: str | None
    notes: str | None
    credit_balance: Decimal
    """The amount that the customer has to come, and can spend on orders."""
    created_at: Timestamp
    updated_at: Timestamp


class CustomerFilter(PagedByChange):
    """Which customers, and which page of them."""

    search: Search | None = None
    email: Filter | None = None
    phone: Filter | None = None
