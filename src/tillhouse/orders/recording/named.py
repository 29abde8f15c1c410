"""The rows that a new order names: their ids, and the facts about them.

The customer is one that is known, or one that is made with the order.
"""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.customers.rules import Contact, creation, wanted_contact
from tillhouse.customers.store import lock_names
from tillhouse.customers.types import WantedCustomer
from tillhouse.db.pool import Db
from tillhouse.kit.ids import CustomerId, new_id
from tillhouse.kit.partial import InvalidField, given
from tillhouse.orders.recording.facts import RecordingFacts
from tillhouse.orders.recording.rules.sale import uuid_of
from tillhouse.orders.recording.store.facts import NamedIds, StoreKey, find_facts
from tillhouse.orders.recording.store.record_statement import (
    BookCurrency,
    OrderToRecord,
    insert_orders,
    insert_orders_of_newcomers,
)
from tillhouse.orders.types import CustomerShown, NewItem, NewOrder
from tillhouse.webhooks.emit import Event


async def facts_of(call: Call, new: NewOrder) -> RecordingFacts:
    """The facts that the order rests on."""
    key, wanted = store_key_of(call, new), wanted_of(call, new)
    weight = 1 + len(wanted.products)
    found = await call.services.batcher.read(call.db, find_facts, key, wanted, weight=weight)
    return found.of(wanted)


def store_key_of(call: Call, new: NewOrder) -> StoreKey:
    """The book and the store that the order names."""
    return call.book.id, given(new, "store_id"), given(new, "store_name")


def wanted_of(call: Call, new: NewOrder) -> NamedIds:
    """The ids that the order names, as far as they can be read."""
    items: list[NewItem] = given(new, "items") or []
    named = [ids for ids in map(_ids, items) if ids.product]
    return NamedIds(
        customer_id=given(new, "customer_id"),
        customer_name=name_of(given(new, "customer_id"), given(new, "customer_name")),
        session_id=given(new, "table_session_id"),
        server_id=given(new, "served_by_user_id"),
        term_id=given(new, "academic_term_id"),
        reservation_id=given(new, "hotel_reservation_id"),
        room_id=given(new, "hotel_room_id"),
        products=list({ids.product for ids in named if ids.product}),
        variants=list({ids.variant for ids in named if ids.variant}),
        bare_products=list({ids.product for ids in named if ids.product and not ids.variant}),
        tags=[tag for tag in map(uuid_of, given(new, "tags") or []) if tag],
        options=list({option for ids in named for option in ids.options}),
        key=call.claim.key if call.claim else None,
    )


class _Ids(msgspec.Struct):
    product: UUID | None = None
    variant: UUID | None = None
    options: Sequence[UUID] = ()


def _ids(item: NewItem) -> _Ids:
    ids = _Ids()
    with suppress(InvalidField):
        ids.product = item.product_id
        ids.variant = item.variant_id
        ids.options = [modifier.modifier_option_id for modifier in item.modifiers or ()]
    return ids


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
