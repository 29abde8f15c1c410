"""Categories: list, make, show, change, delete."""

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import Conflict, existing
from tillhouse.kit.ids import BookKey, CategoryId, new_id
from tillhouse.kit.page import Deleted, Paged, PageOf
from tillhouse.products.store.categories import CATEGORIES, find_product_in
from tillhouse.products.types import Category, CategoryPatch, NewCategory


async def list_page(call: Call, wanted: Paged) -> PageOf[Category]:
    """One page, in the business's order."""
    return await CATEGORIES.page(call.db, call.book.id, wanted.pick())


async def create(call: Call, new: NewCategory) -> Category:
    """Make a category; its name is its own, whatever the case."""
    key = BookKey(call.book.id, new_id())
    await CATEGORIES.insert(call.db, key, (str(new.name), new.position), call.now)
    return await show(call, CategoryId(key.id))


async def show(call: Call, category_id: CategoryId) -> Category:
    """One category."""
    return existing(await CATEGORIES.show(call.db, call.book.id, category_id))


async def change(call: Call, category_id: CategoryId, patch: CategoryPatch) -> Category:
    """Change the fields that the patch names."""
    old = existing(await CATEGORIES.lock(call.db, call.book.id, category_id))
    name = old.name if patch.name is UNSET else str(patch.name)
    position = old.position if patch.position is UNSET else patch.position
    if (name, position) == (old.name, old.position):
        return old
    key = BookKey(call.book.id, category_id)
    await CATEGORIES.update(call.db, key, (name, position), call.now)
    return await show(call, category_id)


async def delete(call: Call, category_id: CategoryId) -> Deleted:
    """Remove a category that holds no product."""
    existing(await CATEGORIES.lock(call.db, call.book.id, category_id))
    product = await find_product_in(call.db, call.book.id, category_id)
    if product is not None:
        raise Conflict(
            f"The category holds products, {product} for one: give them another category first."
        )
    await CATEGORIES.delete(call.db, BookKey(call.book.id, category_id), call.now)
    return Deleted(category_id, iso(call.now))
