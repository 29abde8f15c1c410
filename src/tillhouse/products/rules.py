"""Rules of a product: pure decisions."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from msgspec import UNSET, UnsetType

from tillhouse.kit.errors import Conflict, FieldError, LimitReached, Refused
from tillhouse.kit.ids import CategoryId
from tillhouse.kit.money import check_scale
from tillhouse.kit.partial import InvalidField, faults
from tillhouse.products.configuration import Configuration
from tillhouse.products.facts import ExistingProductIds, NamedProductIds
from tillhouse.products.types import (
    VARIANTS_MAX,
    NewComponent,
    NewProduct,
    NewStorePrice,
    NewVariant,
    ProductPatch,
    ProductType,
    VariantPatch,
)

T = TypeVar("T")

SKU_TAKEN = "The sku is taken: each names one product or variant of this book."
OF_THE_IMPLICIT = ("tracks_stock", "stock_policy", "low_stock_threshold", "prices")
_ELSEWHERE = "of this business and environment"


class SkuTaken(Conflict, message=SKU_TAKEN):
    """Another product or variant has the sku."""


class InBundle(Conflict):
    """A bundle contains it."""


def known(read: Callable[[], T | UnsetType | None], otherwise: T) -> T:
    """The value of a request's field, or a default where it can't be read."""
    try:
        found = read()
    except InvalidField:
        return otherwise
    return otherwise if isinstance(found, UnsetType) or found is None else found


def named(asked: NewProduct | ProductPatch | NewVariant | VariantPatch) -> NamedProductIds:
    """The ids that the request names, as far as they are valid."""
    variants: list[NewVariant] = known(lambda: getattr(asked, "variants", []), [])
    components: list[NewComponent] = known(lambda: getattr(asked, "components", []), [])
    prices = [p for one in (asked, *variants) for p in known(lambda one=one: one.prices, [])]
    skus = [known(lambda one=one: one.sku, "") for one in (asked, *variants)]
    category_id: CategoryId | None = known(lambda: getattr(asked, "category_id", None), None)
    return NamedProductIds(
        category_ids=[category_id] if category_id else [],
        store_ids=_each(prices, "store_id"),
        group_ids=known(lambda: getattr(asked, "modifier_group_ids", []), []),
        product_ids=_each(components, "product_id"),
        skus=[str(sku) for sku in skus if sku],
    )


def _each(items: Sequence[Any], name: str) -> list[UUID]:
    found = [known(lambda one=one: getattr(one, name), None) for one in items]
    return [one for one in found if one is not None]


def type_of(new: NewProduct) -> ProductType:
    """The type asked for, or the one that the rest tells."""
    if new.type is not None:
        return new.type
    if new.components:
        return "bundle"
    return "variable" if new.variants else "simple"


def new_faults(new: NewProduct, facts: ExistingProductIds) -> list[FieldError]:
    """Everything against a new product."""
    variants: list[NewVariant] = known(lambda: new.variants, [])
    found = faults(
        lambda: _shape_errors(type_of(new), len(new.variants), len(new.components)),
        lambda: _implicit_errors(new) if new.variants else (),
        lambda: _stock_errors(type_of(new), tracks_stock=new.tracks_stock),
        lambda: _twice(variants, "name", "variants"),
        lambda: _twice(variants, "sku", "variants"),
    )
    found += _product_faults(new, facts, None)
    for index, variant in enumerate(variants):
        found += _variant_faults(variant, facts, f"variants[{index}].")
        found += faults(
            lambda one=variant, index=index: _stock_errors(
                type_of(new), tracks_stock=one.tracks_stock, path=f"variants[{index}]."
            )
        )
    return found


def patch_faults(
    patch: ProductPatch, old: Configuration, facts: ExistingProductIds
) -> list[FieldError]:
    """Everything against a change of a product."""

    def after(name: str, before: Any) -> Any:
        asked = getattr(patch, name)
        return before if asked is UNSET else asked

    def shape() -> Iterator[FieldError]:
        own = 0 if old.implicit else len(old.variants)
        type_ = after("type", old.type)
        yield from _change_errors(old, type_, facts)
        # The implicit variant of a product that becomes variable becomes its first.
        count = 1 if type_ == "variable" else 0 if own == 1 and type_ != "service" else own
        yield from _shape_errors(type_, count, len(after("components", old.parts)))

    def stock() -> Iterator[FieldError]:
        tracks = any(one.tracks_stock for one in old.variants)
        yield from _stock_errors(
            after("type", old.type), tracks_stock=after("tracks_stock", tracks)
        )

    found = faults(shape, stock, lambda: () if old.implicit else _implicit_errors(patch))
    return found + _product_faults(patch, facts, old.id)


def variant_faults(
    asked: NewVariant | VariantPatch,
    product: Configuration,
    facts: ExistingProductIds,
    own: UUID | None = None,
) -> list[FieldError]:
    """Everything against a variant of a product, or against a change of it."""
    found = _variant_faults(asked, facts, "")
    found += faults(lambda: _same_name(asked, product, own))
    found += faults(
        lambda: _stock_errors(
            product.type, tracks_stock=asked.tracks_stock is not UNSET and asked.tracks_stock
        )
    )
    if product.implicit is not None and product.implicit.id == own:
        for name in ("name", "sku", "price"):
            found += faults(lambda name=name: _of_the_product(asked, name))
    return found


def check_skus(
    asked: NewProduct | ProductPatch | NewVariant | VariantPatch, facts: ExistingProductIds
) -> None:
    """No sku twice; of two that come at once, the database refuses the later one."""
    taken = facts.product_skus | facts.variant_skus
    variants: list[NewVariant] = getattr(asked, "variants", [])
    places = [("sku", asked.sku)]
    places += [(f"variants[{n}].sku", one.sku) for n, one in enumerate(variants)]
    wrong = [FieldError(field, "is taken") for field, sku in places if sku and sku in taken]
    if wrong:
        raise SkuTaken(details=wrong)


def check_variant_limit(count: int) -> None:
    """A product has so many variants and no more."""
    if count >= VARIANTS_MAX:
        raise LimitReached(f"The product has {VARIANTS_MAX} variants, which is the limit.")


def check_may_have_variants(type_: ProductType) -> None:
    """A bundle is one thing."""
    if type_ == "bundle":
        raise Refused("A bundle has no variants: make a bundle for each.")


def check_not_last(count: int) -> None:
    """A product keeps a variant to be sold as."""
    if count <= 1:
        raise Refused("This is the product's last variant: delete the product instead.")


def check_in_no_bundle(bundle: str | None) -> None:
    """A product can't be deleted before the bundles that contain it."""
    if bundle is not None:
        raise InBundle(f"The bundle {bundle} contains it: take it out of there first.")


def _product_faults(
    asked: NewProduct | ProductPatch, facts: ExistingProductIds, own: UUID | None
) -> list[FieldError]:
    components: list[NewComponent] = known(lambda: asked.components, [])
    groups: list[UUID] = known(lambda: asked.modifier_group_ids, [])
    found = faults(
        lambda: _scale_errors(asked.base_price, "base_price", facts),
        lambda: _category_errors(asked, facts),
        lambda: _group_errors(groups, facts),
    )
    found += _price_faults(known(lambda: asked.prices, []), facts, "")
    for index, component in enumerate(components):
        found += faults(
            lambda index=index, component=component: _component_errors(
                component, facts, own, f"components[{index}]"
            )
        )
    found += faults(lambda: _same_component(components, facts))
    return found


def _variant_faults(
    asked: NewVariant | VariantPatch, facts: ExistingProductIds, path: str
) -> list[FieldError]:
    found = faults(lambda: _scale_errors(asked.price, f"{path}price", facts))
    return found + _price_faults(known(lambda: asked.prices, []), facts, path)


def _shape_errors(type_: ProductType, variants: int, components: int) -> Iterator[FieldError]:
    if type_ in ("simple", "bundle") and variants:
        yield FieldError("type", f"is {type_}, which has no variants: use variable")
    if type_ == "variable" and not variants:
        yield FieldError("type", "is variable, which needs variants")
    if type_ == "bundle" and not components:
        yield FieldError("components", "are required for a bundle")
    if type_ != "bundle" and components:
        yield FieldError("components", f"are for a bundle only, and the type is {type_}")


def _change_errors(
    old: Configuration, type_: ProductType, facts: ExistingProductIds
) -> Iterator[FieldError]:
    if type_ == "bundle" and old.type != "bundle" and facts.bundle is not None:
        yield FieldError("type", f"can't be bundle: the bundle {facts.bundle} contains it")


def _implicit_errors(asked: NewProduct | ProductPatch) -> Iterator[FieldError]:
    for name in OF_THE_IMPLICIT:
        value = getattr(asked, name)
        if value is not UNSET and value not in (False, None, []):
            yield FieldError(name, "belongs to each variant, as the product has some of its own")


def _stock_errors(
    type_: ProductType, *, tracks_stock: bool, path: str = ""
) -> Iterator[FieldError]:
    if tracks_stock and type_ in ("bundle", "service"):
        what = "its components have" if type_ == "bundle" else "there is nothing to count"
        wrong = f"must be false: a {type_} has no stock, {what}"
        yield FieldError(f"{path}tracks_stock", wrong)


def _of_the_product(asked: NewVariant | VariantPatch, name: str) -> Iterator[FieldError]:
    if getattr(asked, name) is not UNSET:
        yield FieldError(name, "is the product's, as this is its only variant: change it there")


def _same_name(
    asked: NewVariant | VariantPatch, product: Configuration, own: UUID | None
) -> Iterator[FieldError]:
    others = {product.name if v.is_implicit else v.name for v in product.variants if v.id != own}
    if asked.name is not UNSET and asked.name in others:
        yield FieldError("name", "is the name of another variant of the product")


def _twice(variants: list[NewVariant], name: str, path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, variant in enumerate(variants):
        value: str | None = known(lambda one=variant: getattr(one, name), None)
        if value is not None and value in seen:
            yield FieldError(f"{path}[{index}].{name}", "is that of another variant here")
        elif value is not None:
            seen.add(value)


def _scale_errors(amount: Any, field: str, facts: ExistingProductIds) -> Iterator[FieldError]:
    if amount is not UNSET and amount is not None:
        wrong = check_scale(amount, facts.currency)
        if wrong:
            yield FieldError(field, wrong)


def _price_faults(
    prices: list[NewStorePrice], facts: ExistingProductIds, path: str
) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[UUID | None] = set()
    for index, one in enumerate(prices):
        field = f"{path}prices[{index}]"
        found += faults(
            lambda one=one, field=field: _scale_errors(one.price, f"{field}.price", facts),
            lambda one=one, field=field: _store_errors(one, facts, seen, f"{field}.store_id"),
        )
        seen.add(known(lambda one=one: one.store_id, None))
    return found


def _store_errors(
    one: NewStorePrice, facts: ExistingProductIds, seen: set[UUID | None], field: str
) -> Iterator[FieldError]:
    if one.store_id not in facts.stores:
        yield FieldError(field, f"is no store {_ELSEWHERE}")
    elif one.store_id in seen:
        yield FieldError(field, "has a price already in this list")


def _category_errors(
    asked: NewProduct | ProductPatch, facts: ExistingProductIds
) -> Iterator[FieldError]:
    wanted = asked.category_id
    if wanted is not UNSET and wanted is not None and wanted not in facts.categories:
        yield FieldError("category_id", f"is no category {_ELSEWHERE}")


def _group_errors(groups: list[UUID], facts: ExistingProductIds) -> Iterator[FieldError]:
    for index, group_id in enumerate(groups):
        field = f"modifier_group_ids[{index}]"
        if group_id not in facts.groups:
            yield FieldError(field, f"is no modifier group {_ELSEWHERE}")
        elif group_id in groups[:index]:
            yield FieldError(field, "is in this list already")


def _component_errors(
    component: NewComponent, facts: ExistingProductIds, own: UUID | None, path: str
) -> Iterator[FieldError]:
    product = facts.products.get(component.product_id)
    if product is None:
        yield FieldError(f"{path}.product_id", f"is no product {_ELSEWHERE}")
    elif component.product_id == own:
        yield FieldError(f"{path}.product_id", "is the bundle itself")
    elif product.type == "bundle":
        yield FieldError(f"{path}.product_id", "is a bundle, and none may contain another")
    elif component.variant_id is None:
        if len(product.variant_ids) > 1:
            yield FieldError(f"{path}.variant_id", "is required: the product has several variants")
    elif component.variant_id not in product.variant_ids:
        yield FieldError(f"{path}.variant_id", "is no variant of that product")


def variant_of(component: NewComponent, facts: ExistingProductIds) -> UUID | None:
    """The variant that a component means."""
    product = facts.products.get(component.product_id)
    if component.variant_id is not None or product is None or not product.variant_ids:
        return component.variant_id
    return product.variant_ids[0]


def _same_component(
    components: list[NewComponent], facts: ExistingProductIds
) -> Iterator[FieldError]:
    seen: set[UUID] = set()
    for index, component in enumerate(components):
        variant_id = known(lambda one=component: variant_of(one, facts), None)
        if variant_id is not None and variant_id in seen:
            yield FieldError(f"components[{index}]", "is in this list already: add the quantities")
        elif variant_id is not None:
            seen.add(variant_id)
