"""Groups of modifiers: list, make, show, change, delete."""

from functools import partial
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.access.store.businesses import find_currency
from tillhouse.db.where import rows_of
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, FieldError, Missing, check, existing
from tillhouse.kit.ids import new_id
from tillhouse.kit.page import Deleted, Paged, PageOf, meta
from tillhouse.products.modifier_rules import group_faults
from tillhouse.products.store import modifiers as store
from tillhouse.products.types import (
    GivenModifierOption,
    ModifierGroup,
    ModifierGroupPatch,
    ModifierOption,
    NewModifierGroup,
    NewModifierOption,
)


async def list_page(call: Call, wanted: Paged) -> PageOf[ModifierGroup]:
    """One page, the newest first."""
    page = wanted.pick()
    total = await store.count_groups(call.db, call.book.id)
    listed = partial(store.list_groups, call.db, call.book.id)
    return PageOf(await rows_of(listed, page, total), meta(page, total))


async def create(call: Call, new: NewModifierGroup) -> ModifierGroup:
    """Make a group with its options."""
    check(await new_faults(call, new))
    group_id = new_id()
    what = (str(new.name), new.min_choices, new.max_choices)
    options = [_option(one, new_id()) for one in new.options]
    await store.upsert_group(call.db, call.book.id, group_id, what, options, call.now)
    return await show(call, group_id)


async def new_faults(call: Call, new: NewModifierGroup) -> list[FieldError]:
    """Everything against a new group."""
    return group_faults(new, await find_currency(call.db, call.book.id))


async def show(call: Call, modifier_group_id: UUID) -> ModifierGroup:
    """One group."""
    return existing(await store.show_group(call.db, call.book.id, modifier_group_id))


async def change(call: Call, modifier_group_id: UUID, patch: ModifierGroupPatch) -> ModifierGroup:
    """Change the fields that the patch names; a list of options keeps, adds and removes."""
    if not await store.lock_group(call.db, call.book.id, modifier_group_id):
        raise Missing
    old = await show(call, modifier_group_id)
    currency = await find_currency(call.db, call.book.id)
    check(group_faults(patch, currency, old))
    options = old.options
    if patch.options is not UNSET:
        options = [_option(one, one.id or new_id()) for one in patch.options]
    name = old.name if patch.name is UNSET else str(patch.name)
    least = old.min_choices if patch.min_choices is UNSET else patch.min_choices
    most = old.max_choices if patch.max_choices is UNSET else patch.max_choices
    asked = msgspec.structs.replace(
        old, name=name, min_choices=least, max_choices=most, options=options
    )
    if asked == old:
        return old
    what = (name, least, most)
    await store.upsert_group(call.db, call.book.id, modifier_group_id, what, options, call.now)
    return await show(call, modifier_group_id)


async def patch_faults(
    call: Call, modifier_group_id: UUID, patch: ModifierGroupPatch
) -> list[FieldError]:
    """Everything against a change of a group."""
    old = await show(call, modifier_group_id)
    return group_faults(patch, await find_currency(call.db, call.book.id), old)


async def delete(call: Call, modifier_group_id: UUID) -> Deleted:
    """Remove a group that no product offers."""
    if not await store.lock_group(call.db, call.book.id, modifier_group_id):
        raise Missing
    product = await store.find_product_with(call.db, call.book.id, modifier_group_id)
    if product is not None:
        raise Conflict(f"Products offer this group, {product} for one: take it from them first.")
    await store.delete_group(call.db, call.book.id, modifier_group_id, call.now)
    return Deleted(modifier_group_id, iso(call.now))


def _option(given: NewModifierOption | GivenModifierOption, option_id: UUID) -> ModifierOption:
    return ModifierOption(
        id=option_id,
        name=str(given.name),
        price_delta=given.price_delta,
        is_active=given.is_active,
    )
