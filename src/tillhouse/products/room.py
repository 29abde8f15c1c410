"""What is sold: what this room brings along."""

from tillhouse.products.events import EVENTS
from tillhouse.products.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="products",
    routes=ROUTES,
    events=EVENTS,
    tables=(
        "categories",
        "components",
        "modifier_groups",
        "modifier_options",
        "product_modifier_groups",
        "products",
        "variant_prices",
        "variants",
    ),
)
