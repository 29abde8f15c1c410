"""Products: list, make, show, change, delete."""

from functools import partial
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.db import changes
from tillhouse.db.where import rows_of
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Missing, check, existing
from tillhouse.kit.ids import ProductId, new_id
from tillhouse.kit.page import Deleted, PageOf, numbered_meta
from tillhouse.kit.partial import facts_of
from tillhouse.products import making, rules
from tillhouse.products.configuration import Configuration, of_product
from tillhouse.products.events import PRODUCT_CREATED, PRODUCT_DELETED, PRODUCT_UPDATED, ProductData
from tillhouse.products.facts import ExistingProductIds, NamedProductIds
from tillhouse.products.store import facts as fact_store
from tillhouse.products.store import products as store
from tillhouse.products.types import NewProduct, Product, ProductFilter, ProductPatch
from tillhouse.webhooks.emit import emit


async def list_page(call: Call, wanted: ProductFilter) -> PageOf[Product]:
    """One page of the products that fit: by change when since, else by name or the newest first."""
    page = wanted.pick()
    here = call.db, call.book.id
    query = store.ProductQuery(
        search=wanted.search,
        category_id=wanted.category_id,
        type=wanted.type,
        is_active=wanted.is_active,
        out_of_stock=wanted.out_of_stock,
        since=wanted.updated_since.at if wanted.updated_since else None,
    )
    if wanted.updated_since:
        count = partial(store.count_products, *here, query)
        changed = partial(store.list_changed, *here, query)
        return await changes.list_page(call.db, wanted, count, changed)
    total = await store.count_products(*here, query)
    listed = partial(store.list_products, *here, query)
    return PageOf(await rows_of(listed, page, total), numbered_meta(page, total))


async def show(call: Call, product_id: ProductId) -> Product:
    """One product."""
    return existing(await store.show_product(call.db, call.book.id, product_id))


async def create(call: Call, new: NewProduct) -> Product:
    """Make a product with its variants, modifiers and components, all at once."""
    named = rules.named(new)
    if named.has_locks:
        await fact_store.lock_named(call.db, call.book.id, named)
    facts = await fact_store.find_facts(call.db, call.book.id, named)
    check(rules.new_faults(new, facts))
    rules.check_skus(new, facts)
    config = making.new_configuration(new, facts, new_id)
    await store.upsert_products(call.db, call.book.id, [config], call.now)
    made = await show(call, ProductId(config.id))
    await emit(call, PRODUCT_CREATED, data_of(made, made.updated_at))
    return made


async def new_faults(call: Call, new: NewProduct) -> list[FieldError]:
    """Everything against a new product."""
    facts = await fact_store.find_facts(call.db, call.book.id, rules.named(new))
    return rules.new_faults(new, facts)


async def change(call: Call, product_id: ProductId, patch: ProductPatch) -> Product:
    """Change the fields that the patch names; a patch that changes nothing is no change."""
    named = rules.named(patch)
    shown, old = await hold(call, product_id, named)
    facts = await fact_store.find_facts(call.db, call.book.id, named)
    check(rules.patch_faults(patch, old, facts))
    rules.check_skus(patch, facts)
    return await write(call, shown, old, making.changed(old, patch, facts))


async def patch_faults(call: Call, product_id: ProductId, patch: ProductPatch) -> list[FieldError]:
    """Everything against a change of a product."""
    old = of_product(await show(call, product_id))
    facts = await _facts_of(call, rules.named(patch), old)
    return rules.patch_faults(patch, old, facts)


async def delete(call: Call, product_id: ProductId) -> Deleted:
    """Remove a product and its variants; a bundle that contains it stands in the way."""
    named = NamedProductIds()
    shown, _ = await hold(call, product_id, named)
    facts = await fact_store.find_facts(call.db, call.book.id, named)
    rules.check_in_no_bundle(facts.bundle)
    gone_at = await store.delete_product(call.db, call.book.id, product_id, call.now)
    await emit(call, PRODUCT_DELETED, data_of(shown, gone_at))
    return Deleted(product_id, iso(call.now))


async def hold(
    call: Call, product_id: ProductId, named: NamedProductIds
) -> tuple[Product, Configuration]:
    """The product as it stands, held until the change commits, and the named rows held as they are.

    Every change of a product or of its variants begins here, so that they come one by one.
    """
    named.own_product = product_id
    if not await fact_store.lock_named(call.db, call.book.id, named):
        raise Missing
    shown = await show(call, product_id)
    old = of_product(shown)
    named.own_variants = [one.id for one in old.variants]
    return shown, old


async def write(
    call: Call,
    shown: Product,
    old: Configuration,
    config: Configuration,
    gone: tuple[UUID, ...] = (),
) -> Product:
    """Write a product that is held, and tell of it, if anything is other than before."""
    if config == old:
        return shown
    await store.upsert_products(call.db, call.book.id, [config], call.now, gone=gone)
    written = await show(call, ProductId(config.id))
    await emit(call, PRODUCT_UPDATED, data_of(written, written.updated_at))
    return written


async def _facts_of(call: Call, named: NamedProductIds, old: Configuration) -> ExistingProductIds:
    named.own_product = old.id
    named.own_variants = [one.id for one in old.variants]
    return await fact_store.find_facts(call.db, call.book.id, named)


def data_of(product: Product | Configuration, updated_at: str) -> ProductData:
    """The data of product events."""
    return facts_of(ProductData, product, updated_at=updated_at)
