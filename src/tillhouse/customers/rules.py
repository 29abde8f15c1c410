"""Rules of customers: their stored form and the faults of a new or changed one. Pure decisions."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.customers.events import CONTACT_CREATED, CONTACT_UPDATED
from tillhouse.customers.types import Customer, CustomerPatch, NewCustomer, WantedCustomer
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, Refused
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BusinessId, CustomerId
from tillhouse.kit.partial import faults
from tillhouse.kit.phone import e164, looks_like_phone
from tillhouse.kit.text import email_address
from tillhouse.webhooks.events import ChangeData

# The id that a filter gives when it fits no customer: no row has it.
NO_CUSTOMER = CustomerId(UUID(int=0))

_SEPARATORS = re.compile(r"[\s!-/:-@\[-`{-~]+")
_DIGITS_MIN = 5


class TwoPeople(
    Refused,
    message="The e-mail address and the phone number belong to two different customers.",
):
    """One person was meant, and two were found."""


class Contact(msgspec.Struct, frozen=True, kw_only=True):
    """The stored fields of a customer, each part in its one spelling."""

    name: str
    email: str | None = None
    phone_number: str | None = None
    whatsapp_number: str | None = None
    notes: str | None = None


_ON_WIRE = {field.name: field.encode_name for field in msgspec.structs.fields(Customer)}


class CustomerSearch(msgspec.Struct, frozen=True):
    """A search: words of a name, a phone number, or an e-mail address."""

    words: str | None = None
    phone_number: str | None = None
    email: str | None = None


def number_faults(asked: NewCustomer | CustomerPatch, country: str) -> list[FieldError]:
    """The faults of the numbers of a customer."""

    def rule(name: str) -> Callable[[], Iterator[FieldError]]:
        return lambda: _number_errors(getattr(asked, name), name, country)

    return faults(rule("phone_number"), rule("whatsapp_number"))


def _number_errors(text: Any, name: str, country: str) -> Iterator[FieldError]:
    if text:
        try:
            e164(text, country)
        except ValueError as error:
            yield FieldError(name, str(error))


def new_contact(new: NewCustomer, country: str) -> Contact:
    """The customer as asked for."""
    return Contact(
        name=str(new.name),
        email=str(new.email) if new.email else None,
        phone_number=new.phone_number.e164(country) if new.phone_number else None,
        whatsapp_number=new.whatsapp_number.e164(country) if new.whatsapp_number else None,
        notes=_noted(new.notes),
    )


def changed_contact(old: Contact, patch: CustomerPatch, country: str) -> Contact:
    """The customer as after the change."""

    def after(name: str, meaning: Callable[[Any], str | None]) -> Any:
        asked = getattr(patch, name)
        return getattr(old, name) if asked is UNSET else meaning(asked)

    def number(asked: str | None) -> str | None:
        return e164(asked, country) if asked else None

    return Contact(
        name=after("name", str),
        email=after("email", lambda asked: str(asked) if asked else None),
        phone_number=after("phone_number", number),
        whatsapp_number=after("whatsapp_number", number),
        notes=after("notes", _noted),
    )


def _noted(notes: str | None) -> str | None:
    return (notes or "").strip() or None


def contact_of(customer: Customer) -> Contact:
    """The stored fields of somebody."""
    return Contact(**{name: getattr(customer, name) for name in Contact.__struct_fields__})


def changes(old: Contact, new: Contact) -> list[str]:
    """The fields that differ."""
    return [name for name in Contact.__struct_fields__ if getattr(old, name) != getattr(new, name)]


def creation(
    business_id: BusinessId, customer_id: CustomerId, contact: Contact, now: datetime
) -> tuple[EventType, ChangeData]:
    """The event of somebody new, with all that is known of them."""
    known = [name for name in Contact.__struct_fields__ if getattr(contact, name) is not None]
    told = _told(business_id, customer_id, contact, known, now)
    return CONTACT_CREATED, ChangeData(**told, event_type=CONTACT_CREATED.code)


def update(
    business_id: BusinessId,
    customer_id: CustomerId,
    contact: Contact,
    changed: list[str],
    now: datetime,
) -> tuple[EventType, ChangeData]:
    """The event of somebody changed, with the fields that did."""
    told = _told(business_id, customer_id, contact, changed, now)
    return CONTACT_UPDATED, ChangeData(**told, event_type=CONTACT_UPDATED.code)


def _told(
    business_id: BusinessId,
    customer_id: CustomerId,
    contact: Contact,
    fields: list[str],
    now: datetime,
) -> dict[str, Any]:
    return {
        "business_id": business_id,
        "entity_type": "customer",
        "entity_id": customer_id,
        "store_id": None,
        "metadata": {_ON_WIRE[name]: getattr(contact, name) for name in ["name", *fields]},
        "occurred_at": iso(now),
    }


def taken(contact: Contact, others: list[Customer]) -> Conflict:
    """The refusal of a phone number or an e-mail address that is somebody's already."""
    errors: list[FieldError] = []
    for other in others:
        for name, words in (("phone_number", "phone number"), ("email", "e-mail address")):
            value = getattr(contact, name)
            if value is not None and value == getattr(other, name):
                message = f"is the {words} of the customer {other.id}"
                errors.append(FieldError(name, message))
    who = " and ".join(f"{other.name} ({other.id})" for other in others)
    what = "this phone number or e-mail address"
    return Conflict(f"{who} has {what} already: update that customer instead.", details=errors)


def wanted_contact(wanted: WantedCustomer, country: str) -> Contact:
    """Somebody to be made, if none is found; without a name, called by address or number."""
    email = email_address(wanted.email) if wanted.email else None
    number = e164(wanted.phone_number, country) if wanted.phone_number else None
    name = " ".join((wanted.name or "").split()) or email or number
    if name is None:
        raise ValueError("somebody without name, address and number can't be wanted")
    return Contact(name=name, email=email, phone_number=number)


def wanted_faults(wanted: WantedCustomer, country: str) -> list[FieldError]:
    """The faults of somebody who is wanted."""
    found: list[FieldError] = []
    if wanted.phone_number:
        field = wanted.at + "phone_number"
        found += list(_number_errors(wanted.phone_number, field, country))
    if wanted.email:
        try:
            email_address(wanted.email)
        except ValueError as error:
            found.append(FieldError(wanted.at + "email", str(error)))
    return found


def is_international(number: str | None) -> bool:
    """Whether a number says itself which country it belongs to."""
    return (number or "").strip().startswith("+")


def number_or_unknown(number: str, country: str) -> str:
    """A number to look for; another text is looked for as it is, and found nowhere."""
    try:
        return e164(number, country)
    except ValueError:
        return number


def asked(search: str, country: str) -> CustomerSearch:
    """The search that a text stands for, by how it is written."""
    if "@" in search:
        try:
            return CustomerSearch(email=email_address(search))
        except ValueError:
            return CustomerSearch(words=search)
    digits = sum(character.isdigit() for character in search)
    if digits >= _DIGITS_MIN and looks_like_phone(search):
        return CustomerSearch(phone_number=number_or_unknown(search, country))
    return CustomerSearch(words=search)


def word_query(words: str) -> str:
    """A text search for names in which each of these words begins a word."""
    # Quoted, a word is only a word: no operator of the query's language gets through.
    return " & ".join(f"'{word}':*" for word in _SEPARATORS.split(words) if word)


def plain_words(words: str) -> list[str]:
    """The words of a text that every text with such a word contains letter by letter."""
    found = (word for word in _SEPARATORS.split(words))
    return [word for word in found if word.isascii() and word.isalnum()]
