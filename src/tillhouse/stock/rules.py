"""Rules of moves: permission, crossed thresholds, shortages."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import msgspec

from tillhouse.kit.clock import iso
from tillhouse.kit.errors import FieldError
from tillhouse.kit.events import EventType
from tillhouse.kit.ids import BusinessId, StoreId, VariantId
from tillhouse.kit.money import plain
from tillhouse.kit.partial import InvalidField, faults
from tillhouse.stock.events import LOW_STOCK, OUT_OF_STOCK
from tillhouse.stock.facts import MovedStock, StockFacts
from tillhouse.stock.types import (
    NewAdjustment,
    NewCount,
    NewCountItem,
    NewTransfer,
    NewTransferItem,
)
from tillhouse.webhooks.events import ChangeData

# The constraints of a level, by what they bound.
BOUNDS = {
    "on_hand": "stock_levels_on_hand_bounds",
    "reserved": "stock_levels_reserved_bounds",
}
UNCOUNTABLE = "The stock of a variant would be more than can be counted: check the quantity."
LEVEL_LIMIT = 10**12


class Short(msgspec.Struct, frozen=True):
    """A variant of which more was asked for than there is."""

    variant_id: VariantId
    store_id: StoreId | None
    requested: Decimal
    available: Decimal

    def sentence(self, name: str | None = None) -> str:
        """The sentence about a shortage; with the variant's name, where it is known."""
        what = f"{name} (variant {self.variant_id})" if name else f"variant {self.variant_id}"
        return (
            f"There is not enough of {what}: "
            f"{plain(self.requested)} requested, {plain(self.available)} available."
        )


def shorts(moved: Iterable[MovedStock]) -> list[Short]:
    """The moves that were not made."""
    return [
        Short(one.variant_id, one.store_id, -one.change, one.available)
        for one in moved
        if not one.is_moved
    ]


def is_uncountable(one: MovedStock) -> bool:
    """Whether a move that could be made would leave a level beyond its bounds.

    The move isn't made: the levels are those of before.
    """
    on_hand, reserved = one.on_hand + one.on_hand_change, one.reserved + one.reserved_change
    return one.is_moved and (abs(on_hand) >= LEVEL_LIMIT or reserved >= LEVEL_LIMIT)


def crossings(one: MovedStock) -> Iterator[EventType]:
    """The events that a move fires: down to the threshold from above it, down to nothing."""
    after = one.available
    before = after - one.change
    if one.threshold is not None and after <= one.threshold < before:
        yield LOW_STOCK
    if after <= 0 < before:
        yield OUT_OF_STOCK


def events(
    moved: Iterable[MovedStock], business_id: BusinessId, now: datetime
) -> list[tuple[EventType, ChangeData]]:
    """The events of all moves, with their data."""
    return [
        (event, _data(event, one, business_id, now))
        for one in moved
        if one.is_moved
        for event in crossings(one)
    ]


def _data(event: EventType, one: MovedStock, business_id: BusinessId, now: datetime) -> ChangeData:
    return ChangeData(
        business_id=business_id,
        event_type=event.code,
        entity_type="variant",
        entity_id=one.variant_id,
        store_id=one.store_id,
        metadata={
            "productId": one.product_id,
            "variantId": one.variant_id,
            "available": one.available,
            "threshold": one.threshold,
            "onHand": one.on_hand,
            "reserved": one.reserved,
        },
        occurred_at=iso(now),
    )


def adjustment_faults(new: NewAdjustment, facts: StockFacts) -> list[FieldError]:
    """The faults of an adjustment."""
    return faults(
        lambda: _variant_errors(new, "", facts),
        lambda: _store_errors(new.store_id, "store_id", facts),
        lambda: _sign_errors(new),
    )


def count_faults(new: NewCount, facts: StockFacts) -> list[FieldError]:
    """The faults of a count."""
    return faults(
        lambda: _store_errors(new.store_id, "store_id", facts),
        *_item_rules(new, facts),
        lambda: _twice_errors(new),
    )


def transfer_faults(new: NewTransfer, facts: StockFacts) -> list[FieldError]:
    """The faults of a transfer."""
    return faults(
        lambda: _store_errors(new.from_store_id, "from_store_id", facts),
        lambda: _store_errors(new.to_store_id, "to_store_id", facts),
        lambda: _way_errors(new),
        *_item_rules(new, facts),
    )


Rule = Callable[[], Iterable[FieldError]]


def _item_rules(new: NewCount | NewTransfer, facts: StockFacts) -> list[Rule]:
    def rule(key: int, item: NewCountItem | NewTransferItem) -> Rule:
        return lambda: _variant_errors(item, f"items[{key}].", facts)

    try:
        return [rule(key, item) for key, item in enumerate(new.items)]
    except InvalidField:
        return []


def _variant_errors(
    item: NewAdjustment | NewCountItem | NewTransferItem, path: str, facts: StockFacts
) -> Iterator[FieldError]:
    found = facts.items.get(item.variant_id)
    if found is None:
        yield FieldError(path + "variant_id", "is no variant of this book")
    elif not found.tracks_stock:
        yield FieldError(
            path + "variant_id", "doesn't keep stock: set its tracks_stock to true first"
        )


def _store_errors(store_id: StoreId | None, field: str, facts: StockFacts) -> Iterator[FieldError]:
    if store_id is not None and store_id not in facts.stores:
        yield FieldError(field, "is no store of this book")


def _sign_errors(new: NewAdjustment) -> Iterator[FieldError]:
    if new.kind != "adjustment" and new.quantity < 0:
        yield FieldError("quantity", f"must be more than 0: {new.kind} tells the direction")


def _twice_errors(new: NewCount) -> Iterator[FieldError]:
    seen: set[UUID] = set()
    for key, item in enumerate(new.items):
        with suppress(InvalidField):
            if item.variant_id in seen:
                yield FieldError(f"items[{key}].variant_id", "is counted twice")
            seen.add(item.variant_id)


def _way_errors(new: NewTransfer) -> Iterator[FieldError]:
    if new.from_store_id == new.to_store_id:
        yield FieldError("to_store_id", "must be another place than from_store_id")


def change_of(new: NewAdjustment) -> Decimal:
    """By how much an adjustment changes the stock on hand."""
    return -new.quantity if new.kind == "waste" else Decimal(new.quantity)
