"""Variants: add, change, delete."""

from uuid import UUID

import msgspec

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError, Missing, check, existing
from tillhouse.kit.ids import ProductId, VariantId, new_id
from tillhouse.kit.page import Deleted
from tillhouse.products import making, rules
from tillhouse.products.actions import products
from tillhouse.products.configuration import Configuration, of_product
from tillhouse.products.facts import NamedProductIds
from tillhouse.products.store import facts as fact_store
from tillhouse.products.store import products as store
from tillhouse.products.types import NewVariant, Product, VariantPatch, VariantShown


async def create(call: Call, product_id: ProductId, new: NewVariant) -> VariantShown:
    """Add a variant; the implicit one of a simple product becomes the first beside it."""
    named = rules.named(new)
    shown, old = await products.hold(call, product_id, named)
    named.own_product, named.own_variants = None, []
    facts = await fact_store.find_facts(call.db, call.book.id, named)
    check(rules.variant_faults(new, old, facts))
    rules.check_may_have_variants(old.type)
    rules.check_variant_limit(len(old.variants))
    rules.check_skus(new, facts)
    variant = making.new_variant(new, VariantId(new_id()), making.next_position(old))
    written = await products.write(call, shown, old, making.with_variant(old, variant))
    return _shown(written, VariantId(variant.id))


async def new_faults(call: Call, product_id: ProductId, new: NewVariant) -> list[FieldError]:
    """Everything against another variant."""
    old = of_product(await products.show(call, product_id))
    facts = await fact_store.find_facts(call.db, call.book.id, rules.named(new))
    return rules.variant_faults(new, old, facts)


async def change(call: Call, variant_id: VariantId, patch: VariantPatch) -> VariantShown:
    """Change the fields that the patch names; its list of prices replaces the list."""
    named = rules.named(patch)
    shown, old = await _hold(call, variant_id, named)
    facts = await fact_store.find_facts(call.db, call.book.id, named)
    check(rules.variant_faults(patch, old, facts, variant_id))
    if patch.sku:
        rules.check_skus(patch, facts)
    written = await products.write(call, shown, old, making.with_changed(old, variant_id, patch))
    return _shown(written, variant_id)


async def patch_faults(call: Call, variant_id: VariantId, patch: VariantPatch) -> list[FieldError]:
    """Everything against a change of a variant."""
    old = of_product(await products.show(call, ProductId(await _product_of(call, variant_id))))
    facts = await fact_store.find_facts(call.db, call.book.id, rules.named(patch))
    return rules.variant_faults(patch, old, facts, variant_id)


async def delete(call: Call, variant_id: VariantId) -> Deleted:
    """Remove a variant; the last one of a product stays."""
    named = NamedProductIds()
    shown, old = await _hold(call, variant_id, named)
    rules.check_not_last(len(old.variants))
    facts = await fact_store.find_facts(call.db, call.book.id, named)
    rules.check_in_no_bundle(facts.bundle)
    config = making.without(old, variant_id)
    await products.write(call, shown, old, config, gone=(variant_id,))
    return Deleted(variant_id, iso(call.now))


async def _hold(
    call: Call, variant_id: VariantId, named: NamedProductIds
) -> tuple[Product, Configuration]:
    product_id = await _product_of(call, variant_id)
    shown, old = await products.hold(call, ProductId(product_id), named)
    # It may have gone while its product was waited for.
    if all(one.id != variant_id for one in old.variants):
        raise Missing
    named.own_variants = [variant_id]
    return shown, old


async def _product_of(call: Call, variant_id: VariantId) -> UUID:
    return existing(await store.find_product_of(call.db, call.book.id, variant_id))


def _shown(product: Product, variant_id: VariantId) -> VariantShown:
    variant = next(one for one in product.variants if one.id == variant_id)
    fields = msgspec.structs.asdict(variant)
    return VariantShown(**fields, product_id=ProductId(product.id), updated_at=product.updated_at)
