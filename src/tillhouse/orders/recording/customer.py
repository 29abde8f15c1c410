"""The customer whom a new order names: somebody known, or somebody who is made with it."""

from collections.abc import Sequence
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.customers.rules import Contact, creation, wanted_contact
from tillhouse.customers.store import lock_names
from tillhouse.customers.types import WantedCustomer
from tillhouse.db.pool import Db
from tillhouse.kit.ids import CustomerId, new_id
from tillhouse.orders.recording.facts import RecordingFacts
from tillhouse.orders.recording.store.record_statement import (
    BookCurrency,
    OrderToRecord,
    insert_orders,
    insert_orders_of_newcomers,
)
from tillhouse.orders.types import CustomerShown, NewOrder
from tillhouse.webhooks.emit import Event


def name_of(customer_id: UUID | None, name: str | None) -> str | None:
    """The name to look for, where it decides."""
    if customer_id is not None or name is None:
        return None
    return wanted_contact(WantedCustomer(name=str(name)), "").name


def is_unknown(new: NewOrder, facts: RecordingFacts) -> bool:
    """Whether the order names a customer who doesn't exist yet."""
    return facts.customer is None and new.customer_id is None and new.customer_name is not None


def newcomer_of(new: NewOrder) -> CustomerShown:
    """A customer of the name that the order gives, with an id of their own."""
    name = wanted_contact(WantedCustomer(name=str(new.customer_name)), "").name
    return CustomerShown(id=new_id(), name=name, phone_number=None, whatsapp_number=None)


async def insert_with_newcomers(
    db: Db, book: BookCurrency, recordings: Sequence[OrderToRecord]
) -> bool:
    """Record orders in a batch, with the new names of customers locked."""
    names = [one.newcomer.name for one in recordings if one.newcomer]
    if not names:
        return await insert_orders(db, book, recordings)
    # The statement after it sees whom others have made meanwhile.
    await lock_names(db, book[0], names)
    return await insert_orders_of_newcomers(db, book, recordings)


def arrival(call: Call, newcomer: CustomerShown) -> Event:
    """The event of a new customer."""
    contact = Contact(name=newcomer.name)
    return creation(call.business_id, CustomerId(newcomer.id), contact, call.now)
