"""Stock in the words of the rules: locations, moves, and their results."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from tillhouse.kit.ids import OrderId, ProductId, StoreId, VariantId


class LevelKey(msgspec.Struct, frozen=True):
    """Where a variant lies: in a store, or without one with the business itself."""

    variant_id: VariantId
    store_id: StoreId | None


class StockedVariant(msgspec.Struct, frozen=True, kw_only=True):
    """A variant that the book has."""

    id: UUID
    # The product's too, as people call it.
    name: str
    tracks_stock: bool


class StockFacts(msgspec.Struct, frozen=True):
    """The named variants and stores that exist in the book."""

    items: dict[UUID, StockedVariant]
    stores: set[UUID]

    def name(self, variant_id: VariantId) -> str | None:
        """The name of a variant."""
        item = self.items.get(variant_id)
        return item.name if item else None


class NotedStockMove(msgspec.Struct, frozen=True, kw_only=True):
    """One move of stock, as it is noted."""

    id: UUID
    variant_id: VariantId
    store_id: StoreId | None
    kind: str
    on_hand_change: Decimal
    reserved_change: Decimal = Decimal(0)
    order_id: OrderId | None = None
    order_item_id: UUID | None = None
    round: int = 0
    reason: str | None = None
    actor: dict[str, Any] | None = None
    # Whether more may go than there is.
    allows: bool = False


class MovedStock(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the moves of one variant in one place."""

    variant_id: VariantId
    product_id: ProductId
    store_id: StoreId | None
    on_hand_change: Decimal
    reserved_change: Decimal
    # After the move; as things stand, where nothing was moved.
    on_hand: Decimal
    reserved: Decimal
    threshold: Decimal | None
    is_moved: bool = True

    @property
    def available(self) -> Decimal:
        """The quantity that can be sold."""
        return self.on_hand - self.reserved

    @property
    def change(self) -> Decimal:
        """By how much the move makes more of it available, or less."""
        return self.on_hand_change - self.reserved_change
