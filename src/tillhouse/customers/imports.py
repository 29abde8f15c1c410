"""Customers from a table: every row is judged before the first is written."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import msgspec

from tillhouse.customers import rules, store
from tillhouse.customers.rules import Contact
from tillhouse.customers.types import Customer, Notes, PersonName
from tillhouse.db.pool import Db
from tillhouse.kit.errors import FieldError
from tillhouse.kit.ids import BookId, CustomerId, new_id
from tillhouse.kit.imported import Imported, RowFault
from tillhouse.kit.phone import PhoneText
from tillhouse.kit.values import Email
from tillhouse.webhooks.emit import Source, emit_all_from

T = TypeVar("T")

# So many at a time: a statement stays far below its time limit.
_BATCH = 500


class CustomerRow(msgspec.Struct, kw_only=True):
    """A row of the table."""

    name: PersonName
    email: Email | None = None
    phone: PhoneText | None = None
    whatsapp: PhoneText | None = None
    notes: Notes | None = None


class _Known:
    """The customers that exist already, by number, by address, and by name."""

    def __init__(self) -> None:
        self.by_number: dict[str | None, Customer] = {}
        self.by_address: dict[str | None, Customer] = {}
        self.names: set[str] = set()

    def of(self, contact: Contact) -> list[Customer]:
        """The customers of a row: none yet, one, or two, which is one too many."""
        found = (self.by_number.get(contact.phone_number), self.by_address.get(contact.email))
        return list({one.id: one for one in found if one}.values())


async def import_customers(
    db: Db,
    origin: Source,
    rows: Sequence[CustomerRow],
    now: datetime,
    done: Callable[[int], None],
) -> Imported:
    """Make and change customers by number and address, in the caller's transaction.

    All of them, or none. A row without either is about whoever has its name, and changes nothing
    of them. An empty cell changes nothing either.
    """
    country = await store.find_country(db, origin.book.id)
    contacts, faults = _contacts(rows, country)
    known = await _look(db, origin.book.id, list(contacts.values()))
    faults += _ambiguous(contacts, known)
    if faults:
        return Imported(faults=sorted(faults, key=lambda fault: fault.row_no))
    new = [one for one in contacts.values() if not known.of(one) and _name_is_new(one, known)]
    result = Imported(unchanged=len(rows) - len(new))
    done(result.unchanged)
    for before, after in _changed(contacts.values(), known):
        await _change(db, origin, before, after, now)
        result.updated += 1
        result.unchanged -= 1
    for batch in _batches(new):
        made = await _make(db, origin, batch, now)
        result.created += made
        result.unchanged += len(batch) - made
        done(len(batch))
    return result


def _contacts(
    rows: Sequence[CustomerRow], country: str
) -> tuple[dict[int, Contact], list[RowFault]]:
    """The fields to store of each row, by its index, and the faults of the others."""
    contacts: dict[int, Contact] = {}
    faults: list[RowFault] = []
    seen: set[tuple[str, str]] = set()
    for row_no, row in enumerate(rows):
        errors = [*_number_errors(row, country)]
        if not errors:
            contact = _contact(row, country)
            errors = [*_repeated(contact, seen)]
            contacts[row_no] = contact
        faults += [RowFault(row_no, error) for error in errors]
    return contacts, faults


def _number_errors(row: CustomerRow, country: str) -> Iterator[FieldError]:
    for name in ("phone", "whatsapp"):
        number: PhoneText | None = getattr(row, name)
        try:
            _ = number and number.e164(country)
        except ValueError as error:
            yield FieldError(name, str(error))


def _contact(row: CustomerRow, country: str) -> Contact:
    return Contact(
        name=str(row.name),
        email=str(row.email) if row.email else None,
        phone_number=row.phone.e164(country) if row.phone else None,
        whatsapp_number=row.whatsapp.e164(country) if row.whatsapp else None,
        notes=(row.notes or "").strip() or None,
    )


def _ambiguous(contacts: dict[int, Contact], known: _Known) -> Iterator[RowFault]:
    """Rows whose customer, or whose change, is ambiguous."""
    seen: set[UUID] = set()
    for row_no, contact in contacts.items():
        found = known.of(contact)
        if len(found) > 1:
            yield RowFault(row_no, FieldError("email", "is one customer's, and phone another's"))
        elif found and found[0].id in seen:
            yield RowFault(row_no, FieldError("email", "is the customer of a line above already"))
        seen |= {one.id for one in found}


def _repeated(contact: Contact, seen: set[tuple[str, str]]) -> Iterator[FieldError]:
    for column, value in (("phone", contact.phone_number), ("email", contact.email)):
        if value is not None:
            if (column, value) in seen:
                yield FieldError(column, "stands in a line above already")
            seen.add((column, value))


async def _look(db: Db, book_id: BookId, contacts: Sequence[Contact]) -> _Known:
    known = _Known()
    for batch in _batches(contacts):
        numbers = [one.phone_number for one in batch if one.phone_number]
        addresses = [one.email for one in batch if one.email]
        for customer in await store.lock_reachable(db, book_id, numbers, addresses):
            known.by_number[customer.phone_number] = customer
            known.by_address[customer.email] = customer
        names = [one.name for one in batch if _is_bare(one)]
        known.names |= {name.lower() for name in await store.list_named(db, book_id, names)}
    # A row without a number matches no customer by number.
    known.by_number.pop(None, None)
    known.by_address.pop(None, None)
    return known


def _is_bare(contact: Contact) -> bool:
    return contact.phone_number is None and contact.email is None


def _name_is_new(contact: Contact, known: _Known) -> bool:
    if not _is_bare(contact):
        return True
    name = contact.name.lower()
    is_new = name not in known.names
    known.names.add(name)
    return is_new


def _changed(contacts: Iterable[Contact], known: _Known) -> Iterator[tuple[Customer, Contact]]:
    for contact in contacts:
        for customer in known.of(contact):
            old = rules.contact_of(customer)
            given = {n: v for n, v in msgspec.structs.asdict(contact).items() if v is not None}
            merged = msgspec.structs.replace(old, **given)
            if merged != old:
                yield customer, merged


async def _change(db: Db, origin: Source, before: Customer, after: Contact, now: datetime) -> None:
    changed = rules.changes(rules.contact_of(before), after)
    await store.update_customer(db, origin.book.id, CustomerId(before.id), after, now)
    told = rules.update(origin.business_id, CustomerId(before.id), after, changed, now)
    await emit_all_from(db, origin, [told], now)


async def _make(db: Db, origin: Source, batch: Sequence[Contact], now: datetime) -> int:
    new = {new_id(): contact for contact in batch}
    made = await store.insert_customers(db, origin.book.id, list(new), list(new.values()), now)
    told = [
        rules.creation(origin.business_id, CustomerId(id_), contact, now)
        for id_, contact in new.items()
        if id_ in made
    ]
    await emit_all_from(db, origin, told, now)
    return len(made)


def _batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
