"""Facts for the rules of products: the ids that a request names, and those that exist."""

from uuid import UUID

import msgspec


class NamedProductIds(msgspec.Struct, kw_only=True):
    """The ids that a request names, as far as they can be read."""

    category_ids: list[UUID] = []
    store_ids: list[UUID] = []
    group_ids: list[UUID] = []
    # Products that are to be components.
    product_ids: list[UUID] = []
    skus: list[str] = []
    # The product that owns the skus.
    own_product: UUID | None = None
    own_variants: list[UUID] = []

    @property
    def has_locks(self) -> bool:
        """Whether there is anything to hold."""
        names = (self.category_ids, self.group_ids, self.product_ids)
        return self.own_product is not None or any(names)


class Contained(msgspec.Struct, frozen=True):
    """A product that is named as a component, and its variants in their order."""

    id: UUID
    type: str
    variant_ids: list[UUID]


class ExistingProductIds(msgspec.Struct, frozen=True, kw_only=True):
    """Those that exist."""

    currency: str
    categories: frozenset[UUID]
    stores: frozenset[UUID]
    groups: frozenset[UUID]
    products: dict[UUID, Contained]
    # Skus that another product, or another variant, has.
    product_skus: frozenset[str]
    variant_skus: frozenset[str]
    # The name of a bundle that contains one of the own variants.
    bundle: str | None
