"""Categories: list, make, show, change, delete."""

from msgspec import UNSET

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import Conflict, Missing
from tillhouse.kit.ids import CategoryId, new_id
from tillhouse.kit.page import Paged, PageOf, meta
from tillhouse.products.store import categories as store
from tillhouse.products.types import Category, CategoryPatch, NewCategory


async def list_page(call: Call, wanted: Paged) -> PageOf[Category]:
    """One page, in the business's order."""
    page = wanted.pick()
    total = await store.count_categories(call.db, call.book.id)
    return PageOf(await store.list_categories(call.db, call.book.id, page), meta(page, total))


async def create(call: Call, new: NewCategory) -> Category:
    """Make a category; its name is its own, whatever the case."""
    category_id = CategoryId(new_id())
    what = (str(new.name), new.position)
    await store.insert_category(call.db, call.book.id, category_id, what, call.now)
    return await show(call, category_id)


async def show(call: Call, category_id: CategoryId) -> Category:
    """One category."""
    found = await store.show_category(call.db, call.book.id, category_id)
    if found is None:
        raise Missing
    return found


async def change(call: Call, category_id: CategoryId, patch: CategoryPatch) -> Category:
    """Change what the patch names."""
    old = await _lock(call, category_id)
    name = old.name if patch.name is UNSET else str(patch.name)
    position = old.position if patch.position is UNSET else patch.position
    if (name, position) == (old.name, old.position):
        return old
    what = (name, position)
    await store.update_category(call.db, call.book.id, category_id, what, call.now)
    return await show(call, category_id)


async def delete(call: Call, category_id: CategoryId) -> Deleted:
    """Remove a category that holds no product."""
    await _lock(call, category_id)
    product = await store.find_product_in(call.db, call.book.id, category_id)
    if product is not None:
        raise Conflict(
            f"The category holds products, {product} for one: give them another category first."
        )
    await store.delete_category(call.db, call.book.id, category_id, call.now)
    return Deleted(category_id, iso(call.now))


async def _lock(call: Call, category_id: CategoryId) -> Category:
    found = await store.lock_category(call.db, call.book.id, category_id)
    if found is None:
        raise Missing
    return found
