"""Customers: make, find, change, delete; each change is told to those who subscribe to it."""

from functools import partial
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.customers import rules, store
from tillhouse.customers.listing import store as listing
from tillhouse.customers.types import (
    Customer,
    CustomerFilter,
    CustomerPatch,
    NewCustomer,
    WantedCustomer,
)
from tillhouse.db import changes
from tillhouse.db.pool import Db
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, Invalid, Missing, check, existing
from tillhouse.kit.ids import BookId, CustomerId, new_id
from tillhouse.kit.page import Deleted, PageOf, numbered_meta
from tillhouse.webhooks.emit import emit

# Somebody may make, and delete, the same customer between any two looks; not for ever.
_LOOKS = 5


async def create(call: Call, new: NewCustomer) -> Customer:
    """Make a customer, unless number or address are somebody's already."""
    country = await store.find_country(call.db, call.book.id)
    check(rules.number_faults(new, country))
    contact = rules.new_contact(new, country)
    made = await store.insert_customer(
        call.db, call.book.id, CustomerId(new_id()), contact, call.now
    )
    if made is None:
        await _check_free(call, contact)
        raise Conflict
    await emit(call, *rules.creation(call.business_id, CustomerId(made.id), contact, call.now))
    return made


async def new_faults(call: Call, new: NewCustomer) -> list[FieldError]:
    """The faults of making the customer."""
    return rules.number_faults(new, await store.find_country(call.db, call.book.id))


async def list_page(call: Call, wanted: CustomerFilter) -> PageOf[Customer]:
    """One page of the customers: by change when since, else the newest first."""
    page = wanted.pick()
    matching = await _matching(call, wanted)
    here = call.db, call.book.id
    if wanted.updated_since:
        count = partial(listing.count_matching, *here, matching)
        changed = partial(listing.list_changed, *here, matching)
        return await changes.list_page(call.db, wanted, count, changed)
    if matching.is_everybody:
        found = await listing.find_newest(*here, page)
    else:
        found = await listing.find_matching(*here, matching, page)
    shown = await listing.list_customers(*here, found.ids)
    return PageOf(shown, numbered_meta(page, found.total))


async def show(call: Call, customer_id: CustomerId) -> Customer:
    """One customer."""
    return existing(await store.show_customer(call.db, call.book.id, customer_id))


async def change(call: Call, customer_id: CustomerId, patch: CustomerPatch) -> Customer:
    """Change the fields that the patch names; equal values change nothing."""
    before = existing(await store.lock_customer(call.db, call.book.id, customer_id))
    country = await store.find_country(call.db, call.book.id)
    check(rules.number_faults(patch, country))
    old = rules.contact_of(before)
    contact = rules.changed_contact(old, patch, country)
    changed = rules.changes(old, contact)
    if not changed:
        return before
    if {"phone_number", "email"} & set(changed):
        await _check_free(call, contact, but=customer_id)
    await store.update_customer(call.db, call.book.id, customer_id, contact, call.now)
    told = rules.update(call.business_id, customer_id, contact, changed, call.now)
    await emit(call, *told)
    return await show(call, customer_id)


async def patch_faults(
    call: Call, customer_id: CustomerId, patch: CustomerPatch
) -> list[FieldError]:
    """The faults of the change."""
    await show(call, customer_id)
    return rules.number_faults(patch, await store.find_country(call.db, call.book.id))


async def delete(call: Call, customer_id: CustomerId) -> Deleted:
    """Take a customer out of the list; orders and debts keep who it was."""
    if not await store.delete_customer(call.db, call.book.id, customer_id, call.now):
        raise Missing
    return Deleted(customer_id, iso(call.now))


async def find_or_create(call: Call, wanted: WantedCustomer) -> tuple[CustomerId, bool]:
    """Somebody's id, and whether they are new.

    They are found by number and address when given, which must not be two people's, else by
    their exact name in whatever case, the oldest of that name.
    """
    country = await _country_for(call, wanted)
    check(rules.wanted_faults(wanted, country))
    contact = rules.wanted_contact(wanted, country)
    if contact.phone_number is None and contact.email is None:
        return await _by_name(call, contact)
    for _ in range(_LOOKS):
        rows = await store.upsert_reachable(
            call.db, call.book.id, CustomerId(new_id()), contact, call.now
        )
        if len(rows) > 1:
            raise rules.TwoPeople
        if rows:
            return await _known(call, contact, rows[0]["id"], is_new=rows[0]["is_new"])
    raise Conflict


async def wanted_faults(call: Call, wanted: WantedCustomer) -> list[FieldError]:
    """The faults of looking for somebody: a number or an address that is none."""
    return rules.wanted_faults(wanted, await _country_for(call, wanted))


async def resolve(
    db: Db, book_id: BookId, customer_id: CustomerId | None, email: str | None, phone: str | None
) -> CustomerId | None:
    """The customers that the filters of a list mean.

    None is every customer. Filters that fit none give `rules.NO_CUSTOMER`, an id that no row has.
    """
    if customer_id is not None:
        if email is not None or phone is not None:
            wrong = "can't be combined with customer_email or customer_phone: it says enough"
            raise Invalid.field("customer_id", wrong)
        return customer_id
    if email is None and phone is None:
        return None
    if phone is not None:
        phone = rules.number_or_unknown(phone, await _country_of(db, book_id, phone))
    address = email.strip().lower() if email is not None else None
    row = await store.find_owners(db, book_id, phone, address)
    assert row is not None, "it has no condition"  # noqa: S101
    asked = [row["by_phone"]] if phone is not None else []
    asked += [row["by_email"]] if email is not None else []
    return asked[0] if asked[0] is not None and len(set(asked)) == 1 else rules.NO_CUSTOMER


async def _by_name(call: Call, contact: rules.Contact) -> tuple[CustomerId, bool]:
    # Looked for without a lock first: a name that is sold to all day has no queue before it.
    found = await store.find_named(call.db, call.book.id, contact.name)
    if found is None:
        await store.lock_name(call.db, call.book.id, contact.name)
        found = await store.find_named(call.db, call.book.id, contact.name)
    if found is not None:
        return found, False
    made = await store.insert_customer(
        call.db, call.book.id, CustomerId(new_id()), contact, call.now
    )
    if made is None:
        raise Conflict
    return await _known(call, contact, CustomerId(made.id), is_new=True)


async def _known(
    call: Call, contact: rules.Contact, customer_id: CustomerId, *, is_new: bool
) -> tuple[CustomerId, bool]:
    if is_new:
        await emit(call, *rules.creation(call.business_id, customer_id, contact, call.now))
    return customer_id, is_new


async def _matching(call: Call, wanted: CustomerFilter) -> listing.Matching:
    asked, phone = rules.CustomerSearch(), wanted.phone
    if wanted.search or phone is not None:
        country = await store.find_country(call.db, call.book.id)
        asked = rules.asked(wanted.search, country) if wanted.search else asked
        phone = rules.number_or_unknown(phone, country) if phone is not None else None
    email = wanted.email.strip().lower() if wanted.email is not None else None
    if asked.email and email is not None and asked.email != email:
        # A customer has one address: two fit none.
        email = ""
    return listing.Matching(
        words=rules.word_query(asked.words) if asked.words is not None else None,
        email=asked.email if email is None else email,
        phone_number=phone,
        any_number=asked.phone_number,
        since=wanted.updated_since.at if wanted.updated_since else None,
    )


async def _check_free(call: Call, contact: rules.Contact, but: UUID | None = None) -> None:
    owners = await store.list_owners(call.db, call.book.id, contact, but)
    if owners:
        raise rules.taken(contact, owners)


async def _country_for(call: Call, wanted: WantedCustomer) -> str:
    if not wanted.phone_number:
        return ""
    return await _country_of(call.db, call.book.id, wanted.phone_number)


async def _country_of(db: Db, book_id: BookId, number: str) -> str:
    """The country of a national number; an international one needs none."""
    return "" if rules.is_international(number) else await store.find_country(db, book_id)
