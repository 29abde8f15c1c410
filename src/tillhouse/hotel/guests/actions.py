"""Guests: list, show, make, find, change and delete."""

from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.customers.actions import find_or_create, wanted_faults
from tillhouse.customers.rules import word_query
from tillhouse.hotel.guests import rules, store
from tillhouse.hotel.guests.store import GUESTS
from tillhouse.hotel.guests.types import Guest, GuestFilter, GuestPatch, NewGuest
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, existing
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.kit.page import Deleted, PageOf
from tillhouse.kit.partial import InvalidField, facts_of, merged


class KnownGuest(msgspec.Struct, frozen=True):
    """A guest for whom a room is booked."""

    id: UUID
    name: str
    is_new: bool


async def list_page(call: Call, wanted: GuestFilter) -> PageOf[Guest]:
    """One page of the guests that fit, the newest first."""
    words = word_query(wanted.search) if wanted.search else None
    narrowed = {"customer_id": wanted.customer_id, "words": words}
    return await GUESTS.page(call.db, call.book.id, wanted.pick(), **narrowed)


async def show(call: Call, guest_id: UUID) -> Guest:
    """One guest."""
    return existing(await GUESTS.show(call.db, call.book.id, guest_id))


async def create(call: Call, new: NewGuest) -> Guest:
    """Make a guest of a customer, who is found or made."""
    guest = await find_or_make(call, new)
    if not guest.is_new:
        raise rules.is_guest_already(guest.id)
    return await show(call, guest.id)


async def find_or_make(call: Call, new: NewGuest, at: str = "") -> KnownGuest:
    """The guest that the customer is already, else a new one."""
    customer_id, _ = await find_or_create(call, rules.wanted_customer(new, at))
    key, facts = BookKey(call.book.id, new_id()), facts_of(rules.GuestFacts, new)
    row = await store.upsert_guest(call.db, key, customer_id, facts, call.now)
    return KnownGuest(row["id"], row["name"], row["is_new"])


async def new_faults(call: Call, new: NewGuest, at: str = "") -> list[FieldError]:
    """The faults of a new guest."""
    try:
        return await wanted_faults(call, rules.wanted_customer(new, at))
    except InvalidField:
        return []


async def change(call: Call, guest_id: UUID, patch: GuestPatch) -> Guest:
    """Change the fields that the patch names."""
    before = existing(await GUESTS.lock(call.db, call.book.id, guest_id))
    old = facts_of(rules.GuestFacts, before)
    facts = merged(old, patch)
    if facts == old:
        return before
    await GUESTS.update(call.db, BookKey(call.book.id, guest_id), facts, call.now)
    return await show(call, guest_id)


async def delete(call: Call, guest_id: UUID) -> Deleted:
    """Take a guest who isn't expected out of the list; the customer stays."""
    existing(await GUESTS.lock(call.db, call.book.id, guest_id))
    if await store.has_open_reservation(call.db, call.book.id, guest_id):
        raise rules.GuestHasReservations
    await GUESTS.delete(call.db, BookKey(call.book.id, guest_id), call.now)
    return Deleted(guest_id, iso(call.now))
