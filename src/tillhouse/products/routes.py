"""The routes of products, variants, categories and modifier groups."""

from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.http.route import Reply, Route, Scope
from tillhouse.kit.deleted import Deleted
from tillhouse.kit.errors import FieldError
from tillhouse.kit.page import Paged
from tillhouse.products.actions import categories, modifiers, products, variants
from tillhouse.products.types import (
    Category,
    CategoryPatch,
    ModifierGroup,
    ModifierGroupPatch,
    NewCategory,
    NewModifierGroup,
    NewProduct,
    NewVariant,
    Product,
    ProductFilter,
    ProductPatch,
    VariantPatch,
    VariantShown,
)


async def list_products(call: Call, query: ProductFilter) -> Reply[list[Product]]:
    """List products."""
    found, page = await products.list_page(call, query)
    return Reply("Products", found, meta=page)


async def create_product(call: Call, body: NewProduct) -> Reply[Product]:
    """Create a product with its variants, modifiers and components."""
    return Reply("Product created", await products.create(call, body))


async def new_product_faults(call: Call, body: NewProduct) -> list[FieldError]:
    """The faults of the product."""
    return await products.new_faults(call, body)


async def show_product(call: Call, product_id: UUID) -> Reply[Product]:
    """Read one product."""
    return Reply("Product", await products.show(call, product_id))


async def change_product(call: Call, product_id: UUID, body: ProductPatch) -> Reply[Product]:
    """Update a product."""
    return Reply("Product updated", await products.change(call, product_id, body))


async def product_faults(call: Call, product_id: UUID, body: ProductPatch) -> list[FieldError]:
    """The faults of a change of a product."""
    return await products.patch_faults(call, product_id, body)


async def delete_product(call: Call, product_id: UUID) -> Reply[Deleted]:
    """Delete a product."""
    return Reply("Product deleted", await products.delete(call, product_id))


async def create_variant(call: Call, product_id: UUID, body: NewVariant) -> Reply[VariantShown]:
    """Add a variant to a product."""
    return Reply("Variant created", await variants.create(call, product_id, body))


async def new_variant_faults(call: Call, product_id: UUID, body: NewVariant) -> list[FieldError]:
    """The faults of the variant."""
    return await variants.new_faults(call, product_id, body)


async def change_variant(call: Call, variant_id: UUID, body: VariantPatch) -> Reply[VariantShown]:
    """Update a variant and its prices per store."""
    return Reply("Variant updated", await variants.change(call, variant_id, body))


async def variant_faults(call: Call, variant_id: UUID, body: VariantPatch) -> list[FieldError]:
    """The faults of a change of a variant."""
    return await variants.patch_faults(call, variant_id, body)


async def delete_variant(call: Call, variant_id: UUID) -> Reply[Deleted]:
    """Delete a variant."""
    return Reply("Variant deleted", await variants.delete(call, variant_id))


async def list_categories(call: Call, query: Paged) -> Reply[list[Category]]:
    """List categories, in the business's order."""
    found, page = await categories.list_page(call, query)
    return Reply("Categories", found, meta=page)


async def create_category(call: Call, body: NewCategory) -> Reply[Category]:
    """Create a category."""
    return Reply("Category created", await categories.create(call, body))


async def show_category(call: Call, category_id: UUID) -> Reply[Category]:
    """Read one category."""
    return Reply("Category", await categories.show(call, category_id))


async def change_category(call: Call, category_id: UUID, body: CategoryPatch) -> Reply[Category]:
    """Update a category."""
    return Reply("Category updated", await categories.change(call, category_id, body))


async def delete_category(call: Call, category_id: UUID) -> Reply[Deleted]:
    """Delete a category that holds no product."""
    return Reply("Category deleted", await categories.delete(call, category_id))


async def list_groups(call: Call, query: Paged) -> Reply[list[ModifierGroup]]:
    """List modifier groups, the newest first."""
    found, page = await modifiers.list_page(call, query)
    return Reply("Modifier groups", found, meta=page)


async def create_group(call: Call, body: NewModifierGroup) -> Reply[ModifierGroup]:
    """Create a modifier group with its options."""
    return Reply("Modifier group created", await modifiers.create(call, body))


async def new_group_faults(call: Call, body: NewModifierGroup) -> list[FieldError]:
    """The faults of the group."""
    return await modifiers.new_faults(call, body)


async def show_group(call: Call, modifier_group_id: UUID) -> Reply[ModifierGroup]:
    """Read one modifier group."""
    return Reply("Modifier group", await modifiers.show(call, modifier_group_id))


async def change_group(
    call: Call, modifier_group_id: UUID, body: ModifierGroupPatch
) -> Reply[ModifierGroup]:
    """Update a modifier group; options that aren't in the list go."""
    return Reply("Modifier group updated", await modifiers.change(call, modifier_group_id, body))


async def group_faults(
    call: Call, modifier_group_id: UUID, body: ModifierGroupPatch
) -> list[FieldError]:
    """The faults of a change of a group."""
    return await modifiers.patch_faults(call, modifier_group_id, body)


async def delete_group(call: Call, modifier_group_id: UUID) -> Reply[Deleted]:
    """Delete a modifier group that no product offers."""
    return Reply("Modifier group deleted", await modifiers.delete(call, modifier_group_id))


_READ = Scope("products:read")
_WRITE = Scope("products:write")
_PRODUCTS = "/v1/products"
_PRODUCT = _PRODUCTS + "/{product_id}"
_VARIANTS = _PRODUCT + "/variants"
_VARIANT = "/v1/variants/{variant_id}"
_CATEGORIES = "/v1/categories"
_CATEGORY = _CATEGORIES + "/{category_id}"
_GROUPS = "/v1/modifier-groups"
_GROUP = _GROUPS + "/{modifier_group_id}"

ROUTES: tuple[Route, ...] = (
    Route("GET", _PRODUCTS, list_products, _READ),
    Route(
        "POST",
        _PRODUCTS,
        create_product,
        _WRITE,
        status=201,
        idempotent=True,
        faults=new_product_faults,
    ),
    Route("GET", _PRODUCT, show_product, _READ),
    Route("PATCH", _PRODUCT, change_product, _WRITE, faults=product_faults),
    Route("DELETE", _PRODUCT, delete_product, _WRITE),
    Route(
        "POST",
        _VARIANTS,
        create_variant,
        _WRITE,
        status=201,
        idempotent=True,
        faults=new_variant_faults,
    ),
    Route("PATCH", _VARIANT, change_variant, _WRITE, faults=variant_faults),
    Route("DELETE", _VARIANT, delete_variant, _WRITE),
    Route("GET", _CATEGORIES, list_categories, _READ),
    Route("POST", _CATEGORIES, create_category, _WRITE, status=201, idempotent=True),
    Route("GET", _CATEGORY, show_category, _READ),
    Route("PATCH", _CATEGORY, change_category, _WRITE),
    Route("DELETE", _CATEGORY, delete_category, _WRITE),
    Route("GET", _GROUPS, list_groups, _READ),
    Route(
        "POST", _GROUPS, create_group, _WRITE, status=201, idempotent=True, faults=new_group_faults
    ),
    Route("GET", _GROUP, show_group, _READ),
    Route("PATCH", _GROUP, change_group, _WRITE, faults=group_faults),
    Route("DELETE", _GROUP, delete_group, _WRITE),
)
