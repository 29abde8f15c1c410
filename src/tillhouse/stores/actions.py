"""Stores and staff: make, show, change and delete."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_country
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, check, existing
from tillhouse.kit.ids import BookKey, StoreId, UserId, new_id
from tillhouse.kit.page import Deleted, Paged, PageOf, meta
from tillhouse.kit.partial import facts_of, merged
from tillhouse.stock.store.levels import has_stock
from tillhouse.stores import rules
from tillhouse.stores import store as staff_store
from tillhouse.stores.store import STORES, has_tables
from tillhouse.stores.types import NewStore, Staff, Store, StorePatch


async def list_stores(call: Call, wanted: Paged) -> PageOf[Store]:
    """One page of the stores."""
    return await STORES.page(call.db, call.book.id, wanted.pick())


async def show_store(call: Call, store_id: StoreId) -> Store:
    """One store."""
    return existing(await STORES.show(call.db, call.book.id, store_id))


async def create_store(call: Call, new: NewStore) -> Store:
    """Make a store."""
    country = await find_country(call.db, call.business_id)
    check(rules.store_faults(new, country))
    facts = rules.clean_store(facts_of(rules.StoreFields, new), country)
    key = BookKey(call.book.id, new_id())
    await STORES.insert(call.db, key, facts, call.now)
    return await show_store(call, StoreId(key.id))


async def store_faults(call: Call, asked: NewStore | StorePatch) -> list[FieldError]:
    """The faults of a store, new or changed."""
    country = await find_country(call.db, call.business_id)
    return rules.store_faults(asked, country)


async def store_patch_faults(call: Call, store_id: StoreId, patch: StorePatch) -> list[FieldError]:
    """The faults of a change of a store, if there is one."""
    await show_store(call, store_id)
    return await store_faults(call, patch)


async def change_store(call: Call, store_id: StoreId, patch: StorePatch) -> Store:
    """Change the fields that the patch names."""
    before = existing(await STORES.lock(call.db, call.book.id, store_id))
    country = await find_country(call.db, call.business_id)
    check(rules.store_faults(patch, country))
    old = facts_of(rules.StoreFields, before)
    facts = rules.clean_store(merged(old, patch), country)
    if facts == old:
        return before
    await STORES.update(call.db, BookKey(call.book.id, store_id), facts, call.now)
    return await show_store(call, store_id)


async def delete_store(call: Call, store_id: StoreId) -> Deleted:
    """Take a store out of the list; orders of it stay as they are."""
    existing(await STORES.lock(call.db, call.book.id, store_id))
    if await has_tables(call.db, call.book.id, store_id):
        raise rules.HasTables
    # Asked once the store is ours: stock that was on its way here has been waited for.
    if await has_stock(call.db, call.book.id, store_id):
        raise rules.HasStock
    await STORES.delete(call.db, BookKey(call.book.id, store_id), call.now)
    return Deleted(store_id, iso(call.now))


async def list_staff(call: Call, wanted: Paged) -> PageOf[Staff]:
    """One page of the staff of the business."""
    total = await staff_store.count_staff(call.db, call.business_id)
    found = await staff_store.list_staff(call.db, call.business_id, wanted.pick())
    return PageOf(found, meta(wanted.pick(), total))


async def show_staff(call: Call, staff_id: UUID) -> Staff:
    """A member of the staff of the business."""
    return existing(await staff_store.show_staff(call.db, call.business_id, UserId(staff_id)))
