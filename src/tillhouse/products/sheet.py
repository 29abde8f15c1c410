"""Products as rows of a table: the columns of a row, and which rows are one product. Pure."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from tillhouse.kit.errors import FieldError
from tillhouse.kit.ids import ProductId, VariantId
from tillhouse.kit.imported import RowFault
from tillhouse.kit.money import Amount, check_scale
from tillhouse.products.configuration import Configuration, VariantConfiguration, fitted
from tillhouse.products.types import VARIANTS_MAX, ProductType
from tillhouse.products.values import CatalogName, Price, Rate, Sku, Unit


class ProductRow(msgspec.Struct, frozen=True, kw_only=True):
    """A product, or one of its variants; an empty cell leaves the value as it is."""

    name: CatalogName
    sku: Sku
    type: ProductType | None = None
    base_price: Price | None = None
    category: CatalogName | None = None
    unit: Unit | None = None
    tax_rate: Rate | None = None
    variant: CatalogName | None = None
    price: Price | None = None
    tracks_stock: bool | None = None
    on_hand: Amount | None = None


class Lot(msgspec.Struct, frozen=True):
    """The rows of one product: its own, and those of its variants, by their places."""

    own: int | None = None
    variants: list[int] = []

    @property
    def row_nos(self) -> list[int]:
        """All of them."""
        return ([] if self.own is None else [self.own]) + self.variants


class Owner(NamedTuple):
    """The owner of a sku."""

    product_id: ProductId
    # Null: the product's own.
    variant_id: VariantId | None


_SHARED = ("type", "base_price", "category", "unit", "tax_rate")


def lots_of(rows: Sequence[ProductRow]) -> list[Lot]:
    """Rows with variants belong together by the product's name; any other is a product."""
    variants: dict[str, list[int]] = {}
    for row_no, row in enumerate(rows):
        if row.variant is not None:
            variants.setdefault(row.name, []).append(row_no)
    own: dict[str, int] = {}
    lots: list[Lot] = []
    for row_no, row in enumerate(rows):
        if row.variant is None and row.name in variants and row.name not in own:
            own[row.name] = row_no
        elif row.variant is None:
            lots.append(Lot(own=row_no))
    lots += [Lot(own.get(name), row_nos) for name, row_nos in variants.items()]
    return sorted(lots, key=lambda lot: min(lot.row_nos))


def sheet_faults(rows: Sequence[ProductRow], lots: Sequence[Lot], currency: str) -> list[RowFault]:
    """The faults of the rows as they are, whatever the book has."""
    found: list[RowFault] = []
    seen: set[str] = set()
    for row_no, row in enumerate(rows):
        if row.sku in seen:
            found.append(wrong(row_no, "sku", "is that of an earlier row"))
        seen.add(row.sku)
        found += [RowFault(row_no, error) for error in _row_errors(row, currency)]
    for lot in lots:
        found += _lot_faults(rows, lot)
    return found


def wrong(row_no: int, column: str, reason: str) -> RowFault:
    """A fault of a row."""
    return RowFault(row_no, FieldError(column, reason))


def _row_errors(row: ProductRow, currency: str) -> Iterator[FieldError]:
    for name in ("base_price", "price"):
        amount = getattr(row, name)
        reason = check_scale(amount, currency) if amount is not None else None
        if reason:
            yield FieldError(name, reason)
    if row.type == "bundle":
        yield FieldError("type", "can't be bundle: a row has no components; use POST /v1/products")
    if row.type == "simple" and row.variant is not None:
        yield FieldError("type", "is simple, which has no variants: use variable")
    if row.type == "service" and row.tracks_stock:
        yield FieldError("tracks_stock", "must be no: a service has no stock")


def _lot_faults(rows: Sequence[ProductRow], lot: Lot) -> Iterator[RowFault]:
    names: set[str] = set()
    for row_no in lot.variants:
        name = str(rows[row_no].variant)
        if name in names:
            yield wrong(row_no, "variant", "is that of an earlier row of the product")
        names.add(name)
    if len(lot.variants) > VARIANTS_MAX:
        reason = f"is one more than the {VARIANTS_MAX} that a product may have"
        yield wrong(lot.variants[VARIANTS_MAX], "variant", reason)
    yield from _differences(rows, lot)
    if lot.own is not None:
        for error in _own_errors(rows[lot.own], has_variants=bool(lot.variants)):
            yield RowFault(lot.own, error)


def _differences(rows: Sequence[ProductRow], lot: Lot) -> Iterator[RowFault]:
    for column in _SHARED:
        values = [(getattr(rows[row_no], column), row_no) for row_no in lot.row_nos]
        given = [(value, row_no) for value, row_no in values if value is not None]
        for value, row_no in given[1:]:
            # A category is the same in small letters.
            if str(value).lower() != str(given[0][0]).lower():
                yield wrong(row_no, column, "differs from another row of the product")


def _own_errors(own: ProductRow, *, has_variants: bool) -> Iterator[FieldError]:
    if has_variants:
        for column in ("price", "tracks_stock"):
            if getattr(own, column) is not None:
                yield FieldError(column, "belongs to the rows of the product's variants")
    elif None not in (own.price, own.base_price) and own.price != own.base_price:
        reason = "differs from base_price, and a product without variants has one price"
        yield FieldError("price", reason)


class ProductPlan(msgspec.Struct):
    """The plan for one group of rows: the product as it is to be, and as it is, if it exists."""

    config: Configuration
    old: Configuration | None


class Planner(msgspec.Struct):
    """Makes plans of lots, by the existing rows of the book."""

    rows: Sequence[ProductRow]
    # Sku → whose it is: first of products, then of variants.
    products: dict[str, Owner]
    variants: dict[str, Owner]
    configs: dict[UUID, Configuration]
    categories: dict[str, UUID]
    ids: Callable[[], UUID]

    def plan(self, lot: Lot) -> ProductPlan | list[RowFault]:
        """The plan for a lot, or its faults."""
        faults = list(self._sku_faults(lot))
        if faults:
            return faults
        old, price = self._existing(lot), self._price(lot)
        if old is None and price is None:
            return [wrong(lot.row_nos[0], "base_price", "is required for a new product")]
        config = self._made(lot, old) if old else self._new(lot, price)
        if isinstance(config, RowFault):
            return [config]
        return list(self._config_faults(lot, config)) or ProductPlan(config, old)

    def _sku_faults(self, lot: Lot) -> Iterator[RowFault]:
        found: UUID | None = None
        for row_no in lot.row_nos:
            reason = self._misplaced(row_no, is_variant=row_no != lot.own)
            if reason:
                yield wrong(row_no, *reason)
            owner = self._owner(lot, row_no)
            if owner is None:
                continue
            if found is not None and owner.product_id != found:
                sku = self.rows[row_no].sku
                yield wrong(row_no, "sku", f"{sku} belongs to another product than the rows before")
            found = found or owner.product_id

    def _misplaced(self, row_no: int, *, is_variant: bool) -> tuple[str, str] | None:
        """The column, and why its sku can't be that of a product, or of a variant."""
        sku = self.rows[row_no].sku
        of_product, of_variant = self.products.get(sku), self.variants.get(sku)
        owner = (of_variant or of_product) if is_variant else of_variant
        if owner is None or (not is_variant and of_product is not None):
            return None
        config = self.configs[owner.product_id]
        if not is_variant:
            return "variant", f"is required: the sku is of a variant of {config.name}"
        if of_variant is None:
            return "sku", f"is that of the product {config.name} itself"
        if config.implicit is not None:
            return "sku", f"is that of the product {config.name}, which has no variants"
        return None

    def _owner(self, lot: Lot, row_no: int) -> Owner | None:
        owners = self.products if row_no == lot.own else self.variants
        return owners.get(self.rows[row_no].sku)

    def _existing(self, lot: Lot) -> Configuration | None:
        owners = (self._owner(lot, row_no) for row_no in lot.row_nos)
        owner = next(filter(None, owners), None)
        return self.configs[owner.product_id] if owner else None

    def _shared(self, lot: Lot) -> dict[str, Any]:
        """The product that a group of rows describes."""
        found: dict[str, Any] = {"name": self.rows[lot.row_nos[0]].name}
        for column in ("type", "unit", "tax_rate", "category"):
            given = [getattr(self.rows[row_no], column) for row_no in lot.row_nos]
            value = next((one for one in given if one is not None), None)
            if value is not None:
                found[column] = value
        if "category" in found:
            found["category_id"] = self.categories[found.pop("category")]
        return found

    def _price(self, lot: Lot) -> Any:
        """The product's price: the one that is named, else that of its first row."""
        rows = [self.rows[row_no] for row_no in lot.row_nos]
        named = next((row.base_price for row in rows if row.base_price is not None), None)
        if named is not None or not lot.variants:
            return named if named is not None else rows[0].price
        prices = [row.price for row in rows if row.variant is not None]
        return None if None in prices else prices[0]

    def _new(self, lot: Lot, price: Any) -> Configuration | RowFault:
        shared = self._shared(lot)
        type_ = shared.pop("type", "variable" if lot.variants else "simple")
        if type_ == "variable" and not lot.variants:
            return wrong(lot.row_nos[0], "type", "is variable, which needs rows with a variant")
        shared.setdefault("tax_rate", Rate(0))
        sku = None if lot.own is None else self.rows[lot.own].sku
        variants = [self._variant(row_no, None, at) for at, row_no in enumerate(lot.variants)]
        if not variants:
            tracks = bool(self.rows[lot.row_nos[0]].tracks_stock)
            variants = [self._implicit(tracks_stock=tracks)]
        config = Configuration(
            id=self.ids(), type=type_, sku=sku, base_price=price, variants=variants, **shared
        )
        return fitted(config)

    def _implicit(self, *, tracks_stock: bool) -> VariantConfiguration:
        return VariantConfiguration(
            id=self.ids(), name="", is_implicit=True, tracks_stock=tracks_stock, prices={}
        )

    def _made(self, lot: Lot, old: Configuration) -> Configuration | RowFault:
        shared = self._shared(lot)
        type_ = shared.pop("type", old.type)
        if lot.variants and old.type == "simple":
            type_ = "variable"
        elif type_ != old.type and not (old.implicit and {type_, old.type} <= _ALIKE):
            return wrong(lot.row_nos[0], "type", f"is {old.type} already: use PATCH to change it")
        if lot.variants and old.type == "bundle":
            return wrong(lot.variants[0], "variant", "must be empty: a bundle has no variants")
        variants = self._variants_after(lot, old)
        base_price = self._price_after(lot, old)
        changed = msgspec.structs.replace(
            old, type=type_, base_price=base_price, variants=variants, **shared
        )
        return fitted(changed)

    def _price_after(self, lot: Lot, old: Configuration) -> Any:
        rows = [self.rows[row_no] for row_no in lot.row_nos]
        named = next((row.base_price for row in rows if row.base_price is not None), None)
        if named is None and not lot.variants and old.implicit is not None:
            named = rows[0].price
        return old.base_price if named is None else named

    def _variants_after(self, lot: Lot, old: Configuration) -> list[VariantConfiguration]:
        variants = {one.id: one for one in old.variants}
        for row_no in lot.variants:
            owner = self.variants.get(self.rows[row_no].sku)
            before = variants.get(owner.variant_id) if owner and owner.variant_id else None
            after = max((one.position for one in variants.values()), default=-1) + 1
            variant = self._variant(row_no, before, after)
            variants[variant.id] = variant
        own = self.rows[lot.own] if lot.own is not None else None
        if own is not None and own.tracks_stock is not None and old.implicit is not None:
            tracking = msgspec.structs.replace(old.implicit, tracks_stock=own.tracks_stock)
            variants[tracking.id] = tracking
        return list(variants.values())

    def _variant(
        self, row_no: int, old: VariantConfiguration | None, position: int
    ) -> VariantConfiguration:
        row = self.rows[row_no]
        given = {"price": row.price, "tracks_stock": row.tracks_stock}
        asked: dict[str, Any] = {n: value for n, value in given.items() if value is not None}
        asked |= {"name": str(row.variant), "sku": row.sku}
        if old is not None:
            return msgspec.structs.replace(old, **asked)
        return VariantConfiguration(id=self.ids(), position=position, prices={}, **asked)

    def _config_faults(self, lot: Lot, config: Configuration) -> Iterator[RowFault]:
        first = lot.row_nos[0]
        if len(config.variants) > VARIANTS_MAX:
            yield wrong(first, "variant", f"makes more than {VARIANTS_MAX} variants of the product")
        names = [one.name for one in config.variants]
        for row_no in lot.variants:
            if names.count(str(self.rows[row_no].variant)) > 1:
                yield wrong(row_no, "variant", "is the name of another variant of the product")
        if config.type in ("bundle", "service") and any(v.tracks_stock for v in config.variants):
            yield wrong(first, "tracks_stock", f"must be no: a {config.type} has no stock")


_ALIKE = {"simple", "service"}
