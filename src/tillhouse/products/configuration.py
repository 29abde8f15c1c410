"""A product's configuration as a whole, as it is compared and written."""

from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.ids import CategoryId, VariantId
from tillhouse.kit.partial import facts_of
from tillhouse.products.types import Product, ProductType, StockPolicy, Variant


class VariantConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """All of a variant that can be set."""

    id: UUID
    name: str
    sku: str | None = None
    price: Decimal | None = None
    image_url: str | None = None
    is_implicit: bool = False
    is_active: bool = True
    tracks_stock: bool = False
    stock_policy: StockPolicy | None = None
    low_stock_threshold: Decimal | None = None
    position: int = 0
    # Store → price.
    prices: dict[UUID, Decimal]


class BundlePart(msgspec.Struct, frozen=True):
    """A variant that a bundle contains, and how often."""

    variant_id: VariantId
    quantity: Decimal


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """All of a product that can be set."""

    id: UUID
    name: str
    type: ProductType
    description: str | None = None
    category_id: CategoryId | None = None
    unit: str | None = None
    sku: str | None = None
    base_price: Decimal
    tax_rate: Decimal
    image_url: str | None = None
    is_active: bool = True
    is_extra_only: bool = False
    variants: list[VariantConfiguration]
    group_ids: list[UUID] = []
    parts: list[BundlePart] = []

    @property
    def implicit(self) -> VariantConfiguration | None:
        """The one variant of a product that has none of its own."""
        return next((one for one in self.variants if one.is_implicit), None)


def of_product(product: Product) -> Configuration:
    """The configuration of a product as it is shown."""
    return facts_of(
        Configuration,
        product,
        variants=[of_variant(variant) for variant in product.variants],
        group_ids=[group.id for group in product.modifier_groups],
        parts=[BundlePart(one.variant_id, one.quantity) for one in product.components],
    )


def of_variant(variant: Variant) -> VariantConfiguration:
    """The configuration of a variant as it is shown."""
    prices = {one.store_id: one.price for one in variant.prices}
    return facts_of(VariantConfiguration, variant, prices=prices)


def fitted(config: Configuration) -> Configuration:
    """The same with its variants as its type wants them.

    The implicit variant bears the product's sku, so that a sku finds it among variants. When a
    product gets variants, the implicit one becomes the first of them: its stock stays its own.
    """
    if len(config.variants) == 1 and config.type in ("simple", "bundle"):
        [only] = config.variants
        sku = config.sku if only.is_implicit else config.sku or only.sku
        changed = msgspec.structs.replace(only, is_implicit=True, name="", sku=sku)
        return msgspec.structs.replace(config, sku=sku, variants=[changed])
    is_several = config.type == "variable" or len(config.variants) > 1
    variants = [
        _fitted_variant(one, config, is_several=is_several) if one.is_implicit else one
        for one in config.variants
    ]
    return msgspec.structs.replace(config, variants=variants)


def _fitted_variant(
    implicit: VariantConfiguration, config: Configuration, *, is_several: bool
) -> VariantConfiguration:
    if is_several:
        return msgspec.structs.replace(implicit, is_implicit=False, name=config.name)
    return msgspec.structs.replace(implicit, sku=config.sku)
