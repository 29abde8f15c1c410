"""The declarations of products: the things that are sold."""

from tillhouse.access.scopes import pair
from tillhouse.db.constraints import taken
from tillhouse.http.route import Group
from tillhouse.products.events import EVENTS
from tillhouse.products.routes import ROUTES
from tillhouse.room import Room

_SKU_TAKEN = "The sku is taken: each names one product or variant of this book."

ROOM = Room(
    name="products",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/products",
            "Products",
            "What is sold: products, their variants, bundles.",
            "catalog",
        ),
        Group(
            "/v1/variants",
            "Products",
            "What is sold: products, their variants, bundles.",
            "catalog",
        ),
        Group("/v1/categories", "Categories", "What products are sorted into.", "catalog"),
        Group(
            "/v1/modifier-groups",
            "Modifiers",
            "Choices that go with products, and what they add.",
            "catalog",
        ),
    ),
    events=EVENTS,
    scopes=pair("products", ("products", "Catalog"), "medium", readers=("cashier", "front_desk")),
    kept_tables=(
        "categories",
        "components",
        "modifier_groups",
        "modifier_options",
        "product_modifier_groups",
        "products",
        "variant_prices",
        "variants",
    ),
    refusals=(
        taken(
            "categories_name_key",
            "There is a category of this name already: choose another name.",
        ),
        taken("products_sku_key", _SKU_TAKEN),
        taken("variants_sku_key", _SKU_TAKEN),
    ),
)
