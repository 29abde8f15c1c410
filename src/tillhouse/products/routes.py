"""The routes of products, variants, categories and modifier groups."""

from tillhouse.http.route import Route, Scope
from tillhouse.products.actions import categories, modifiers, products, variants

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
    Route("GET", _PRODUCTS, products.list_page, _READ,
          "List products", "Products"),
    Route("POST", _PRODUCTS, products.create, _WRITE,
          "Create a product with its variants, modifiers and components", "Product created",
          status=201, idempotent=True, faults=products.new_faults),
    Route("GET", _PRODUCT, products.show, _READ,
          "Read one product", "Product"),
    Route("PATCH", _PRODUCT, products.change, _WRITE,
          "Update a product", "Product updated",
          faults=products.patch_faults),
    Route("DELETE", _PRODUCT, products.delete, _WRITE,
          "Delete a product", "Product deleted"),
    Route("POST", _VARIANTS, variants.create, _WRITE,
          "Add a variant to a product", "Variant created",
          status=201, idempotent=True, faults=variants.new_faults),
    Route("PATCH", _VARIANT, variants.change, _WRITE,
          "Update a variant and its prices per store", "Variant updated",
          faults=variants.patch_faults),
    Route("DELETE", _VARIANT, variants.delete, _WRITE,
          "Delete a variant", "Variant deleted"),
    Route("GET", _CATEGORIES, categories.list_page, _READ,
          "List categories, in the business's order", "Categories"),
    Route("POST", _CATEGORIES, categories.create, _WRITE,
          "Create a category", "Category created",
          status=201, idempotent=True),
    Route("GET", _CATEGORY, categories.show, _READ,
          "Read one category", "Category"),
    Route("PATCH", _CATEGORY, categories.change, _WRITE,
          "Update a category", "Category updated"),
    Route("DELETE", _CATEGORY, categories.delete, _WRITE,
          "Delete a category that holds no product", "Category deleted"),
    Route("GET", _GROUPS, modifiers.list_page, _READ,
          "List modifier groups, the newest first", "Modifier groups"),
    Route("POST", _GROUPS, modifiers.create, _WRITE,
          "Create a modifier group with its options", "Modifier group created",
          status=201, idempotent=True, faults=modifiers.new_faults),
    Route("GET", _GROUP, modifiers.show, _READ,
          "Read one modifier group", "Modifier group"),
    Route("PATCH", _GROUP, modifiers.change, _WRITE,
          "Update a modifier group; options that aren't in the list go",
          "Modifier group updated",
          faults=modifiers.patch_faults),
    Route("DELETE", _GROUP, modifiers.delete, _WRITE,
          "Delete a modifier group that no product offers", "Modifier group deleted"),
)  # fmt: skip
