"""Requests and answers of the routes of products, variants, categories and modifiers."""

from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.ids import CategoryId, ProductId, StoreId, VariantId
from tillhouse.kit.money import Amount
from tillhouse.kit.page import PagedByChange
from tillhouse.kit.values import Search
from tillhouse.products.values import (
    CatalogName,
    ImageUrl,
    Price,
    ProductDescription,
    ProductQuantity,
    Rate,
    Sku,
    Threshold,
    Unit,
)

ProductType = Literal["simple", "variable", "bundle", "service"]
StockPolicy = Literal["deny", "allow"]

VARIANTS_MAX = 100
GROUPS_MAX = 50
OPTIONS_MAX = 200
COMPONENTS_MAX = 100
PRICES_MAX = 200
POSITION_MAX = 1_000_000

Position = Annotated[int, Meta(ge=0, le=POSITION_MAX)]
Choices = Annotated[int, Meta(ge=0, le=OPTIONS_MAX)]
ChoicesMax = Annotated[int, Meta(ge=1, le=OPTIONS_MAX)]


class NewStorePrice(msgspec.Struct, forbid_unknown_fields=True):
    """The price of a variant in one store."""

    store_id: StoreId
    """The store."""
    price: Price
    """The price of one unit in this store."""


Prices = Annotated[list[NewStorePrice], Meta(max_length=PRICES_MAX)]


class NewVariant(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A variant to be made."""

    name: CatalogName
    sku: Sku | None = None
    # Null: the product's.
    price: Price | None = None
    image_url: ImageUrl | None = None
    is_active: bool = True
    tracks_stock: bool = False
    # Null: as the business says.
    stock_policy: StockPolicy | None = None
    low_stock_threshold: Threshold | None = None
    position: Position | None = None
    """Where the variant stands, the lowest first; null: after those that are there."""
    prices: Prices = []


class VariantPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a variant; absent fields stay."""

    name: CatalogName | UnsetType = UNSET
    sku: Sku | UnsetType | None = UNSET
    price: Price | UnsetType | None = UNSET
    image_url: ImageUrl | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET
    tracks_stock: bool | UnsetType = UNSET
    stock_policy: StockPolicy | UnsetType | None = UNSET
    low_stock_threshold: Threshold | UnsetType | None = UNSET
    position: Position | UnsetType = UNSET
    prices: Prices | UnsetType = UNSET


class NewComponent(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A component of a bundle, and its quantity."""

    product_id: ProductId
    variant_id: VariantId | None = None
    """The variant; may be left out where the product has one."""
    quantity: ProductQuantity = msgspec.field(default_factory=lambda: ProductQuantity(1))
    """How much of it is in one bundle."""


Components = Annotated[list[NewComponent], Meta(max_length=COMPONENTS_MAX)]
GroupIds = Annotated[list[UUID], Meta(max_length=GROUPS_MAX)]


class NewProduct(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A product to be made."""

    name: CatalogName
    base_price: Price
    type: ProductType | None = None
    """The type; null: bundle with components, variable with variants, else simple."""
    description: ProductDescription | None = None
    category_id: CategoryId | None = None
    unit: Unit | None = None
    sku: Sku | None = None
    tax_rate: Rate = msgspec.field(default_factory=lambda: Rate(0))
    image_url: ImageUrl | None = None
    is_active: bool = True
    is_extra_only: bool = False
    variants: Annotated[list[NewVariant], Meta(max_length=VARIANTS_MAX)] = []
    """The variants; none for a product that is sold as one thing."""
    modifier_group_ids: GroupIds = []
    components: Components = []
    """The parts of a bundle."""
    tracks_stock: bool = False
    """Whether stock is kept of a product without variants of its own."""
    stock_policy: StockPolicy | None = None
    low_stock_threshold: Threshold | None = None
    prices: Prices = []


class ProductPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a product; absent fields stay, and a list replaces the list."""

    name: CatalogName | UnsetType = UNSET
    base_price: Price | UnsetType = UNSET
    type: ProductType | UnsetType = UNSET
    description: ProductDescription | UnsetType | None = UNSET
    category_id: CategoryId | UnsetType | None = UNSET
    unit: Unit | UnsetType | None = UNSET
    sku: Sku | UnsetType | None = UNSET
    tax_rate: Rate | UnsetType = UNSET
    image_url: ImageUrl | UnsetType | None = UNSET
    is_active: bool | UnsetType = UNSET
    is_extra_only: bool | UnsetType = UNSET
    modifier_group_ids: GroupIds | UnsetType = UNSET
    components: Components | UnsetType = UNSET
    """The parts of a bundle; the list replaces the list."""
    tracks_stock: bool | UnsetType = UNSET
    """Whether stock is kept of a product without variants of its own."""
    stock_policy: StockPolicy | UnsetType | None = UNSET
    low_stock_threshold: Threshold | UnsetType | None = UNSET
    prices: Prices | UnsetType = UNSET


class StorePrice(msgspec.Struct, frozen=True, rename="camel"):
    """The price of a variant in one store."""

    store_id: StoreId
    """The store."""
    price: Decimal
    """The price of one unit in this store."""


class Variant(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A variant as its product shows it."""

    id: UUID
    name: str
    sku: str | None
    price: Decimal | None
    image_url: str | None
    is_active: bool
    # Whether it stands for a product without variants.
    is_implicit: bool
    tracks_stock: bool
    stock_policy: StockPolicy | None
    low_stock_threshold: Decimal | None
    position: int
    prices: list[StorePrice]


class VariantShown(Variant, frozen=True, rename="camel", kw_only=True):
    """A variant by itself."""

    product_id: ProductId
    updated_at: Timestamp


class ModifierOption(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A choice, and what it adds to the price."""

    id: UUID
    name: str
    price_delta: Decimal
    is_active: bool


class Modifiers(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A group of choices as its products show it."""

    id: UUID
    name: str
    min_choices: int
    # Null: as many as there are.
    max_choices: int | None
    options: list[ModifierOption]


class ModifierGroup(Modifiers, frozen=True, rename="camel", kw_only=True):
    """A group of choices by itself."""

    created_at: Timestamp
    updated_at: Timestamp


class Component(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A component of a bundle, and its quantity."""

    product_id: ProductId
    variant_id: VariantId
    name: str
    quantity: Decimal
    """How much of it is in one bundle."""


class Product(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A product."""

    id: UUID
    name: str
    type: ProductType
    description: str | None
    category_id: CategoryId | None
    unit: str | None
    sku: str | None
    base_price: Decimal
    currency: str
    tax_rate: Decimal
    image_url: str | None
    is_active: bool
    is_extra_only: bool
    variants: list[Variant]
    modifier_groups: list[Modifiers]
    components: list[Component]
    created_at: Timestamp
    updated_at: Timestamp


class ProductFilter(PagedByChange):
    """Which products, and which page of them."""

    search: Search | None = None
    """Only products whose name or sku, or a variant's, begins so, in any case."""
    category_id: CategoryId | None = None
    type: ProductType | None = None
    is_active: bool | None = None
    out_of_stock: bool | None = None
    """Only products with an active variant of which no place has any left, or those without."""


class NewCategory(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A category to be made."""

    name: CatalogName
    position: Position = 0


class CategoryPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a category; absent fields stay."""

    name: CatalogName | UnsetType = UNSET
    position: Position | UnsetType = UNSET


class Category(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A category of products."""

    id: UUID
    name: str
    position: int
    created_at: Timestamp
    updated_at: Timestamp


class NewModifierOption(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A choice to be made."""

    name: CatalogName
    price_delta: Amount = msgspec.field(default_factory=lambda: Amount(0))
    is_active: bool = True


class GivenModifierOption(NewModifierOption, forbid_unknown_fields=True, kw_only=True):
    """A choice that stays, by its id, or a new one."""

    id: UUID | None = None
    """The id of an option that stays; without one the option is new."""


class NewModifierGroup(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A group of choices to be made."""

    name: CatalogName
    min_choices: Choices = 0
    max_choices: ChoicesMax | None = None
    options: Annotated[list[NewModifierOption], Meta(min_length=1, max_length=OPTIONS_MAX)]


class ModifierGroupPatch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A change of a group; the list of options replaces the list."""

    name: CatalogName | UnsetType = UNSET
    min_choices: Choices | UnsetType = UNSET
    max_choices: ChoicesMax | UnsetType | None = UNSET
    options: (
        Annotated[list[GivenModifierOption], Meta(min_length=1, max_length=OPTIONS_MAX)] | UnsetType
    ) = UNSET
    """All options: those with an id stay, others are new, the rest is removed."""
