"""The declarations of promotions: discounts for those they are for."""

from tillhouse.access.scopes import pair
from tillhouse.http.route import Group
from tillhouse.promotions.routes import ROUTES
from tillhouse.room import Room

ROOM = Room(
    name="promotions",
    routes=ROUTES,
    groups=(
        Group(
            "/v1/promotions", "Promotions", "How much off, for whom, when, how often.", "catalog"
        ),
    ),
    scopes=pair(
        "promotions", ("promotions", "Catalog"), "medium", readers=("cashier", "front_desk")
    ),
    kept_tables=("promotion_customers", "promotions"),
)
