"""From a request to a configuration: pure, ids are handed in."""

from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

import msgspec
from msgspec import UNSET

from tillhouse.kit.ids import VariantId
from tillhouse.kit.partial import facts_of
from tillhouse.products.configuration import BundlePart, Configuration, VariantConfiguration, fitted
from tillhouse.products.facts import ExistingProductIds
from tillhouse.products.rules import OF_THE_IMPLICIT, type_of, variant_of
from tillhouse.products.types import (
    NewComponent,
    NewProduct,
    NewStorePrice,
    NewVariant,
    ProductPatch,
    VariantPatch,
)

Ids = Callable[[], UUID]


def new_configuration(new: NewProduct, facts: ExistingProductIds, ids: Ids) -> Configuration:
    """A product as asked for; whether it may be is for the rules."""
    variants = [new_variant(one, VariantId(ids()), index) for index, one in enumerate(new.variants)]
    if not variants:
        implicit = VariantConfiguration(
            id=ids(),
            name="",
            is_implicit=True,
            tracks_stock=new.tracks_stock,
            stock_policy=new.stock_policy,
            low_stock_threshold=new.low_stock_threshold,
            prices=_prices(new.prices),
        )
        variants = [implicit]
    return fitted(
        facts_of(
            Configuration,
            new,
            id=ids(),
            type=type_of(new),
            variants=variants,
            group_ids=new.modifier_group_ids,
            parts=_parts(new.components, facts),
        )
    )


def changed(old: Configuration, patch: ProductPatch, facts: ExistingProductIds) -> Configuration:
    """A product as it would be after a change."""
    asked = {
        name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET
    }
    own = {name: asked.pop(name) for name in OF_THE_IMPLICIT if name in asked}
    if patch.components is not UNSET:
        asked["parts"] = _parts(asked.pop("components"), facts)
    if patch.modifier_group_ids is not UNSET:
        asked["group_ids"] = asked.pop("modifier_group_ids")
    if patch.prices is not UNSET:
        own["prices"] = _prices(patch.prices)
    if own and old.implicit is not None:
        asked["variants"] = [msgspec.structs.replace(old.implicit, **own)]
    return fitted(msgspec.structs.replace(old, **asked))


def with_variant(old: Configuration, variant: VariantConfiguration) -> Configuration:
    """A product with one variant more; a simple one is variable then."""
    type_ = "variable" if old.type == "simple" else old.type
    return fitted(msgspec.structs.replace(old, type=type_, variants=[*old.variants, variant]))


def with_changed(old: Configuration, variant_id: VariantId, patch: VariantPatch) -> Configuration:
    """A product with one of its variants changed."""
    asked = {
        name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET
    }
    if patch.prices is not UNSET:
        asked["prices"] = _prices(patch.prices)
    variants = [
        msgspec.structs.replace(one, **asked) if one.id == variant_id else one
        for one in old.variants
    ]
    return msgspec.structs.replace(old, variants=variants)


def without(old: Configuration, variant_id: VariantId) -> Configuration:
    """A product with one variant less."""
    variants = [one for one in old.variants if one.id != variant_id]
    return msgspec.structs.replace(old, variants=variants)


def next_position(config: Configuration) -> int:
    """The place after every variant that is there."""
    return max((one.position for one in config.variants), default=-1) + 1


def new_variant(new: NewVariant, variant_id: VariantId, position: int) -> VariantConfiguration:
    """A variant as asked for."""
    return facts_of(
        VariantConfiguration,
        new,
        id=variant_id,
        is_implicit=False,
        position=position if new.position is None else new.position,
        prices=_prices(new.prices),
    )


def _prices(given: list[NewStorePrice]) -> dict[UUID, Decimal]:
    return {one.store_id: one.price for one in given}


def _parts(components: list[NewComponent], facts: ExistingProductIds) -> list[BundlePart]:
    found = [(variant_of(one, facts), one.quantity) for one in components]
    return [
        BundlePart(VariantId(variant_id), quantity)
        for variant_id, quantity in found
        if variant_id is not None
    ]
